/**
 * A path as a list of runs of positions, found from its end backwards and only as far as it is asked for (CORE-16).
 */

import type { Flow } from '../base/flow.js'
import { type Landmarks, ORPHAN } from '../index/entry.js'
import { pageOf } from '../index/page.js'
import type { IndexReader } from '../index/reader.js'

/** Positions `from` to `to`, each the parent of the next. */
export interface Span {
  from: number
  to: number
}

export class ActivePath {
  /** from the path's end backwards */
  private readonly spans: Span[] = []
  /** where the next span ends; 0: the root is reached */
  private ahead: number

  constructor(
    readonly index: IndexReader,
    /** the path's last position; 0 for the empty path */
    readonly end: number,
  ) {
    this.ahead = end
  }

  /** Number of records on the path. */
  *length(): Flow<number> {
    if (this.end === 0) return 0
    const { run } = yield* this.index.entry(this.end)
    return run.depth + this.end - run.start
  }

  /** Whether a record is on the path. */
  *has(pos: number): Flow<boolean> {
    if (pos < 1 || pos > this.end) return false
    while (this.ahead >= pos) yield* this.extend()
    return this.spanOf(pos) !== undefined
  }

  /** The path's spans behind a position, in path order. */
  *spansAfter(pos: number): Flow<Span[]> {
    while (this.ahead > pos) yield* this.extend()
    const spans: Span[] = []
    for (const span of this.spans) {
      if (span.to <= pos) break
      spans.push({ from: Math.max(span.from, pos + 1), to: span.to })
    }
    return spans.reverse()
  }

  /** The nearest record of the path before a position that participates by its own fields (CORE-23), or 0. */
  *participantBefore(pos: number, flag: number): Flow<number> {
    let at = (yield* this.index.entry(pos)).parent
    while (at > 0) {
      const page = yield* this.index.page(pageOf(at))
      const stop = Math.max(page.first, page.run(at).start)
      for (; at >= stop; at--) if ((page.flags(at) & flag) !== 0) return at
      at = page.parent(stop)
    }
    return 0
  }

  /** The records of a kind on the path, the last first. */
  *landmarks(name: Exclude<keyof Landmarks, 'root'>): Flow<number[]> {
    const found: number[] = []
    for (let at = yield* this.landmark(name, this.end); at > 0; ) {
      found.push(at)
      at = yield* this.landmark(name, (yield* this.index.entry(at)).parent)
    }
    return found
  }

  /** The nearest of a kind at or before a record of a path, or 0. */
  *landmark(name: keyof Landmarks, pos: number): Flow<number> {
    return pos === 0 ? 0 : (yield* this.index.page(pageOf(pos))).landmark(name, pos)
  }

  /** The path's first record when it is an orphan (CORE-12), or 0. */
  *cut(): Flow<number> {
    const root = yield* this.landmark('root', this.end)
    return root > 0 && ((yield* this.index.entry(root)).flags & ORPHAN) !== 0 ? root : 0
  }

  /** The records behind a refused line, in path order (CORE-12). */
  *gaps(): Flow<number[]> {
    return (yield* this.landmarks('gap')).reverse()
  }

  private *extend(): Flow<void> {
    const page = yield* this.index.page(pageOf(this.ahead))
    const { start, parent } = page.run(this.ahead)
    this.spans.push({ from: start, to: this.ahead })
    this.ahead = parent
  }

  private spanOf(pos: number): Span | undefined {
    let low = 0
    let high = this.spans.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.spans[middle].from > pos) low = middle + 1
      else high = middle
    }
    const span = this.spans[low]
    return span !== undefined && span.to >= pos ? span : undefined
  }
}
