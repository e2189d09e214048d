/**
 * The context view: what the model would see at the end of a path (CORE-22 … CORE-26).
 */
import type { ActivePath } from '../heads/path.js'
import { PARTICIPATES } from '../index/entry.js'
import { pageOf } from '../index/page.js'
import type { Query } from '../index/query.js'
import { deadOnPath, revisedAfter } from '../supersede/entity.js'
import { resolvedAt } from '../supersede/resolved.js'
import { compactionInForce } from './compaction.js'

export interface ViewPositions {
  /** the compaction in force, its revision in force; 0: none */
  compaction: number
  /** what follows it: each entity's revision in force, in path order */
  entries: number[]
  passedOver: number[]
}

/** Which records the view shows, found without reading one. */
export function* viewPositions(path: ActivePath): Query<ViewPositions> {
  const dead = yield* deadOnPath(path)
  const { compaction, through, passedOver } = yield* compactionInForce(path, dead)
  const revised = yield* revisedAfter(path, through)
  const entries: number[] = []
  for (const { from, to } of yield* path.spansAfter(through)) {
    for (let pos = from; pos <= to; pos++) {
      const page = yield* path.index.page(pageOf(pos))
      if (!mayParticipate(page.type(pos))) continue
      const inForce = yield* resolvedAt(path, dead, revised, pos)
      if (inForce === 0) continue
      if (((yield* path.index.page(pageOf(inForce))).flags(inForce) & PARTICIPATES) !== 0) entries.push(inForce)
    }
  }
  return { compaction, entries, passedOver }
}

/** Compactions but the one in force are left out; of the others these types can participate (CORE-22). */
function mayParticipate(type: string): boolean {
  return type === 'message' || type === 'tool_call' || type === 'tool_result' || type === 'instructions'
}
