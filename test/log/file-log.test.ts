import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hashPair } from '../../src/base/hash.js'
import { FileLog } from '../../src/log/files/file-log.js'
import { SEGMENT_BYTES } from '../../src/log/files/segment.js'
import { FLAG_END, KIND } from '../../src/log/format/frame.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { FaultyStorage } from '../fault/faulty-storage.js'
import { fails } from '../support/fails.js'
import {
  brief,
  bytesOfSegment,
  emptyLog,
  FOLDER,
  flipped,
  found,
  framesOf,
  headerEntry,
  inNewSegment,
  logOf,
  recordEntry,
  replace,
  scanAll,
} from './handmade.js'

const shaped = (n: number, k = n) => ({ type: 'x', [`key${k}`]: n })

async function scanned(storage: MemoryStorage): Promise<FileLog> {
  const log = await found(storage)
  log.end = (await scanAll(log)).end.point
  return log
}

async function valuesOf(log: FileLog): Promise<unknown[]> {
  const { items } = await scanAll(log)
  return items.flatMap(({ entry }) => (entry?.kind === KIND.record ? [log.decode(entry as never)] : []))
}

test('CORE-9: an append gives the place of each entry, and the chain goes over records only', async () => {
  const storage = new MemoryStorage()
  const log = await emptyLog('s', storage)
  const entries = [
    recordEntry(shaped(1), 1),
    recordEntry(shaped(2, 1), 2),
    headerEntry('s', 2, { x: 1 }),
    recordEntry(shaped(3), 3),
  ]
  const [first] = await log.append([[headerEntry('s')]])
  const locations = await log.append([entries])
  const frames = framesOf(bytesOfSegment(storage, log.segments[0]))
  const kept = frames.filter(({ kind }) => kind === KIND.record || kind === KIND.header)
  assert.equal(
    [first, ...locations],
    kept.map(({ at }) => at),
  )
  let chain = 0n
  for (const { pos, hash } of entries.filter(({ kind }) => kind === KIND.record)) {
    chain = hashPair(chain, hash)
    assert.is(frames.find((frame) => frame.kind === KIND.record && frame.pos === pos)?.chain, chain)
  }
  const { at: last, check } = frames.at(-1)!
  assert.equal(log.end, { location: log.bytes, last, pos: 3, chain, check })
  for (const [i, { value, pos, parent, hash }] of entries.entries()) {
    const frame = await log.entry(locations[i], pos)
    assert.equal([frame.pos, frame.parent, frame.hash], [pos, parent, hash])
    assert.equal(log.decode(frame), value)
    assert.is(log.line(frame), JSON.stringify(value))
  }
})

test('appends that share a write end one by one', async () => {
  const { storage, log } = await logOf()
  await log.append([[recordEntry(shaped(1), 1), recordEntry(shaped(2), 2)], [recordEntry(shaped(3), 3)]])
  const frames = framesOf(bytesOfSegment(storage, log.segments[0])).filter(({ kind }) => kind === KIND.record)
  assert.equal(
    frames.map(({ pos, flags }) => [pos, (flags & FLAG_END) !== 0]),
    [
      [1, false],
      [2, true],
      [3, true],
    ],
  )
})

test('CORE-10: reading at a place where another record stands, or damaged bytes, is ASR_CORRUPT', async () => {
  const { storage, log } = await logOf([shaped(1)], [shaped(2)])
  const [first, second] = framesOf(bytesOfSegment(storage, log.segments[0])).filter(({ kind }) => kind === KIND.record)
  const error = await fails('ASR_CORRUPT', () => log.entry(first.at, 2))
  assert.equal([error.sessionId, error.pos], ['s', 2])
  replace(storage, log.segments[0].file, flipped(bytesOfSegment(storage, log.segments[0]), second.at + second.size - 1))
  await fails('ASR_CORRUPT', () => log.entry(second.at, 2))
  await fails('ASR_CORRUPT', () => log.entry(second.at + 1))
  assert.is((await log.entry(first.at, 1)).pos, 1)
})

test('CORE-10: a body that the dictionary can not explain is ASR_CORRUPT', async () => {
  const { log } = await logOf([shaped(1)], [shaped(2, 1)])
  const frame = await log.entry(log.end.location - framesSize(log), 2)
  assert.ok(frame.shapes > 0)
  const poor = await emptyLog()
  for (const read of [() => poor.decode(frame), () => poor.line(frame)]) {
    const error = await fails('ASR_CORRUPT', read)
    assert.is(error.pos, 2)
  }
})

/** Size of the last frame of these small logs. */
function framesSize(log: FileLog): number {
  const { storage } = log as unknown as { storage: MemoryStorage }
  return framesOf(bytesOfSegment(storage, log.segments[0])).at(-1)!.size
}

test('each news of shapes is a frame before the first record that needs it', async () => {
  const appends = Array.from({ length: 12 }, (_, n) => [shaped(n, n >> 1)])
  const { storage } = await logOf(...appends)
  const parts = framesOf(bytesOfSegment(storage, (await found(storage)).segments[0]))
    .filter(({ kind }) => kind === KIND.dictionary)
    .map(({ body }) => JSON.parse(new TextDecoder().decode(body)))
  assert.equal(
    parts.map(({ from, shapes }) => [from, from + shapes.length]),
    [
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 4],
      [3, 5],
      [4, 6],
    ],
  )
  assert.equal(await valuesOf(await found(storage)), appends.flat())
})

test('the whole dictionary is written again after each megabyte', async () => {
  const noise = (n: number) => ({ type: 'x', n, noise: Array.from({ length: 20_000 }, (_, i) => Math.sin(i * n + i)) })
  const appends = Array.from({ length: 30 }, (_, n) => [noise(n + 1)])
  const { storage, log } = await logOf([shaped(1)], [shaped(1)], ...appends)
  assert.ok(log.bytes > 4 * 1024 * 1024)
  const wholes = framesOf(bytesOfSegment(storage, log.segments[0])).filter(
    ({ kind, at, body }) =>
      kind === KIND.dictionary && at > 5_000 && JSON.parse(new TextDecoder().decode(body)).from === 0,
  )
  assert.ok(wholes.length >= log.bytes / 1_500_000, `${wholes.length} in ${log.bytes} bytes`)
  const apart = wholes.slice(1).map(({ at }, i) => at - wholes[i].at)
  assert.ok(
    apart.every((bytes) => bytes > 1024 * 1024 && bytes < 1.5 * 1024 * 1024),
    `${apart}`,
  )
})

for (const [name, fault, cause] of [
  ['fails', { method: 'append' }, 'ASR_IO'],
  ['is cut short by a full disk', { method: 'append', code: 'ENOSPC', written: 40 }, 'ASR_NO_SPACE'],
] as const) {
  test(`a write that ${name} is in doubt, and the log takes nothing more`, async () => {
    const storage = new FaultyStorage(new MemoryStorage())
    const log = await emptyLog('s', storage)
    await log.append([[headerEntry('s')]])
    storage.fail(fault)
    const error = await fails('ASR_IN_DOUBT', () => log.append([[recordEntry(shaped(1), 1)]]))
    assert.is((error.cause as { code?: string }).code, cause)
    assert.is(log.isPoisoned, true)
    const writes = storage.calls('append')
    await fails('ASR_POISONED', () => log.append([[recordEntry(shaped(1), 1)]]))
    await fails('ASR_POISONED', () => log.sync())
    assert.is(storage.calls('append'), writes)
    const again = await scanned(storage.inner as MemoryStorage)
    assert.equal([again.end.pos, brief((await scanAll(again)).items)], [0, ['h']])
  })
}

test('a sync that fails is in doubt, and the log takes nothing more', async () => {
  const storage = new FaultyStorage(new MemoryStorage())
  const log = await emptyLog('s', storage)
  await log.append([[headerEntry('s')]])
  storage.fail({ method: 'sync' })
  await fails('ASR_IN_DOUBT', () => log.sync())
  await fails('ASR_POISONED', () => log.append([[recordEntry(shaped(1), 1)]]))
})

test('what is appended while a sync is under way is left for the next, and that one waits for it', async () => {
  const storage = new MemoryStorage()
  let synced = 0
  const held: (() => void)[] = []
  storage.sync = async (name) => {
    const size = storage.size(name) ?? 0
    await new Promise<void>((resolve) => held.push(resolve))
    synced = size
  }
  const log = await emptyLog('s', storage)
  await log.append([[headerEntry('s')]])
  const first = log.sync()
  for (let n = 0; n < 20; n++) await undefined
  await log.append([[recordEntry(shaped(1), 1)]])
  let isDone = false
  const second = log.sync().then(() => {
    isDone = true
  })
  for (let n = 0; n < 20; n++) await undefined
  assert.equal([held.length, isDone], [1, false])
  held[0]()
  await first
  for (let n = 0; n < 20; n++) await undefined
  assert.equal([held.length, isDone], [2, false])
  held[1]()
  await second
  assert.is(synced, storage.size(log.segments[0].file))
})

test('bytes of somebody else at the end are found out before the append is promised', async () => {
  const { storage, log } = await logOf([shaped(1)])
  storage.append(log.segments[0].file, Uint8Array.of(1))
  await fails('ASR_FENCED', () => log.append([[recordEntry(shaped(2), 2)]]))
  await fails('ASR_POISONED', () => log.append([[recordEntry(shaped(2), 2)]]))
})

test('an append that is refused half way writes nothing, and what it said of shapes is said again', async () => {
  const { storage, log } = await logOf([shaped(1)])
  const { bytes, end } = log
  const bad = recordEntry(shaped(3), 3, {
    value: {
      get type() {
        throw new Error('no')
      },
    },
  })
  for (let tries = 0; tries < 3; tries++) {
    const entries = [recordEntry(shaped(2, 1), 2), recordEntry(shaped(2, 7), 3), recordEntry(shaped(2, 7), 4), bad]
    assert.throws(
      () => log.append([entries]),
      (error: Error) => error.message === 'no',
    )
  }
  assert.equal([log.bytes, log.end, log.isPoisoned], [bytes, end, false])
  await log.append([[recordEntry(shaped(2, 1), 2)]])
  await log.append([[recordEntry(shaped(3, 7), 3), recordEntry(shaped(4, 1), 4)]])
  assert.equal(await valuesOf(await found(storage)), [shaped(1), shaped(2, 1), shaped(3, 7), shaped(4, 1)])
})

test('a log that is opened again goes on with its shapes', async () => {
  const { storage } = await logOf([shaped(1)], [shaped(2, 1)])
  for (let n = 3; n < 10; n++) {
    const log = await scanned(storage)
    await log.append([[recordEntry(shaped(n, n >> 1), n)]])
  }
  const expected = [shaped(1), shaped(2, 1), ...Array.from({ length: 7 }, (_, i) => shaped(i + 3, (i + 3) >> 1))]
  assert.equal(await valuesOf(await found(storage)), expected)
})

/** Takes any number of bytes and keeps none. */
class CountingStorage extends MemoryStorage {
  readonly sizes = new Map<string, number>()

  override append(name: string, bytes: Uint8Array): number {
    const size = (this.sizes.get(name) ?? 0) + bytes.length
    this.sizes.set(name, size)
    return size
  }
}

test('a segment is left when it has reached its size, and not before', async () => {
  const storage = new CountingStorage()
  const log = await emptyLog('s', storage)
  await log.append([[headerEntry('s')], [recordEntry(shaped(1), 1)], [recordEntry(shaped(2, 1), 2)]])
  const [first] = log.segments
  for (const [size, segments] of [
    [SEGMENT_BYTES - 1, 1],
    [SEGMENT_BYTES + 5, 2],
  ] as const) {
    first.size = size
    storage.sizes.set(first.file, size)
    await log.append([[recordEntry(shaped(3), log.end.pos + 1)]])
    assert.is(log.segments.length, segments)
  }
  assert.is(log.segments[1].file, first.file.replace('-000000.log', '-000001.log'))
  assert.is(first.size, SEGMENT_BYTES + 5)
})

test('a new segment begins with its own frame and all shapes, and links to the one before', async () => {
  const { storage, log } = await logOf([shaped(1)], [shaped(2, 1)])
  const { end } = log
  await inNewSegment(log, () => log.append([[recordEntry(shaped(3, 1), 3)]]))
  const frames = framesOf(bytesOfSegment(storage, log.segments[1]))
  assert.equal(
    frames.map(({ kind }) => kind),
    [KIND.segment, KIND.dictionary, KIND.record],
  )
  assert.equal(JSON.parse(new TextDecoder().decode(frames[0].body)), {
    format: 1,
    sessionId: 's',
    incarnation: log.identity.incarnation,
    segment: 1,
  })
  assert.equal([frames[0].pos, frames[0].chain, frames[0].previous], [2, end.chain, end.check])
  assert.equal(JSON.parse(new TextDecoder().decode(frames[1].body)).from, 0)
})

test('an empty last segment is begun anew', async () => {
  const { storage, log } = await logOf([shaped(1)])
  const file = log.segments[0].file.replace('-000000.log', '-000001.log')
  storage.append(file, new Uint8Array(0))
  const again = await scanned(storage)
  await again.append([[recordEntry(shaped(2), 2)]])
  assert.is(framesOf(bytesOfSegment(storage, again.segments[1]))[0].kind, KIND.segment)
  assert.equal(await valuesOf(await found(storage)), [shaped(1), shaped(2)])
})

test('a reader sees that the log has grown, also by a new segment, and takes it in', async () => {
  const { storage, log } = await logOf([shaped(1)])
  const reader = await scanned(storage)
  assert.is(await reader.hasGrown(), false)
  await log.append([[recordEntry(shaped(2), 2)]])
  assert.is(await reader.hasGrown(), true)
  await inNewSegment(log, () => log.append([[recordEntry(shaped(3), 3)]]))
  assert.is(await reader.hasGrown(), true)
  assert.equal(brief((await scanAll(reader, reader.end)).items), ['2', '3'])
})

test('CORE-10: a reader of a log that became shorter, or is gone, gets an error and no end', async () => {
  const { storage, log } = await logOf([shaped(1)])
  const reader = await scanned(storage)
  storage.truncate(log.segments[0].file, log.bytes - 1)
  await fails('ASR_LOST_TAIL', () => reader.hasGrown())
  storage.remove(log.segments[0].file)
  await fails('ASR_CORRUPT', () => reader.hasGrown())
  const { identity, sessionId, segments } = reader
  const other = new FileLog(storage, FOLDER, identity, sessionId, segments, { isOfAnother: true }) // who may have deleted it
  await fails('ASR_STREAM_NOT_FOUND', () => other.hasGrown())
})

test('CORE-10: a record whose file is gone is named by its position', async () => {
  const { storage, log } = await logOf([shaped(1)], [shaped(2)])
  const { last } = log.end
  storage.remove(log.segments[0].file)
  const error = await fails('ASR_CORRUPT', async () => log.entry(last, 2))
  assert.is(error.pos, 2)
})

test('a log is read where it was moved to, and is gone after its removal', async () => {
  const { storage, log } = await logOf([shaped(1)])
  await inNewSegment(log, () => log.append([[recordEntry(shaped(2), 2)]]))
  const { location } = log.end
  await log.moveTo('trash')
  assert.equal(storage.list('streams'), [])
  assert.is(storage.list('trash').length, 2)
  await log.append([[recordEntry(shaped(3), 3)]])
  assert.is((await log.entry(location, 3)).pos, 3)
  await log.remove()
  assert.equal(storage.list('trash'), [])
})

test('shapes that a lost frame said are learned from a later one', async () => {
  const { storage, log } = await logOf([shaped(1)], [shaped(2, 1)], [shaped(3)], [shaped(4, 3)])
  const frames = framesOf(bytesOfSegment(storage, log.segments[0]))
  const [first] = frames.filter(({ kind }) => kind === KIND.dictionary)
  replace(storage, log.segments[0].file, flipped(bytesOfSegment(storage, log.segments[0]), first.at + 55))
  const reader = await found(storage)
  const { at } = frames.find(({ kind, pos }) => kind === KIND.record && pos === 2)!
  const frame = await reader.entry(at, 2)
  await fails('ASR_CORRUPT', () => reader.decode(frame))
  await reader.explain(frame, at)
  assert.equal(reader.decode(frame), shaped(2, 1))
})

test('an extension is a part of the log once it is taken in, and the log goes on behind it', async () => {
  const { storage, log } = await logOf()
  await log.append([1, 2].map((n) => [recordEntry(shaped(n, 1), n)]))
  const extension = log.extension()
  for (const n of [3, 4]) await extension.append([[recordEntry(shaped(n, 4), n)]])
  assert.is((await valuesOf(await scanned(storage))).length, 2, 'nobody sees it before')
  await log.takeIn(extension)
  assert.equal(log.end, extension.end)
  assert.equal(storage.list('staging').length, 0)
  const again = await scanned(storage)
  assert.equal(again.end, log.end)
  await scanAll(log) // takes its shapes in
  for (const n of [5, 6]) await log.append([[recordEntry(shaped(n, n), n)]])
  assert.equal(
    await valuesOf(await scanned(storage)),
    [1, 1, 4, 4, 5, 6].map((k, i) => shaped(i + 1, k)),
  )
  assert.equal(
    (await scanned(storage)).segments.map(({ number }) => number),
    [0, 1],
  )
})

test('an extension that is dropped leaves nothing, and its number is free', async () => {
  const { storage, log } = await logOf()
  const dropped = log.extension()
  await dropped.append([[recordEntry(shaped(1), 1)]])
  await dropped.remove()
  const other = log.extension()
  await other.append([[recordEntry(shaped(2), 1)]])
  await log.takeIn(other)
  assert.equal(await valuesOf(await scanned(storage)), [shaped(2)])
})

test('an extension does not come in where another writer was: ASR_FENCED', async () => {
  for (const touch of ['append', 'segment']) {
    const { storage, log } = await logOf()
    const extension = log.extension()
    await extension.append([[recordEntry(shaped(1), 1)]])
    const [{ file }] = log.segments
    if (touch === 'append') storage.append(file, Uint8Array.of(1))
    else storage.append(file.replace('000000', '000001'), Uint8Array.of(1))
    await fails('ASR_FENCED', () => log.takeIn(extension))
    await fails('ASR_POISONED', () => log.append([[recordEntry(shaped(1), 1)]]))
  }
})

test('a rename that fails leaves an extension in doubt, and the log takes nothing more', async () => {
  const storage = new FaultyStorage(new MemoryStorage())
  const log = await emptyLog('s', storage as unknown as MemoryStorage)
  await log.append([[headerEntry('s')]])
  const extension = log.extension()
  await extension.append([[recordEntry(shaped(1), 1)]])
  storage.fail({ method: 'rename' })
  await fails('ASR_IN_DOUBT', () => log.takeIn(extension))
  await fails('ASR_POISONED', () => log.takeIn(extension))
})

test('a reader that finds a new segment takes what came to the one before meanwhile', async () => {
  const { storage, log } = await logOf()
  const reader = await scanned(storage)
  const size = storage.size.bind(storage)
  let asked = 0
  storage.size = (name) => {
    const before = size(name)
    // Between the reader's looks at two files the writer goes on in the first, and begins the second.
    if (asked++ === 0) {
      void log.append([[recordEntry(shaped(1), 1)]])
      void inNewSegment(log, () => log.append([[recordEntry(shaped(2), 2)]]))
    }
    return before
  }
  assert.is(await reader.hasGrown(), true)
  const { items } = await scanAll(reader)
  assert.equal(
    items.flatMap(({ entry }) => (entry?.kind === KIND.record ? [entry.pos] : entry === undefined ? [-1] : [])),
    [1, 2],
  )
})

test.run()
