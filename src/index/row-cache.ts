/**
 * Decoded rows of all streams of a store, the least recently used dropped first.
 */
import QuickLRU from 'quick-lru'

/** Between this many rows and twice as many are kept; a full page takes about 100 KB. */
const ROWS = 64

export type RowCache = QuickLRU<string, unknown>

export function createRowCache(): RowCache {
  return new QuickLRU({ maxSize: ROWS })
}
