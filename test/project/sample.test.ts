/** The sample session shows one of each: this holds what the demo promises to show. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore, type Stream } from '../../src/main.js'
import { projectRoot } from './load-script.js'

const sample = readFileSync(join(projectRoot, 'sample/session.asr.jsonl'))

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

async function withSample(use: (stream: Stream) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sample-'))
  const store = await openStore(join(folder, 'store'))
  try {
    const { sessionId, diagnostics } = await store.importJsonl([sample])
    assert.equal(diagnostics, [])
    await use(await store.stream(sessionId))
  } finally {
    await store.close()
    rmSync(folder, { recursive: true })
  }
}

test('the sample has two branches, and the one left behind has a name', async () => {
  await withSample(async (stream) => {
    const leaves = (await stream.leaves()).map(({ recordId, heads }) => [recordId, ...heads])
    assert.equal(leaves, [
      ['a3', 'table'],
      ['q1', 'primary'],
    ])
  })
})

test('the context view of the sample has its compaction, its revision, no buried message, and one open call', async () => {
  await withSample(async (stream) => {
    const view = await stream.contextView()
    const ids = (await collect(view.entries())).map(({ id }) => id)
    assert.equal(ids, ['k1', 'c4', 'o4', 'a4', 'u5', 'a6', 'c5', 'o5', 'c6'])
    assert.equal(view.openCalls, ['call-6'])
    assert.is(view.compaction?.id, 'k1')
    const [revised] = await stream.entity('message', 'm10')
    assert.is(revised.inForce?.id, 'a6')
    const [buried] = await stream.entity('message', 'm8')
    assert.is(buried.inForce, null)
  })
})

test('the sample comes out of the store byte for byte', async () => {
  await withSample(async (stream) => {
    assert.is(Buffer.concat(await collect(stream.exportJsonl())).compare(sample), 0)
  })
})

test('the demo runs to its end and names each command before its output', () => {
  const demo = spawnSync(process.execPath, [join(projectRoot, 'scripts/demo.mjs')], { encoding: 'utf8' })
  assert.is(demo.status, 0, demo.stderr)
  for (const command of ['import', 'heads', 'path', 'context']) assert.match(demo.stdout, `$ asr ${command} sample/`)
  assert.match(demo.stdout, /\bk1\s+compaction\b/)
})

test.run()
