/**
 * Sets and maps that may come to hold a million: one of JavaScript's own is copied whole each time it has doubled, which then holds
 * the event loop for a tenth of a second. These are many small ones.
 */
const SHARDS = 256

function shardOf(key: string | number): number {
  if (typeof key === 'number') return key % SHARDS
  let hash = key.length
  for (let at = Math.max(0, key.length - 8); at < key.length; at++) hash = Math.imul(hash, 31) + key.charCodeAt(at)
  return hash & (SHARDS - 1)
}

/** Whole numbers from 0, or texts; in no order. */
export class LargeSet<K extends string | number> {
  private readonly shards = Array.from({ length: SHARDS }, () => new Set<K>())

  has(key: K): boolean {
    return this.shards[shardOf(key)].has(key)
  }

  add(key: K): void {
    this.shards[shardOf(key)].add(key)
  }
}

/** A map in the order in which its keys came. */
export class LargeMap<V> {
  private readonly places = Array.from({ length: SHARDS }, () => new Map<string, number>())
  /** what was taken out leaves its place empty */
  private readonly entries: ([string, V] | undefined)[] = []

  has(key: string): boolean {
    return this.places[shardOf(key)].has(key)
  }

  get(key: string): V | undefined {
    const place = this.places[shardOf(key)].get(key)
    return place === undefined ? undefined : this.entries[place]?.[1]
  }

  /** A key that is there keeps its place. */
  set(key: string, value: V): void {
    const places = this.places[shardOf(key)]
    const place = places.get(key)
    if (place === undefined) places.set(key, this.entries.push([key, value]) - 1)
    else this.entries[place] = [key, value]
  }

  delete(key: string): void {
    const places = this.places[shardOf(key)]
    const place = places.get(key)
    if (place === undefined) return
    places.delete(key)
    this.entries[place] = undefined
  }

  *[Symbol.iterator](): Generator<[string, V], void> {
    for (const entry of this.entries) if (entry !== undefined) yield entry
  }
}
