/**
 * Leaves: records without children (CORE-15).
 */

import type { Flow } from '../base/flow.js'
import { LargeSet } from '../base/large.js'
import { turns } from '../base/turn.js'
import { HEAD_RECORD } from '../index/entry.js'
import { pageOf } from '../index/page.js'
import type { IndexReader } from '../index/reader.js'

/** The positions of all leaves, in log order. Looks at each run once, never at single records. */
export function* leaves(index: IndexReader): Flow<number[]> {
  const { length } = index // what comes in meanwhile is not looked at
  if (length === 0) return []
  const ends: number[] = []
  const parents = new LargeSet<number>()
  let open: { start: number; head: boolean } | undefined
  const close = (end: number): void => {
    if (open !== undefined && !open.head) ends.push(end)
  }
  for (let number = 0; number <= pageOf(length); number++) {
    const page = yield* index.page(number)
    for (const { start, parent } of page.runsBegun()) {
      if (start > length) break
      close(start - 1)
      open = { start, head: (page.flags(start) & HEAD_RECORD) !== 0 }
      parents.add(parent)
    }
  }
  close(length)
  const found: number[] = []
  for (const end of ends) {
    if (turns.isOver()) yield turns.next()
    if (!parents.has(end)) found.push(end)
  }
  return found
}
