/**
 * Sorted runs of keys with the positions they lead to: ids, entities and revisions, told apart by how the key is made.
 *
 * A key is 53 bits of a hash, so it is a hint: whoever finds a position confirms it. Level 0 is one page's keys; a
 * run of level n covers 16 of level n-1. Runs of level 1 and more are cut into buckets by key, so that a look-up reads
 * about a thousand keys.
 */
import { key53 } from '../record/hash.js'

export interface KeyRun {
  /** rising */
  keys: Float64Array
  positions: Float64Array
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
export function mergeRuns(runs: readonly KeyRun[]): KeyRun {
  if (runs.length < 2) return runs[0] ?? { keys: new Float64Array(0), positions: new Float64Array(0) }
  const middle = Math.ceil(runs.length / 2)
  return mergeTwo(mergeRuns(runs.slice(0, middle)), mergeRuns(runs.slice(middle)))
}

function mergeTwo(first: KeyRun, second: KeyRun): KeyRun {
  const size = first.keys.length + second.keys.length
  const merged = { keys: new Float64Array(size), positions: new Float64Array(size) }
  for (let at = 0, i = 0, j = 0; at < size; at++) {
    const isFirst = j === second.keys.length || (i < first.keys.length && first.keys[i] <= second.keys[j])
    merged.keys[at] = isFirst ? first.keys[i] : second.keys[j]
    merged.positions[at] = isFirst ? first.positions[i++] : second.positions[j++]
  }
  return merged
}

/** The positions a key leads to, in rising order. */
export function positionsOf(run: KeyRun, key: number): number[] {
  const { keys, positions } = run
  const found: number[] = []
  const first = firstWhere(0, keys.length, (at) => keys[at] >= key)
  for (let at = first; at < keys.length && keys[at] === key; at++) found.push(positions[at])
  return found
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
    buckets.push({ keys: run.keys.subarray(from, to), positions: run.positions.subarray(from, to) })
    from = to
  }
  return buckets
}

/** 12 bytes a key: the key, and its position as 4 bytes from the least. Little-endian as all machines we run on. */
export function encodeRun(run: KeyRun): Uint8Array {
  const count = run.keys.length
  const base = count === 0 ? 0 : run.positions.reduce((least, pos) => Math.min(least, pos))
  const bytes = new Uint8Array(8 + count * 12)
  new Float64Array(bytes.buffer, 0, 1)[0] = base
  new Float64Array(bytes.buffer, 8, count).set(run.keys)
  const offsets = new Uint32Array(bytes.buffer, 8 + count * 8, count)
  for (let i = 0; i < count; i++) offsets[i] = run.positions[i] - base
  return bytes
}

export function decodeRun(bytes: Uint8Array): KeyRun {
  const count = (bytes.length - 8) / 12
  const aligned = bytes.slice().buffer
  const base = new Float64Array(aligned, 0, 1)[0]
  const offsets = new Uint32Array(aligned, 8 + count * 8, count)
  return { keys: new Float64Array(aligned, 8, count), positions: Float64Array.from(offsets, (offset) => base + offset) }
}
