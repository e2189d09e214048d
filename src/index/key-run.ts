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
  const size = runs.reduce((sum, run) => sum + run.keys.length, 0)
  const merged = { keys: new Float64Array(size), positions: new Float64Array(size) }
  const next = runs.map(() => 0)
  for (let at = 0; at < size; at++) {
    let least = -1
    for (let i = 0; i < runs.length; i++) {
      if (next[i] >= runs[i].keys.length) continue
      if (least === -1 || runs[i].keys[next[i]] < runs[least].keys[next[least]]) least = i
    }
    merged.keys[at] = runs[least].keys[next[least]]
    merged.positions[at] = runs[least].positions[next[least]]
    next[least]++
  }
  return merged
}

/** The positions a key leads to, in rising order. */
export function positionsOf(run: KeyRun, key: number): number[] {
  let low = 0
  let high = run.keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (run.keys[middle] < key) low = middle + 1
    else high = middle
  }
  const found: number[] = []
  for (let at = low; at < run.keys.length && run.keys[at] === key; at++) found.push(run.positions[at])
  return found
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
    let to = from
    while (to < run.keys.length && bucketOf(run.keys[to], count) === bucket) to++
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
