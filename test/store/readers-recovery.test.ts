/**
 * Readers that have seen an append which was never finished, beside the writer that cuts it off and goes on (CORE-10): at
 * each step of the writer, and with the writer between any two steps of the reader.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { type AsrRecord, isAsrError, memoryLocation, openStore, type Store, type Stream } from '../../src/main.js'
import type { StoredStream } from '../../src/stream/stream.js'
import { flippedAt, framesIn } from '../fault/damage.js'
import { coreOf, freshLevel, levelOf, openAt, rowsOf } from '../fault/place.js'
import { inNewSegment } from '../log/handmade.js'
import { idsOf } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { header, message } from '../support/records.js'
import { SteppingLog } from '../support/stepping-log.js'

type Files = Map<string, Uint8Array>

interface Torn {
  where: string
  files: Files
  /** the file that the unfinished append is in, and where it begins there */
  file: string
  from: number
}

const UNFINISHED = [message('u1'), message('u2', { text: 'x'.repeat(150) }), message('u3')]
/** What the next writer appends: less than was cut off, as much, and more. */
const NEXT: AsrRecord[][] = [[], [message('n1')], [message('n1'), message('n2', { text: 'y'.repeat(400) })]]

/** A log whose last append is whole; in the segment before it, or in one of its own. */
async function logWith(isOwnSegment: boolean): Promise<Torn> {
  const { log, index } = memoryLocation()
  const storage = log as MemoryStorage
  const stream = (await (await openStore({ log, index })).createStream(header())) as StoredStream
  await stream.append([message('a1'), message('a2')])
  const [{ name: first, size }] = storage.list('streams')
  if (isOwnSegment) await inNewSegment(stream.core.log, () => stream.append(UNFINISHED))
  else await stream.append(UNFINISHED)
  const list = storage.list('streams')
  const files: Files = new Map(list.map(({ name, size: all }) => [name, storage.read(name, 0, all)]))
  const last = list.find(({ name }) => name !== first)
  return {
    where: isOwnSegment ? 'in a segment of its own' : 'in the last segment',
    files,
    file: last?.name ?? first,
    from: last === undefined ? size : 0,
  }
}

/** The log with so many bytes of its last append. */
function placed({ files, file, from }: Torn, bytes: number): SteppingLog {
  const storage = memoryLocation().log as MemoryStorage
  for (const [name, all] of files) storage.append(name, name === file ? all.subarray(0, from + bytes) : all)
  return new SteppingLog(storage)
}

async function openedTo(log: SteppingLog, readOnly: boolean): Promise<{ store: Store; stream: Stream }> {
  const store = await openStore({ ...memoryLocation(), log }, { readOnly })
  return { store, stream: await store.stream('s') }
}

/** What the reader says: the beginning of what is there, and never that it is damaged. */
async function looksAt(reader: Stream, all: readonly string[], where: string): Promise<void> {
  const seen = await idsOf(reader.records())
  assert.equal(seen, all.slice(0, seen.length), where)
  assert.ok(seen.length >= 2, where)
}

/** Torn at each of some places, by each of what may come then. */
async function eachCase(
  step: number,
  work: (log: SteppingLog, next: AsrRecord[], where: string) => Promise<void>,
): Promise<void> {
  for (const isOwnSegment of [false, true]) {
    const torn = await logWith(isOwnSegment)
    const size = (torn.files.get(torn.file) as Uint8Array).length - torn.from
    for (let bytes = isOwnSegment ? 0 : 1; bytes < size; bytes += step)
      for (const next of NEXT)
        await work(placed(torn, bytes), next, `${torn.where}, ${bytes} bytes, ${next.length} next`)
  }
}

test('CORE-10: a reader that is open sees at each step of a recovery what is whole, and then what was appended', async () => {
  let looks = 0
  await eachCase(23, async (log, next, where) => {
    const { stream: reader } = await openedTo(log, true)
    const all = ['a1', 'a2', ...next.map(({ id }) => id as string)]
    await looksAt(reader, all, where)
    log.onStep = async () => {
      const { onStep } = log
      log.onStep = undefined
      await looksAt(reader, all, where)
      looks++
      log.onStep = onStep
    }
    const { stream: writer } = await openedTo(log, false)
    for (const record of next) await writer.append(record)
    log.onStep = undefined
    assert.equal(await idsOf(reader.records()), all, where)
    assert.is(reader.length, all.length, where)
  })
  console.log(`figure: ${looks} looks of a reader during recoveries`)
})

test('CORE-10: after a recovery between any two steps of a reader, who asks its store again is told what is there', async () => {
  let steps = 0
  await eachCase(67, async (log, next, where) => {
    const all = ['a1', 'a2', ...next.map(({ id }) => id as string)]
    let n = 1
    while (await recoveredAt(await copyOf(log), n, next, all, `${where}, at step ${n}`)) n++
    steps += n - 1
  })
  console.log(`figure: ${steps} steps of readers at which a writer recovered`)
})

/** A writer opens, and appends, at the n-th step of a reader that opens and looks. Whether the reader took so many. */
async function recoveredAt(
  log: SteppingLog,
  n: number,
  next: readonly AsrRecord[],
  all: readonly string[],
  where: string,
): Promise<boolean> {
  let steps = 0
  log.onStep = async () => {
    if (++steps !== n) return
    log.onStep = undefined
    const { stream: writer } = await openedTo(log, false)
    for (const record of next) await writer.append(record)
  }
  const store = await openStore({ ...memoryLocation(), log }, { readOnly: true })
  try {
    await looksAt(await store.stream('s'), all, where)
  } catch (error) {
    // What is read in the very moment in which a writer changes it may look damaged.
    if (!isAsrError(error, 'ASR_CORRUPT')) throw error
  }
  const hasRecovered = log.onStep === undefined
  log.onStep = undefined
  if (!hasRecovered) return false
  assert.equal(await idsOf((await store.stream('s')).records()), all, where)
  assert.equal(
    (await store.verify()).streams.flatMap(({ problems }) => problems),
    [],
    where,
  )
  return true
}

async function copyOf(log: SteppingLog): Promise<SteppingLog> {
  const copy = memoryLocation().log as MemoryStorage
  for (const { name, size } of await log.list('streams')) copy.append(name, await log.read(name, 0, size))
  return new SteppingLog(copy)
}

/** The log with bytes behind its last whole append that no writer leaves there. */
async function changedLog(): Promise<{ log: SteppingLog; all: string[] }> {
  const torn = await logWith(false)
  const inner = placed(torn, 120)
  await inner.append(torn.file, new Uint8Array(200))
  return { log: inner, all: ['a1', 'a2'] }
}

test('CORE-10: a reader that was told of damage, or accepted it, sees what a writer made of it when it asks its store again', async () => {
  for (const acceptLoss of [false, true]) {
    const { log, all } = await changedLog()
    const store = await openStore({ ...memoryLocation(), log }, { readOnly: true, acceptLoss })
    const before = await store.stream('s')
    if (acceptLoss) assert.equal(await idsOf(before.records()), all)
    else await fails('ASR_CORRUPT', () => before.digest())
    assert.is(await store.stream('s'), before, 'while nothing changes, neither does the answer')
    const writer = await (await openStore({ ...memoryLocation(), log }, { acceptLoss: true })).stream('s')
    for (const id of ['n1', 'n2']) {
      await writer.append(message(id))
      all.push(id)
      assert.equal(await idsOf((await store.stream('s')).records()), all)
    }
    assert.ok((await store.verify()).ok)
  }
})

test('CORE-10: a reader of a log that is shorter for a power cut goes on with what is appended then', async () => {
  const log = memoryLocation().log as MemoryStorage
  const level = freshLevel()
  const first = await openAt(log, level, { boot: 'before' })
  const stream = await first.createStream(header())
  await stream.append([message('a1'), message('a2')])
  const [{ name, size }] = log.list('streams')
  await stream.append(message('lost'))
  await coreOf(stream).flush()
  log.truncate(name, size)
  const rows = await rowsOf(level)
  const reader = await openAt(log, await levelOf(rows), { readOnly: true })
  const early = await reader.stream('s')
  assert.equal(await idsOf(early.records()), ['a1', 'a2'])
  assert.equal(
    reader.notices.map(({ code }) => code),
    ['index_rebuilt', 'lost_suffix'],
  )
  const writer = await (await openAt(log, await levelOf(rows))).stream('s')
  for (const id of ['n1', 'n2']) {
    await writer.append(message(id))
    assert.equal(await idsOf(early.records()), await idsOf(writer.records()))
  }
})

test('CORE-10: a loss that a writer accepts is one to a reader from before, when it asks its store again', async () => {
  const log = memoryLocation().log as MemoryStorage
  const level = freshLevel()
  const first = await openAt(log, level)
  const stream = await first.createStream(header())
  for (const id of ['a1', 'a2', 'a3', 'a4']) await stream.append(message(id))
  await inNewSegment(coreOf(stream).log, () => stream.append(message('a5')))
  await first.close()
  const [{ name, size }] = log.list('streams')
  const flipped = flippedAt(log.read(name, 0, size), framesIn(name, log.read(name, 0, size)).at(-1)!.at + 60, 1)
  log.truncate(name, 0)
  log.append(name, flipped)
  const copy = await levelOf(await rowsOf(level))
  const reader = await openAt(log, copy, { readOnly: true, withIndexNow: (work) => work(level) })
  const early = await reader.stream('s') // its index covers the damage
  const writer = await openAt(log, level, { acceptLoss: true })
  const ended = await writer.stream('s')
  await fails('ASR_CORRUPT', () => early.digest())
  assert.equal(await idsOf((await reader.stream('s')).records()), ['a1', 'a2', 'a3'])
  await ended.append(message('n1'))
  assert.equal(await idsOf((await reader.stream('s')).records()), ['a1', 'a2', 'a3', 'n1'])
  assert.ok((await reader.verify()).ok)
})

test.run()
