/**
 * A stream that is deleted while somebody reads it: the reading is answered, or says that the stream is gone. It is never called
 * damaged, and never spoils what is said of the others.
 */
import { join } from 'node:path'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { isAsrError, openStore, type Store, type Stream } from '../../src/main.js'
import { bytesOf, collect } from '../support/collect.js'
import { header, jsonl, message } from '../support/records.js'
import { SteppingLog } from '../support/stepping-log.js'
import { tempFolder } from '../support/temp.js'

const RECORDS = Array.from({ length: 700 }, (_, i) =>
  i % 3 === 0 ? { type: 'tool_call', id: `m${i}`, callId: `c${i}` } : message(`m${i}`, { filler: 'x'.repeat(300) }),
)
/** of one call; later reads are like those before */
const READS_MAX = 12
const FILE = jsonl(header('s'), ...RECORDS)

const OF_ONE: Record<string, (stream: Stream, store: Store) => Promise<unknown>> = {
  get: (stream) => stream.get('m650'),
  hash: (stream) => stream.hash('m3'),
  header: (stream) => stream.header(),
  digest: (stream) => stream.digest(),
  entity: (stream) => stream.entity('tool_call', 'c600', { anywhere: true }),
  leaves: (stream) => stream.leaves(),
  records: (stream) => collect(stream.records()),
  backwards: (stream) => collect(stream.records({ reverse: true })),
  path: async (stream) => collect((await stream.activePath()).records()),
  resolved: async (stream) => collect((await stream.activePath()).resolved()),
  view: async (stream) => collect((await stream.contextView()).entries()),
  export: (stream) => bytesOf(stream.exportJsonl()),
  salvage: (stream) => bytesOf(stream.exportJsonl({ salvage: true })),
  open: (_, store) => store.stream('s'),
  verify: (_, store) => store.verify({ sessionId: 's' }),
}

const OF_ALL: Record<string, (store: Store) => Promise<unknown>> = {
  list: async (store) => (await collect(store.streams())).map(({ sessionId }) => sessionId),
  verifyAll: async (store) => (await store.verify()).streams.map(({ sessionId, ok }) => (ok ? sessionId : 'damage')),
}

/** Two streams, of which `s` has its records in two segments; each time the same bytes. */
let made: Promise<MemoryStorage> | undefined

async function make(): Promise<MemoryStorage> {
  const log = new MemoryStorage()
  const store = await openStore({ log, index: new MemoryLevel() })
  await (await store.createStream(header('other'))).append(message('m'))
  await store.importJsonl([jsonl(header('s'), ...RECORDS.slice(0, 20))])
  await store.importJsonl([FILE])
  await store.close()
  return log
}

async function place() {
  made ??= make()
  const [template, copy] = [await made, new MemoryStorage()]
  for (const folder of ['', 'streams'])
    for (const { name, size } of template.list(folder)) copy.append(name, template.read(name, 0, size))
  const log = new SteppingLog(copy)
  const index = new MemoryLevel()
  return { log, index, store: await openStore({ log, index }) }
}

type Outcome = { code: string } | { value: unknown }

function outcomeOf(call: Promise<unknown>): Promise<Outcome> {
  return call.then(
    (value) => ({ value }),
    (error: unknown) => ({ code: isAsrError(error) ? error.code : String(error) }),
  )
}

function isRight(name: string, outcome: Outcome, codes: RegExp): void {
  if ('code' in outcome) assert.match(outcome.code, codes, name)
  if ('value' in outcome && name === 'salvage') {
    assert.ok((outcome.value as Uint8Array).length >= FILE.length, 'what is salvaged is whole')
  }
  if ('code' in outcome || !(name in OF_ALL)) return
  const told = outcome.value as string[]
  assert.ok(told.includes('other') && !told.includes('damage'), `${name}: ${told}`)
}

/** Runs a call; at its n-th read the stream is deleted. Whether it read so often. */
async function deletedAt(n: number, name: string, call: (stream: Stream, store: Store) => Promise<unknown>) {
  const { log, store } = await place()
  const stream = await store.stream('s')
  let reads = 0
  let deleting: Promise<void> | undefined
  log.onStep = async (method) => {
    if (method !== 'read' || ++reads !== n) return
    deleting = store.deleteStream('s')
    await new Promise((resolve) => setTimeout(resolve)) // as far as it gets while this call waits
  }
  const outcome = await outcomeOf(call(stream, store))
  log.onStep = undefined
  await deleting
  isRight(name, outcome, name in OF_ALL ? /^none$/ : /^ASR_(CLOSED|STREAM_NOT_FOUND)$/)
  await store.close()
  return deleting !== undefined
}

test('a stream that is deleted in the same process at any read of a call', async () => {
  let cases = 0
  const calls: typeof OF_ONE = { ...OF_ONE, append: (stream) => stream.append(RECORDS[650]) }
  for (const [name, call] of Object.entries(OF_ALL)) calls[name] = (_, store) => call(store)
  for (const [name, call] of Object.entries(calls))
    for (let n = 1; n < READS_MAX && (await deletedAt(n, name, call)); n++) cases++
  assert.ok(cases > 40, `${cases} cases`)
  console.log(`figure: ${cases} reads at which the stream was deleted`)
})

test('an index that is built again while one of the streams is deleted', async () => {
  let n = 1
  while (await deletedAt(n, 'verifyAll', async (_, store) => store.rebuildIndex().then(() => OF_ALL.verifyAll(store))))
    n++
  assert.ok(n > 2)
})

test('an import that goes on with a stream which is deleted makes it anew, or says that it was deleted', async () => {
  const again = async (_: Stream, store: Store) => {
    const { records } = await store.importJsonl([FILE])
    assert.is((await store.stream('s')).length, records)
  }
  let n = 1
  while (n < READS_MAX && (await deletedAt(n, 'import', again))) n++
  assert.ok(n > 2)
})

test('a stream that another process deletes, looked at before each change that this makes', async () => {
  for (const [name, call] of Object.entries(OF_ONE)) {
    for (let n = 1, isOver = false; !isOver; n++) {
      const { log, index, store } = await place()
      await store.rebuildIndex() // the index witnesses where the log ended
      const reader = await openStore({ log, index }, { readOnly: true })
      const stream = await reader.stream('s')
      let changes = 0
      log.onStep = async (method) => {
        if (!['rename', 'remove', 'append'].includes(method) || ++changes !== n) return
        log.onStep = undefined
        isRight(name, await outcomeOf(call(stream, reader)), /^ASR_STREAM_NOT_FOUND$/)
        const fresh = await openStore({ log, index }, { readOnly: true })
        for (const [all, work] of Object.entries(OF_ALL)) isRight(all, await outcomeOf(work(fresh)), /^none$/)
        await fresh.close()
      }
      await store.deleteStream('s')
      isOver = changes < n
      await reader.close()
      await store.close()
    }
  }
})

test('what the index of a reader still knows, or knows of an import under way, is not lost', async () => {
  const folder = join(tempFolder(), 'store')
  const writer = await openStore(folder)
  await (await writer.createStream(header('other'))).append(message('m'))
  await writer.importJsonl([FILE])
  await writer.close()
  const again = await openStore(folder)
  const before = await openStore(folder, { readOnly: true })
  await again.deleteStream('s')
  assert.equal(await OF_ALL.verifyAll(before), ['other'])
  await before.close()
  const lines = [header('s'), ...Array.from({ length: 4_000 }, (_, i) => message(`m${i}`))]
  const looks: unknown[] = []
  async function* chunks() {
    for (let at = 0; at < lines.length; at += 500) yield jsonl(...lines.slice(at, at + 500))
    looks.push(await OF_ALL.verifyAll(again))
    const reader = await openStore(folder, { readOnly: true })
    looks.push(await OF_ALL.verifyAll(reader))
    await reader.close()
  }
  await again.importJsonl(chunks())
  assert.equal(looks, [['other'], ['other']])
  await again.close()
})

test.run()
