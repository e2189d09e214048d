/**
 * Entities and their revisions on a path (CORE-17, CORE-18, CORE-19).
 */

import type { Flow } from '../base/flow.js'
import type { ActivePath } from '../heads/path.js'
import { revisionKey } from '../index/keys/key-run.js'
import type { IndexReader } from '../index/reader.js'

/** All records of an entity, whatever the branches, in log order. */
export function* revisionsOf(index: IndexReader, founder: number): Flow<number[]> {
  const revisions = [founder]
  for (const pos of yield* index.candidates(revisionKey(founder))) {
    if ((yield* index.entry(pos)).founder === founder) revisions.push(pos)
  }
  return revisions
}

/** An entity's records on a path, in path order. */
export function* revisionsOnPath(path: ActivePath, founder: number): Flow<number[]> {
  const found: number[] = []
  for (const pos of yield* revisionsOf(path.index, founder)) if (yield* path.has(pos)) found.push(pos)
  return found
}

/** Whether a record of the path gives its entity its position there: no earlier one of the entity is on the path. */
export function* isPosition(path: ActivePath, pos: number, founder: number): Flow<boolean> {
  if (pos === founder) return true
  if (yield* path.has(founder)) return false
  for (const revision of yield* revisionsOf(path.index, founder)) {
    if (revision >= pos) return true
    if (yield* path.has(revision)) return false
  }
  return true
}

/** An entity's first and last revision on a path behind a position. */
export interface Revised {
  first: number
  last: number
}

/** Of each entity that has revisions on a path behind a position, by founder: found without a look-up. */
export function* revisedAfter(path: ActivePath, through: number): Flow<Map<number, Revised>> {
  const revised = new Map<number, Revised>()
  for (let at = yield* path.landmark('revision', path.end); at > through; ) {
    const { founder, parent } = yield* path.index.entry(at)
    const known = revised.get(founder)
    if (known === undefined) revised.set(founder, { first: at, last: at })
    else known.first = at
    at = yield* path.landmark('revision', parent)
  }
  return revised
}

/** The founders of the entities that the path's tombstones end. */
export function* deadOnPath(path: ActivePath): Flow<Set<number>> {
  const dead = new Set<number>()
  for (const pos of yield* path.landmarks('tombstone')) dead.add((yield* path.index.entry(pos)).target)
  return dead
}
