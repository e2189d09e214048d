/**
 * Sorted runs of keys with the positions they lead to: ids, entities and revisions, told apart by how the key is made.
 *
 * A key is 53 bits of a hash, so it is a hint: whoever finds a position confirms it. Level 0 is one page's keys; a
 * run of level n covers 16 of level n-1. Runs of level 1 and more are cut into buckets by key, so that a look-up reads
 * about a thousand keys.
 */

import type { Flow } from '../../base/flow.js'
import { key53 } from '../../base/hash.js'
import { turns } from '../../base/turn.js'

export interface KeyRun {
  /** rising */
  keys: Float64Array
  /** the position that each key leads to, counted from `base` */
  offsets: Uint32Array
  base: number
}

export const MERGED_RUNS = 16
const BUCKET_KEYS = 1_024
const KEY_LIMIT = 2 ** 53

export function idKey(id: string): number {
  return key53(`i${id}`)
}

export function entityKey(type: string, entityId: string): number {
  return key53(`e"${type}"${entityId}`)
}

/** Leads from an entity's founder to its later revisions. */
export function revisionKey(founder: number): number {
  return key53(`v${founder}`)
}

/** Leads from an entity's founder to the tombstones that end it. */
export function tombstoneKey(founder: number): number {
  return key53(`t${founder}`)
}

/** Runs of rising position ranges as one. */
export function* mergeRuns(runs: readonly KeyRun[]): Flow<KeyRun> {
  if (runs.length < 2) return runs[0] ?? { keys: new Float64Array(0), offsets: new Uint32Array(0), base: 0 }
  const middle = Math.ceil(runs.length / 2)
  return yield* mergeTwo(yield* mergeRuns(runs.slice(0, middle)), yield* mergeRuns(runs.slice(middle)))
}

/** So many keys are merged, or put into a filter, between two looks at the clock. */
export const KEYS_AT_ONCE = 4_096

function* mergeTwo(first: KeyRun, second: KeyRun): Flow<KeyRun> {
  // What is empty has no base.
  if (first.keys.length === 0) return second
  if (second.keys.length === 0) return first
  const size = first.keys.length + second.keys.length
  const base = Math.min(first.base, second.base)
  const merged = { keys: new Float64Array(size), offsets: new Uint32Array(size), base }
  const [ofFirst, ofSecond] = [first.base - base, second.base - base]
  for (let at = 0, i = 0, j = 0; at < size; at++) {
    if (at % KEYS_AT_ONCE === 0 && turns.isOver()) yield turns.next()
    const isFirst = j === second.keys.length || (i < first.keys.length && first.keys[i] <= second.keys[j])
    merged.keys[at] = isFirst ? first.keys[i] : second.keys[j]
    merged.offsets[at] = isFirst ? ofFirst + first.offsets[i++] : ofSecond + second.offsets[j++]
  }
  return merged
}

/** Adds the positions that a key leads to, in rising order. */
export function collectPositions({ keys, offsets, base }: KeyRun, key: number, into: number[]): void {
  const first = firstWhere(0, keys.length, (at) => keys[at] >= key)
  for (let at = first; at < keys.length && keys[at] === key; at++) into.push(base + offsets[at])
}

/** The first place from `low` on that lies behind a bound, or `high`: all places behind it do too. */
function firstWhere(low: number, high: number, isBehind: (at: number) => boolean): number {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isBehind(middle)) to = middle
    else from = middle + 1
  }
  return from
}

export function bucketCount(keys: number): number {
  return Math.max(1, Math.ceil(keys / BUCKET_KEYS))
}

export function bucketOf(key: number, buckets: number): number {
  return Math.min(buckets - 1, Math.floor((key / KEY_LIMIT) * buckets))
}

/** A run cut into its buckets; each is a run itself. */
export function cutBuckets(run: KeyRun): KeyRun[] {
  const count = bucketCount(run.keys.length)
  const buckets: KeyRun[] = []
  let from = 0
  for (let bucket = 0; bucket < count; bucket++) {
    const to = firstWhere(from, run.keys.length, (at) => bucketOf(run.keys[at], count) > bucket)
    buckets.push({ keys: run.keys.subarray(from, to), offsets: run.offsets.subarray(from, to), base: run.base })
    from = to
  }
  return buckets
}

/** The base, then 12 bytes a key: the keys as 8 each, the offsets as 4. Little-endian as all machines we run on. */
export function encodeRun({ keys, offsets, base }: KeyRun): Uint8Array {
  const bytes = new Uint8Array(8 + keys.length * 12)
  new Float64Array(bytes.buffer, 0, 1)[0] = base
  new Float64Array(bytes.buffer, 8, keys.length).set(keys)
  new Uint32Array(bytes.buffer, 8 + keys.length * 8, keys.length).set(offsets)
  return bytes
}

/** A view of the bytes, which must not change. */
export function decodeRun(bytes: Uint8Array): KeyRun {
  const count = (bytes.length - 8) / 12
  const { buffer, byteOffset } = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice()
  return {
    keys: new Float64Array(buffer, byteOffset + 8, count),
    offsets: new Uint32Array(buffer, byteOffset + 8 + count * 8, count),
    base: new Float64Array(buffer, byteOffset, 1)[0],
  }
}
