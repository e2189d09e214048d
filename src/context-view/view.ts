/**
 * The context view: what the model would see at the end of a path (CORE-22 … CORE-26).
 */

import type { Flow } from '../base/flow.js'
import type { ActivePath } from '../heads/path.js'
import { PARTICIPATES } from '../index/entry.js'
import { pageOf } from '../index/page.js'
import { deadOnPath, revisedAfter } from '../supersede/entity.js'
import { resolvedIn } from '../supersede/resolved.js'
import { compactionInForce } from './compaction.js'

export interface ViewPositions {
  /** the compaction in force, its revision in force; 0: none */
  compaction: number
  /** what follows it: each entity's revision in force, in path order */
  entries: number[]
  passedOver: number[]
}

/** Which records the view shows, found without reading one. */
export function* viewPositions(path: ActivePath): Flow<ViewPositions> {
  const dead = yield* deadOnPath(path)
  const { compaction, through, passedOver } = yield* compactionInForce(path, dead)
  const revised = yield* revisedAfter(path, through)
  const entries: number[] = []
  for (const span of yield* path.spansAfter(through)) {
    for (const pos of yield* resolvedIn(path, dead, revised, span, mayParticipate)) {
      if (((yield* path.index.page(pageOf(pos))).flags(pos) & PARTICIPATES) !== 0) entries.push(pos)
    }
  }
  return { compaction, entries, passedOver }
}

/** Compactions but the one in force are left out; of the others these types can participate (CORE-22). */
function mayParticipate(type: string): boolean {
  return type === 'message' || type === 'tool_call' || type === 'tool_result' || type === 'instructions'
}
