/**
 * Reads a log in memory forward. Appends come in whole, so nothing is ever torn; only what a point has seen may not be there.
 */
import { turns } from '../../base/turn.js'
import type { FoundEntry, LogPoint, LogScan, ScanEnd, ScanItem } from '../api.js'
import { bears, entriesBefore, type MemoryEntry, pointAfter } from './kept-log.js'

const BLOCK_ENTRIES = 256

export class MemoryScan implements LogScan {
  private point: LogPoint
  private isBegun = false

  constructor(
    private readonly entries: readonly MemoryEntry[],
    /** how many of them are seen */
    private readonly seen: () => number,
    from: LogPoint,
  ) {
    this.point = from
  }

  async next(): Promise<ScanItem[] | undefined> {
    if (!this.isBegun && !bears(this.entries, this.point)) return this.lost()
    this.isBegun = true
    const from = entriesBefore(this.point.location)
    const block = this.entries.slice(from, Math.min(from + BLOCK_ENTRIES, this.seen()))
    if (block.length === 0) return undefined
    this.point = pointAfter(block.at(-1))
    for (const { bodyBytes } of block) turns.spend(bodyBytes)
    if (turns.isOver()) await turns.next()
    return block.map((entry) => ({ at: entry.location, entry }))
  }

  end(): ScanEnd {
    return { point: this.point, tornBytes: 0, isBeginning: true }
  }

  pointAfter({ entry }: FoundEntry): LogPoint {
    return pointAfter(entry as MemoryEntry)
  }

  /** What the point has seen was cut off, and others wrote there since. */
  private lost(): ScanItem[] {
    const { location, pos } = this.point
    this.isBegun = true
    return [{ at: location, to: location, firstPos: pos + 1, lastPos: Number.POSITIVE_INFINITY }]
  }
}
