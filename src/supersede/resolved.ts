/**
 * A path with each live entity once, at its position, in its revision in force.
 */

import type { Flow } from '../base/flow.js'
import type { ActivePath, Span } from '../heads/path.js'
import { type Page, pageOf } from '../index/page.js'
import { isPosition, type Revised } from './entity.js'

/**
 * The positions in force of the entities that have their position in a span of the path, in path order; the dead and
 * tombstones are left out, and so are types that are not asked for. Most records are their entity's only one: they cost
 * no question.
 */
export function* resolvedIn(
  path: ActivePath,
  dead: ReadonlySet<number>,
  revised: ReadonlyMap<number, Revised>,
  { from, to }: Span,
  isAskedFor: (type: string) => boolean = () => true,
): Flow<number[]> {
  const found: number[] = []
  let page: Page | undefined
  for (let pos = from; pos <= to; pos++) {
    if (page === undefined || page.last < pos) page = yield* path.index.page(pageOf(pos))
    const type = page.type(pos)
    if (type === 'tombstone' || !isAskedFor(type)) continue
    const founder = page.founder(pos)
    if (dead.has(founder)) continue
    const revisions = revised.get(founder)
    // Asked once an entity: whether it has its position here, and not with a founder or a revision before.
    if (founder !== pos && (revisions?.first !== pos || !(yield* isPosition(path, pos, founder)))) continue
    found.push(revisions?.last ?? pos)
  }
  return found
}
