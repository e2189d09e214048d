/**
 * Which compaction is in force on a path (CORE-23).
 */

import type { Flow } from '../base/flow.js'
import type { ActivePath } from '../heads/path.js'
import { BAD_TARGET, COMPLETED, type Entry, PARTICIPATES } from '../index/entry.js'
import { isPosition } from '../supersede/entity.js'

export interface InForce {
  /** the compaction's revision in force; 0: no compaction is in force */
  compaction: number
  /** T: what is positioned up to here is replaced; 0: nothing is */
  through: number
  /** revisions in force of the compactions that were passed over for their extent, the last first */
  passedOver: number[]
}

/** The compaction in force, the last one by its entity's position. */
export function* compactionInForce(path: ActivePath, dead: ReadonlySet<number>): Flow<InForce> {
  const passedOver: number[] = []
  const founders: { pos: number; founder: number }[] = []
  /** of each entity its revision in force, and its position: the first of its records on the path */
  const lastOf = new Map<number, Entry>()
  const positionOf = new Map<number, number>()
  for (const pos of yield* path.landmarks('compaction')) {
    const entry = yield* path.index.entry(pos)
    const { founder } = entry
    founders.push({ pos, founder })
    if (!lastOf.has(founder)) lastOf.set(founder, entry)
    positionOf.set(founder, pos)
  }
  for (const { pos, founder } of founders) {
    if (dead.has(founder) || positionOf.get(founder) !== pos) continue
    const revision = lastOf.get(founder) as Entry
    if ((revision.flags & COMPLETED) === 0) continue
    const through = yield* extent(path, pos, revision)
    if (through !== BAD_TARGET) return { compaction: revision.pos, through, passedOver }
    passedOver.push(revision.pos)
  }
  return { compaction: 0, through: 0, passedOver }
}

/** T of a compaction positioned at `pos`, 0 when nothing is replaced, or BAD_TARGET. */
function* extent(path: ActivePath, pos: number, revision: Entry): Flow<number> {
  const { target } = revision
  if (target === 0) return yield* path.participantBefore(pos, PARTICIPATES)
  return target !== BAD_TARGET && target < pos && (yield* path.has(target)) ? target : BAD_TARGET
}

/** Whether the path ends at a compaction with a bad extent, whatever its status: what import reports. */
export function* endsAtBadExtent(path: ActivePath): Flow<boolean> {
  const entry = yield* path.index.entry(path.end)
  const { type, target, founder } = entry
  if (type !== 'compaction' || target === 0) return false
  if (target === BAD_TARGET || !(yield* path.has(target))) return true
  // An extent that begins before the entity does lies before its position, wherever on the path that is.
  return target >= founder && !(yield* isPosition(path, target + 1, founder))
}
