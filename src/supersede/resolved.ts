/**
 * A path with each live entity once, at its position, in its revision in force.
 */
import type { ActivePath } from '../heads/path.js'
import { pageOf } from '../index/page.js'
import type { Query } from '../index/query.js'
import { isPosition } from './entity.js'

/** The position in force of the entity that has its position at `pos`; 0 when it has none there, is dead, or a tombstone. */
export function* resolvedAt(
  path: ActivePath,
  dead: ReadonlySet<number>,
  revised: ReadonlyMap<number, number>,
  pos: number,
): Query<number> {
  const page = yield* path.index.page(pageOf(pos))
  if (page.type(pos) === 'tombstone') return 0
  const founder = page.founder(pos)
  if (dead.has(founder) || !(yield* isPosition(path, pos, founder))) return 0
  return revised.get(founder) ?? pos
}
