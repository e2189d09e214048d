/**
 * Holds spec/log-format.md to the code: a reader made from the page alone reads what the engine writes.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FLAG_ORPHAN } from '../../src/log/api.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { type AsrRecord, memoryLocation, openStore, type StoredRecord, type Stream } from '../../src/main.js'
import type { StoredStream } from '../../src/stream/stream.js'
import { json } from '../property/arbitraries.js'
import { same } from '../property/json.js'
import { RUNS, settings } from '../property/settings.js'
import { collect, linesOf } from '../support/collect.js'
import { header, jsonl } from '../support/records.js'
import { bytesOfSegment, emptyLog, headerEntry, inNewSegment, recordEntry } from './handmade.js'
import { type ReadLog, readLog } from './independent-reader.js'

const FILE = '2a97516c354b68848cdbd8f54a226a0a-0011223344556677-000000.log'
const page = readFileSync(join(process.cwd(), 'spec', 'log-format.md'), 'utf8')

/** The bytes of the blocks marked `hex`; what stands behind `#` is a remark. */
function exampleBytes(): Uint8Array {
  const digits = [...page.matchAll(/```hex\n([\s\S]*?)```/g)]
    .flatMap(([, block]) => block.split('\n'))
    .flatMap((line) => line.replace(/#.*/, '').match(/[0-9a-f]{2}/g) ?? [])
  return Uint8Array.from(digits, (pair) => Number.parseInt(pair, 16))
}

const EXAMPLE = [
  { type: 'message', role: 'user', text: 'Hi', seq: 1, id: 'r1' },
  { type: 'message', role: 'user', text: 'Go', seq: 2, id: 'r2' },
  { type: 'state', parentId: 'x', n: -0, seq: 3, id: 'r3' },
]

test('the example of the page reads as the page says', () => {
  const bytes = exampleBytes()
  const read = readLog([{ name: FILE, bytes }])
  assert.is(read.sessionId, 'demo')
  assert.equal(read.header?.value, { type: 'header', asr: '1', sessionId: 'demo' })
  assert.equal(
    read.records.map(({ value }) => value),
    EXAMPLE,
  )
  assert.ok(Object.is(read.records[2].value.n, -0))
  assert.equal(
    read.records.map(({ parent, end, orphan, gap }) => [parent, end, orphan, gap]),
    [
      [0, true, false, false],
      [1, false, false, false],
      [0, true, true, false],
    ],
  )
  assert.equal(read.shapes, [['type', 'role', 'text', 'seq', 'id']])
  assert.equal([read.damage, read.tornBytes, read.dictionaries], [[], 0, 1])
  assert.ok(page.includes(`: \`${read.digest}\`.`), 'the digest')
  assert.ok(page.includes(`${bytes.length} bytes`), 'the size of the file')
  const places = [...page.matchAll(/^### Byte (\d+):/gm)].map(([, at]) => Number(at))
  const sizes = [...page.matchAll(/# body of (\d+) bytes/g)].map(([, size]) => 52 + Number(size))
  assert.equal(
    places,
    sizes.map((_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, 0)),
  )
})

test('the engine writes the example byte for byte', async () => {
  const storage = new MemoryStorage()
  const log = await emptyLog('demo', storage)
  await log.append([[headerEntry('demo')]])
  await log.append([[recordEntry(EXAMPLE[0], 1)]])
  await log.append([[recordEntry(EXAMPLE[1], 2), recordEntry(EXAMPLE[2], 3, { parent: 0, flags: FLAG_ORPHAN })]])
  assert.equal(
    log.segments.map(({ file }) => file),
    [`streams/${FILE}`],
  )
  assert.equal(bytesOfSegment(storage, log.segments[0]), exampleBytes())
})

function independently(log: MemoryStorage): ReadLog {
  return readLog(log.list('streams').map(({ name, size }) => ({ name, bytes: log.read(name, 0, size) })))
}

/** The engine and the reader of the page must say the same of a stream. */
async function compare(stream: Stream, log: MemoryStorage): Promise<ReadLog> {
  const read = independently(log)
  assert.equal([read.damage, read.tornBytes, read.sessionId], [[], 0, stream.sessionId])
  assert.is(read.digest, await stream.digest())
  const records = await collect(stream.records())
  assert.equal(
    read.records.map(({ pos }) => pos),
    records.map((_, i) => i + 1),
  )
  records.forEach((record, i) => {
    assert.ok(same(read.records[i].value, record as StoredRecord), `position ${i + 1}`)
  })
  for (const { value, hash } of read.records.slice(0, 50)) assert.is(hash, await stream.hash(value.id as string))
  assert.equal([read.header?.line, ...read.records.map(({ line }) => line)], await linesOf(stream.exportJsonl()))
  return read
}

async function withStream(check: (stream: StoredStream, log: MemoryStorage) => Promise<void>): Promise<void> {
  const location = memoryLocation()
  const store = await openStore(location)
  await check((await store.createStream(header())) as StoredStream, location.log)
  await store.close()
}

test('random records, by append and header revisions, read the same', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.array(json(3), { minLength: 1, maxLength: 4 }), { maxLength: 5 }), (appends) =>
      withStream(async (stream, log) => {
        for (const values of appends) {
          await stream.append(values.map((value) => ({ type: 'com.example/any', value })))
          await stream.reviseHeader({ last: values[0] ?? null })
        }
        await compare(stream, log)
      }),
    ),
    settings(Math.ceil(RUNS / 4)),
  ))

test('lines that JSON does not give back are text, and read the same', async () => {
  const location = memoryLocation()
  const store = await openStore(location)
  const lines = [
    '{"type":"x","id":"a","n":1.0}',
    '{"type":"x", "id":"b"}',
    '{"type":"x","id":"c","2":1,"1":2,"n":-0}',
    '{"type":"x","id":"d","s":"\\u00e9\\ud83d"}',
    '{"type":"x","n":1e2}',
    `{"type":"x","id":"f","s":"${'long '.repeat(2_000)}", "n":1}`,
  ]
  await store.importJsonl([jsonl(header(), ...lines)])
  const read = await compare(await store.stream('s'), location.log)
  assert.equal([read.texts, read.deflated], [6, 1])
  assert.is(read.records[4].line, '{"type":"x","n":1e2,"seq":5,"id":"r5"}')
})

test('bodies of 4 KB and more are deflated where that helps, and only there', () =>
  withStream(async (stream, log) => {
    const noise = Array.from({ length: 5_000 }, (_, i) => Math.sin(i) * 1e9)
    await stream.append([
      { type: 'x', text: 'a'.repeat(4_000) },
      { type: 'x', text: 'a'.repeat(5_000) },
      { type: 'x', text: '\ud83d\ude00'.repeat(100_000) },
      { type: 'x', noise },
      { type: 'x', text: `\ud83d${'b'.repeat(10_000)}` },
    ])
    const read = await compare(stream, log)
    assert.equal([read.deflated, read.texts], [4, 1])
  }))

for (const count of [33, 64, 97, 300, 1_000]) {
  test(`a log of ${count} shapes reads the same`, () =>
    withStream(async (stream, log) => {
      for (let round = 0; round < 3; round++) {
        const records: AsrRecord[] = []
        for (let n = 0; n < count; n++)
          records.push({ type: 'x', [`key${n}`]: n, inner: { [`in${n % 7}`]: [n, n + 1] } })
        await stream.append(records.slice(0, count / 2))
        await stream.append(records.slice(count / 2))
      }
      const read = await compare(stream, log)
      assert.is(read.shapes.length, Math.min(count + 7, 896))
    }))
}

test('a log of several segments reads the same, and each begins with all shapes known by then', () =>
  withStream(async (stream, log) => {
    const records = (from: number): AsrRecord[] =>
      Array.from({ length: 40 }, (_, n) => ({ type: 'x', [`key${(from + n) % 50}`]: n }))
    await stream.append(records(0))
    await stream.append(records(20))
    await inNewSegment(stream.core.log, () => stream.append(records(40)))
    await stream.append(records(10))
    await inNewSegment(stream.core.log, () => stream.append(records(5)))
    const read = await compare(stream, log)
    assert.is(log.list('streams').length, 3)
    assert.is(read.records.length, 200)
    const last = log.list('streams').find(({ name }) => name.endsWith('-000002.log'))!
    const alone = readLog([{ name: last.name, bytes: log.read(last.name, 0, last.size) }])
    assert.equal(
      alone.records.map(({ value }) => value),
      read.records.slice(160).map(({ value }) => value),
    )
    assert.equal(alone.damage, [{ firstPos: 1, lastPos: 160 }])
  }))

test('a log that was opened again and again reads the same', async () => {
  const location = memoryLocation()
  await (await openStore(location)).createStream(header())
  for (let n = 0; n < 30; n++) {
    const store = await openStore(location)
    const stream = await store.stream('s')
    const fields = { [`key${n % 8}`]: n, inner: { [`in${n % 5}`]: 1 } }
    await stream.append([
      { type: 'x', ...fields },
      { type: 'x', ...fields },
    ])
    await store.close()
  }
  const store = await openStore(location)
  const read = await compare(await store.stream('s'), location.log)
  assert.ok(read.dictionaries > 1)
})

test.run()
