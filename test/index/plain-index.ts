/**
 * Entries by the thousand, and what an index must say of them, kept as plainly as can be.
 */
import * as assert from 'uvu/assert'
import { runFlow } from '../../src/base/flow.js'
import type { Entry, Landmarks, Run } from '../../src/index/entry.js'
import { flushIndex } from '../../src/index/flush.js'
import type { IndexLevel } from '../../src/index/level.js'
import { createRowCache } from '../../src/index/row-cache.js'
import { logRows } from '../../src/index/rows.js'
import { StreamIndex } from '../../src/index/stream-index.js'
import { locate } from '../../src/log/files/segment.js'
import { waitingLevel } from '../support/levels.js'

export const LOG = '0011223344556677'
const TYPES = ['message', 'tool_call', 'tool_result', 'state', 'com.example/any']
/** Keys that many records share, as revisions of an entity do. */
const SHARED_KEYS = [1, 2 ** 32 + 5, 2 ** 52 + 1, 2 ** 53 - 1]

/** Numbers from 0 up to 1, the same for the same seed. */
export function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export interface Row {
  entry: Entry
  keys: number[]
}

/** Records that branch, revise and compact at random. */
export class PlainIndex {
  readonly rows: Row[] = []
  readonly byKey = new Map<number, number[]>()
  private readonly roll: () => number
  private run: Run = { start: 0, parent: 0, depth: 0 }
  private landmarks: Landmarks = { root: 1, compaction: 0, tombstone: 0, revision: 0, gap: 0, info: 0 }

  constructor(
    seed: number,
    /** one record of so many has a key of its own */
    private readonly keyed = 1,
  ) {
    this.roll = dice(seed)
  }

  /** The rows up to a number of records, the missing ones made. */
  upTo(count: number): readonly Row[] {
    while (this.rows.length < count) this.grow()
    return this.rows
  }

  private grow(): void {
    const pos = this.rows.length + 1
    const { roll } = this
    const below = (limit: number) => Math.floor(roll() * limit)
    if (pos === 1 || roll() < 0.02) this.run = { start: pos, parent: below(pos), depth: below(pos) + 1 }
    if (roll() < 0.01) {
      const name = (['root', 'compaction', 'tombstone', 'gap', 'info'] as const)[below(5)]
      this.landmarks = { ...this.landmarks, [name]: roll() < 0.2 ? 0 : pos }
    }
    const { run, landmarks } = this
    const entry: Entry = {
      pos,
      location: locate(Math.floor(pos / 50_000), (pos % 50_000) * 300 + below(200)),
      type: roll() < 0.001 ? `rare/${pos}` : TYPES[below(TYPES.length)],
      flags: below(128),
      parent: pos === run.start ? run.parent : pos - 1,
      run,
      founder: roll() < 0.1 ? 1 + below(pos) : pos,
      target: roll() < 0.02 ? below(pos) - 1 : 0,
      landmarks,
    }
    const keys: number[] = []
    if (pos % this.keyed === 0) keys.push(Math.floor(roll() * 2 ** 53))
    if (roll() < 0.01) keys.push(SHARED_KEYS[below(SHARED_KEYS.length)])
    this.rows.push({ entry, keys })
    for (const key of keys) {
      const there = this.byKey.get(key)
      if (there === undefined) this.byKey.set(key, [pos])
      else there.push(pos)
    }
  }
}

export function emptyIndex(level: IndexLevel = waitingLevel()): StreamIndex {
  return new StreamIndex(level, LOG, createRowCache())
}

/** Puts rows into an index until it holds `count` records. */
export async function feed(index: StreamIndex, plain: PlainIndex, count: number): Promise<void> {
  const rows = plain.upTo(count)
  await runFlow(index.prepare())
  for (let i = index.length; i < count; i++) {
    const { entry, keys } = rows[i]
    index.push(entry, keys, { id: `id${entry.pos}`, stated: undefined })
  }
  const { location: last } = rows[count - 1].entry
  const point = { location: last + 1, last, pos: count, chain: BigInt(count), check: count }
  index.state = { ...index.state, point, lastSeq: count, heads: new Map([['primary', count]]) }
}

export async function flush(index: StreamIndex): Promise<void> {
  const dictionary = { from: 0, shapes: [['type', 'id']] }
  await flushIndex(index, dictionary, {
    title: 't',
    bytes: index.length,
    durable: 0,
    boot: 'b',
    sessionId: 's',
    reach: { location: index.state.point.location, pos: index.length },
  })
}

/** The index as level holds it, opened anew. */
export async function reopened(index: StreamIndex): Promise<StreamIndex> {
  const opened = await StreamIndex.open(index.level, LOG, createRowCache())
  if (opened === undefined) throw new Error('level holds nothing')
  return opened.index
}

export async function rowsOf(level: IndexLevel): Promise<Map<string, string>> {
  const rows = new Map<string, string>()
  for await (const [key, bytes] of logRows(level, LOG)) rows.set(key, Buffer.from(bytes).toString('latin1'))
  return rows
}

/** Every answer of an index, or, of a large one, a choice of them with all bounds among it. */
export async function expectAnswers(index: StreamIndex, plain: PlainIndex, step = 1): Promise<void> {
  const { length } = index
  const positions = new Set<number>()
  for (let pos = 1; pos <= length; pos += step) positions.add(pos)
  for (let page = 0; page * 4_096 <= length + 1; page++) {
    for (const pos of [page * 4_096 - 1, page * 4_096, page * 4_096 + 1])
      if (pos >= 1 && pos <= length) positions.add(pos)
  }
  positions.add(length)
  for (const pos of positions) {
    const { entry, keys } = plain.rows[pos - 1]
    assert.equal(await runFlow(index.entry(pos)), entry, `position ${pos}`)
    for (const key of keys) await expectCandidates(index, plain, key)
  }
  for (const key of SHARED_KEYS) await expectCandidates(index, plain, key)
  const roll = dice(length)
  for (let n = 0; n < 200; n++) await expectCandidates(index, plain, Math.floor(roll() * 2 ** 53))
}

async function expectCandidates(index: StreamIndex, plain: PlainIndex, key: number): Promise<void> {
  const expected = (plain.byKey.get(key) ?? []).filter((pos) => pos <= index.length)
  assert.equal(await runFlow(index.candidates(key)), expected, `key ${key}`)
}
