/** CORE-16, CORE-21, CORE-26: on recorded sessions the engine answers as the model does, at every record. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { memoryLocation, openStore } from '../../src/main.js'
import type { Store } from '../../src/store/api.js'
import type { Stream } from '../../src/stream/api.js'
import { isFault } from '../property/model.js'
import { importFile, type ModelImport } from '../property/model-import.js'
import { bytesOf, collect, compareAt, compareEntity, compareRecord, compareState, nameOf } from '../property/subject.js'
import { sessions } from '../support/corpora.js'

/** Every so many records all of an answer is compared, not its ids alone. */
const SAMPLE = 150

function modelOf(bytes: Uint8Array): ModelImport {
  const outcome = importFile(bytes)
  if (isFault(outcome)) throw new Error(outcome.code)
  return outcome
}

/** Which records are on the path and in the view, at every record; all of the answers at some. */
async function compareEverywhere(stream: Stream, { stream: model }: ModelImport, every = 1): Promise<void> {
  await compareState(stream, model)
  await compareAt(stream, model, { head: 'primary' })
  for (const row of model.rows) {
    if (row.pos % every !== 0) continue
    const at = { at: row.id }
    const expected = model.path(at)
    if (expected === undefined) continue
    const ids = (await collect((await stream.activePath(at)).records())).map((record) => record.id)
    assert.ok(
      equal(
        ids,
        expected.map((other) => other.id),
      ),
      `path at ${row.id}`,
    )
    const view = await stream.contextView(at)
    const wanted = model.view(expected)
    const entries = (await collect(view.entries())).map((entry) => entry.id)
    assert.ok(
      equal(
        entries,
        wanted.entries.map((other) => other.id),
      ),
      `view at ${row.id}`,
    )
    assert.equal(
      [view.compaction?.id, view.openCalls, view.danglingResults, view.cut, view.gaps, view.length],
      [wanted.compaction?.id, wanted.openCalls, wanted.danglingResults, wanted.cut, wanted.gaps, entries.length],
      `view at ${row.id}`,
    )
  }
  for (const row of model.rows.filter((other) => other.pos % SAMPLE === 0)) {
    await compareAt(stream, model, { at: row.id })
    await compareRecord(stream, model, row)
    await compareEntity(stream, model, ...nameOf(row), 'anywhere')
    await compareEntity(stream, model, ...nameOf(row), { at: row.id })
  }
}

const equal = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((id, i) => id === b[i])

async function expectSound(store: Store, stream: Stream, bytes: Uint8Array): Promise<void> {
  assert.ok(Buffer.compare(await bytesOf(stream.exportJsonl()), bytes) === 0, 'exported bytes')
  const { ok, streams } = await store.verify()
  assert.ok(ok, 'verify')
  assert.equal(
    streams.map((found) => found.problems.filter(({ severity }) => severity === 'damage')),
    [[]],
  )
}

for (const corpus of sessions) {
  const { name: session, title } = corpus

  corpus.test(`${title}: an import answers as the model at every record, and exports the same bytes`, async () => {
    const bytes = new Uint8Array(corpus.bytes())
    const expected = modelOf(bytes)
    const store = await openStore(memoryLocation())
    const report = await store.importJsonl([bytes])
    assert.equal(
      report.diagnostics.map(({ code, line }) => `${line} ${code}`).toSorted(),
      expected.diagnostics.map(({ code, line }) => `${line} ${code}`).toSorted(),
    )
    const stream = await store.stream(session)
    await compareEverywhere(stream, expected)
    await expectSound(store, stream, bytes)
    const again = await store.importJsonl([bytes])
    assert.equal([again.appended, again.duplicates, again.records], [0, stream.length, expected.stream.rows.length])
    assert.is(await stream.digest(), expected.stream.digest())
    await store.close()
  })

  corpus.test(
    `${title}: reopened, with its index rebuilt or deleted, a store on disk gives the same answers`,
    async () => {
      const bytes = new Uint8Array(corpus.bytes())
      const expected = modelOf(bytes)
      const folder = await mkdtemp(path.join(tmpdir(), 'asr-corpus-'))
      try {
        const steps: ((store: Store) => Promise<unknown>)[] = [
          (store) => store.importJsonl([bytes]),
          async () => {},
          (store) => store.rebuildIndex(),
          async () => {},
        ]
        for (const [i, step] of steps.entries()) {
          if (i === steps.length - 1) await rm(path.join(folder, 'index'), { recursive: true })
          const store = await openStore(folder)
          await step(store)
          const stream = await store.stream(session)
          await compareEverywhere(stream, expected, 37)
          await expectSound(store, stream, bytes)
          await store.close()
        }
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
  )
}

test.run()
