/**
 * What has to hold after every case: nothing acknowledged is lost, nothing wrong is read, what is lost is named, the index
 * is what the log says.
 */
import * as assert from 'uvu/assert'
import { hashBytes, hex64 } from '../../src/base/hash.js'
import { decodeRoot } from '../../src/index/root.js'
import { logRows } from '../../src/index/rows.js'
import { isAsrError, type Store, type StoredRecord, type Stream, type VerifyReport } from '../../src/main.js'
import type { StreamStore } from '../../src/store/store.js'
import type { StoredStream } from '../../src/stream/stream.js'
import { collect, linesOf } from '../support/collect.js'
import { asStored, type Written } from './written.js'

/** What may be lost of what was promised: after a power cut, without a sync, the newest. */
export type Loss = 'nothing' | 'committed'

/** Codes of notices that say that records, or a stream, are gone. */
export const LOSSES = ['torn_tail', 'lost_suffix', 'loss_accepted', 'unfinished_stream', 'lost_stream']

export interface Held {
  /** records that are there */
  present: StoredRecord[]
  /** records that were promised and are not, by what `Loss` allows */
  lost: number
}

/**
 * A sound store: holds all that was promised, in order, each append whole or not at all; checks are clean, and the index is
 * what `verify` makes anew.
 */
export async function holdsPromises(
  store: Store,
  expected: readonly Written[],
  loss: Loss = 'nothing',
): Promise<Held[]> {
  const report = await store.verify()
  assert.equal(problemsOf(report), [], 'verify finds nothing')
  const held: Held[] = []
  for (const each of expected) held.push(await holdsStream(store, each, loss))
  return held
}

async function holdsStream(store: Store, { sessionId, appends }: Written, loss: Loss): Promise<Held> {
  const stream = await store.stream(sessionId).catch((error: unknown) => {
    if (!isAsrError(error, 'ASR_STREAM_NOT_FOUND')) throw error
    return undefined
  })
  const present = stream === undefined ? [] : await collect(stream.records())
  const held = matchAppends(present, { sessionId, appends }, loss)
  if (stream === undefined) return held
  assert.is(stream.length, present.length)
  for (const [i, record] of present.entries()) {
    assert.equal(await stream.get(record.id), record, `record ${i + 1} by its id`)
    assert.is(await stream.position(record.id), i + 1)
  }
  const lines = await linesOf(stream.exportJsonl())
  assert.equal(
    lines.slice(1),
    present.map((record) => JSON.stringify(record)),
  )
  return held
}

/** Positions are dense, each append is there whole or not at all, and no promised one is missing before one that is there. */
export function matchAppends(present: readonly StoredRecord[], { sessionId, appends }: Written, loss: Loss): Held {
  let at = 0
  let lost = 0
  for (const [n, { records, promised }] of appends.entries()) {
    const there = records.filter((record, i) => isSame(record, present[at + i], at + i + 1)).length
    assert.ok(
      there === 0 || there === records.length,
      `${sessionId}: append ${n} is torn: ${there} of ${records.length}`,
    )
    if (there > 0) {
      assert.is(lost, 0, `${sessionId}: append ${n} is there, but ${lost} promised records before it are not`)
      at += there
    } else if (promised !== 'tried' && records.length > 0) {
      assert.ok(loss === 'committed' && promised === 'committed', `${sessionId}: append ${n}, ${promised}, is lost`)
      lost += records.length
    }
  }
  assert.is(present.length, at, `${sessionId}: nothing is there that was not written: ${JSON.stringify(present[at])}`)
  return { present: [...present], lost }
}

function isSame(
  given: Written['appends'][number]['records'][number],
  found: StoredRecord | undefined,
  pos: number,
): boolean {
  return found !== undefined && JSON.stringify(asStored(given, pos)) === JSON.stringify(found)
}

/** What a report says, `session code` each. */
export function problemsOf(report: VerifyReport): string[] {
  const problems = report.streams.flatMap(({ sessionId, problems: found }) =>
    found
      .filter(({ severity }) => severity === 'damage')
      .map(({ code, message }) => `${sessionId} ${code}: ${message}`),
  )
  assert.is(report.ok, problems.length === 0, 'ok says whether there is damage')
  return problems
}

/** The rows of the index are those that a rebuild makes, byte for byte, the root's bookkeeping apart. */
export async function indexIsRebuilt(store: Store): Promise<void> {
  if ((store as StreamStore).environment.readOnly) return
  await store.verify() // writes what the index holds in memory
  const before = await indexRows(store)
  await store.rebuildIndex()
  assert.equal(await indexRows(store), before, 'the index is what a rebuild makes')
}

async function indexRows(store: Store): Promise<string[]> {
  const rows: string[] = []
  for await (const { sessionId } of store.streams()) {
    const { core } = (await store.stream(sessionId)) as StoredStream
    const { level, incarnation: log } = core.index
    for await (const [key, bytes] of logRows(level, log)) rows.push(`${key} ${contentOf(key, bytes)}`)
  }
  return rows.sort()
}

function contentOf(key: string, bytes: Uint8Array): string {
  const root = key.endsWith('/a') ? decodeRoot(bytes, key.slice(0, -2)) : undefined
  if (root === undefined) return hex64(hashBytes(bytes))
  const { durable: _, boot: __, ...rest } = root
  return JSON.stringify(rest, (_key, value: unknown) => (typeof value === 'bigint' ? hex64(value) : value))
}

export interface Salvaged {
  /** positions whose records no read gives */
  missing: number[]
  /** positions whose records are not in the salvaged export */
  unsalvaged: number[]
  report: string[]
  notices: string[]
}

/**
 * A store with a damaged stream: nothing wrong is returned by any way of reading, each record that is not returned fails
 * with a code and a place, and what is missing is said. Other streams are as if nothing had happened.
 */
export async function holdsDespiteDamage(
  store: Store,
  expected: Written,
  others: readonly Written[] = [],
): Promise<Salvaged> {
  for (const other of others) await holdsOther(store, other)
  const records = expected.appends.flatMap((append) => append.records).map((record, i) => asStored(record, i + 1))
  const stream = await store.stream(expected.sessionId).catch((error: unknown) => {
    if (!isAsrError(error, 'ASR_STREAM_NOT_FOUND')) throw error
    return undefined
  })
  const missing = stream === undefined ? records.map((_, i) => i + 1) : await readEach(stream, records)
  if (stream !== undefined) await readInOrder(stream, records)
  const unsalvaged = stream === undefined ? missing : await salvage(stream, records)
  const report = problemsOf(await store.verify())
  const notices = store.notices.map(({ code }) => code)
  const isNoticed = notices.some((code) => LOSSES.includes(code))
  const isSaid = isNoticed || report.some((line) => line.startsWith(`${expected.sessionId} `))
  assert.ok(missing.length + unsalvaged.length === 0 || isSaid, `${missing.length} records are gone without a word`)
  assert.equal(
    report.filter((line) => !line.startsWith(`${expected.sessionId} `)),
    [],
    'no other stream is said to be damaged',
  )
  return { missing, unsalvaged, report, notices }
}

async function holdsOther(store: Store, other: Written): Promise<void> {
  const stream = await store.stream(other.sessionId)
  matchAppends(await collect(stream.records()), other, 'nothing')
  const report = await store.verify({ sessionId: other.sessionId })
  assert.equal(problemsOf(report), [], 'a sound stream beside a damaged one')
}

/** Every record by its id: itself, or an error with its place; "not there" only where a notice may say why. */
async function readEach(stream: Stream, records: readonly StoredRecord[]): Promise<number[]> {
  const missing: number[] = []
  for (const [i, record] of records.entries()) {
    try {
      const found = await stream.get(record.id)
      if (found === undefined) missing.push(i + 1)
      else assert.is(JSON.stringify(found), JSON.stringify(record), `record ${i + 1} by its id`)
    } catch (error) {
      if (!isDamage(error)) throw error
      missing.push(i + 1)
    }
  }
  return missing
}

function isDamage(error: unknown): boolean {
  if (!isAsrError(error, 'ASR_CORRUPT') && !isAsrError(error, 'ASR_LOST_TAIL')) return false
  assert.is(typeof error.sessionId, 'string', 'damage names its stream')
  assert.ok(error.pos === undefined || error.pos >= 0, 'damage names its place')
  return true
}

/** In log order, without and with the end: a prefix, then an error where something is missing. */
async function readInOrder(stream: Stream, records: readonly StoredRecord[]): Promise<void> {
  let at = 0
  try {
    for await (const record of stream.records()) {
      assert.is(JSON.stringify(record), JSON.stringify(records[at]), `record ${at + 1} in order`)
      at++
    }
    assert.is(at, stream.length, 'a range that ends without an error gives all')
  } catch (error) {
    if (!isDamage(error)) throw error
  }
  try {
    const [, ...lines] = await linesOf(stream.exportJsonl())
    assert.equal(
      lines,
      records.slice(0, stream.length).map((record) => JSON.stringify(record)),
      'an export is whole',
    )
  } catch (error) {
    if (!isDamage(error)) throw error
  }
}

/**
 * Positions that the salvaged export lacks. What it has is what was written, in order, each once; and gaps stand exactly
 * where something is missing, but for an end that nobody bears witness of.
 */
async function salvage(stream: Stream, records: readonly StoredRecord[]): Promise<number[]> {
  const positions = new Map(records.map((record, i) => [JSON.stringify(record), i + 1]))
  const [first, ...lines] = await linesOf(stream.exportJsonl({ salvage: true }))
  assert.is((JSON.parse(first) as { sessionId: string }).sessionId, stream.sessionId)
  const there = new Set<number>()
  let next = 1
  for (const line of lines) {
    const pos = positions.get(line)
    if (pos !== undefined) {
      assert.is(pos, next, 'salvage is in log order, each once, and gaps fill its holes')
      there.add(pos)
      next = pos + 1
      continue
    }
    const { type, from, to = records.length } = JSON.parse(line) as { type: string; from: number; to?: number }
    assert.is(type, 'gap', `salvage gives what was never written: ${line.slice(0, 200)}`)
    assert.is(from, next, 'a gap begins where something is missing')
    assert.ok(to >= from && to <= records.length, `a gap ends where there was something: ${line}`)
    next = to + 1
  }
  return [...positions.values()].filter((pos) => !there.has(pos))
}
