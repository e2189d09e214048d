/**
 * Entities as the library hands them out (CORE-18, CORE-19, CORE-20).
 */

import type { Flow } from '../../base/flow.js'
import { ActivePath } from '../../heads/path.js'
import type { StoredRecord } from '../../record/record.js'
import { revisionsOf, revisionsOnPath } from '../../supersede/entity.js'
import type { Entity } from '../api.js'
import type { Lookup } from '../place/lookup.js'

/** A type's entities of one id on the path that ends at a position, in path order. */
export function* entitiesOnPath(lookup: Lookup, type: string, entityId: string, end: number): Flow<Entity[]> {
  const path = new ActivePath(lookup.index, end)
  const found: { positions: number[]; dead: boolean }[] = []
  for (const founder of yield* lookup.founders(type, entityId)) {
    const positions = yield* revisionsOnPath(path, founder)
    if (positions.length > 0) found.push({ positions, dead: yield* lookup.hasTombstone(founder, path) })
  }
  found.sort((a, b) => a.positions[0] - b.positions[0])
  return yield* read(lookup, found)
}

/** The same in the whole stream, as if the log were one path. */
export function* entitiesAnywhere(lookup: Lookup, type: string, entityId: string): Flow<Entity[]> {
  const found: { positions: number[]; dead: boolean }[] = []
  for (const founder of yield* lookup.founders(type, entityId)) {
    const positions = yield* revisionsOf(lookup.index, founder)
    found.push({ positions, dead: yield* lookup.hasTombstone(founder) })
  }
  return yield* read(lookup, found)
}

function* read(lookup: Lookup, found: { positions: number[]; dead: boolean }[]): Flow<Entity[]> {
  const entities: Entity[] = []
  for (const { positions, dead } of found) {
    const revisions: StoredRecord[] = []
    for (const pos of positions) revisions.push(yield* lookup.record(pos))
    entities.push({ first: revisions[0], inForce: dead ? null : revisions[revisions.length - 1], revisions })
  }
  return entities
}
