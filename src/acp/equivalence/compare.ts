/**
 * Whether two streams have the same context view, as far as ACP can carry one (ASR-732).
 */

import { throwIfAborted } from '../../base/abort.js'
import { LargeMap } from '../../base/large.js'
import { turns } from '../../base/turn.js'
import type { Stream } from '../../stream/api.js'
import type { CompareOptions, Comparison, Difference, DifferenceSide } from './api.js'
import { leftOutOf } from './left-out.js'
import { type Outline, outlineOf } from './outline.js'
import type { Outlined, Part } from './outliner.js'
import { differingPlaces } from './pointers.js'

const LIMIT = 100

/**
 * Compares the context views of two streams in the normal form of CORE-28 and CORE-29: the same entities in the same
 * order, with the same ids, roles, content, tool names, inputs, mapped statuses, what was shown and file operations. What
 * ACP can not carry is left out on both sides, and said. Each stream is read once; what is held of an entity is its id and
 * the hashes of what it says.
 */
export async function compareContextViews(a: Stream, b: Stream, options: CompareOptions = {}): Promise<Comparison> {
  const { limit = LIMIT, signal } = options
  const ofA = await outlineOf(a, options.a, signal)
  const ofB = await outlineOf(b, options.b, signal)
  await leaveOutOfBoth(ofA, ofB)
  const onlyInB = (await missing(ofB, ofA)).map(swapped)
  const misplaced = [...(await missing(ofA, ofB)), ...onlyInB, ...(await moved(ofA, ofB))]
  const differing: [Outlined, Outlined][] = []
  let compared = 0
  for (const [one, other] of commonOf(ofA, ofB)) {
    if (turns.isOver()) await turns.next()
    compared++
    if (!isSame(one, other)) differing.push([one, other])
  }
  const differences = misplaced.slice(0, limit)
  for (const [one, other] of differing) {
    if (differences.length >= limit) break
    throwIfAborted(signal)
    for (const difference of await differencesOf(a, one, b, other)) differences.push(difference)
  }
  return {
    equal: misplaced.length + differing.length === 0,
    compared,
    differences: differences.slice(0, limit),
    differing: misplaced.length + differing.length,
    leftOut: leftOutOf(ofA.losses, ofB.losses),
  }
}

/** What is left out of one stream has no say in the other either (CORE-29). */
async function leaveOutOfBoth(a: Outline, b: Outline): Promise<void> {
  for (const { entities } of [a, b]) {
    for (const [key, { isLeftOut }] of entities) {
      if (turns.isOver()) await turns.next()
      if (!isLeftOut) continue
      a.entities.delete(key)
      b.entities.delete(key)
    }
  }
}

/** The entities of one stream that the other does not have. */
async function missing(a: Outline, b: Outline): Promise<Difference[]> {
  const found: Difference[] = []
  for (const [key, { kind, id, parts }] of a.entities) {
    if (turns.isOver()) await turns.next()
    if (b.entities.has(key)) continue
    found.push({ kind, id, what: 'only_in_a', pointer: '', a: { recordId: parts[0].recordId } })
  }
  return found
}

function swapped({ a, ...rest }: Difference): Difference {
  return { ...rest, what: 'only_in_b', b: a }
}

/** The entities that follow another one than they do in the first stream, of those that both have. */
async function moved(a: Outline, b: Outline): Promise<Difference[]> {
  const before = new LargeMap<Outlined | undefined>()
  let last: Outlined | undefined
  for (const [key, entity] of b.entities) {
    if (turns.isOver()) await turns.next()
    if (!a.entities.has(key)) continue
    before.set(key, last)
    last = entity
  }
  const found: Difference[] = []
  last = undefined
  for (const [one, other, key] of commonOf(a, b)) {
    if (turns.isOver()) await turns.next()
    if (before.get(key) !== last) {
      const { kind, id } = one
      found.push({ kind, id, what: 'order', pointer: '', a: sideOf(one.parts[0]), b: sideOf(other.parts[0]) })
    }
    last = other
  }
  return found
}

function* commonOf(a: Outline, b: Outline): Generator<[one: Outlined, other: Outlined, key: string]> {
  for (const [key, entity] of a.entities) {
    const other = b.entities.get(key)
    if (other !== undefined) yield [entity, other, key]
  }
}

function isSame({ parts }: Outlined, { parts: others }: Outlined): boolean {
  return (
    parts.length === others.length &&
    parts.every(({ pointer, hash }, index) => pointer === others[index].pointer && hash === others[index].hash)
  )
}

/** Where two entities differ, from their records again. */
async function differencesOf(a: Stream, one: Outlined, b: Stream, other: Outlined): Promise<Difference[]> {
  const { kind, id } = one
  const found: Difference[] = []
  for (const pointer of new Set([...one.parts, ...other.parts].map((part) => part.pointer))) {
    const [ofA, ofB] = [one, other].map(({ parts }) => parts.find((part) => part.pointer === pointer))
    for (const place of differingPlaces(await readPart(a, ofA), await readPart(b, ofB), pointer)) {
      found.push({
        kind,
        id,
        what: 'value',
        pointer: place.pointer,
        ...(ofA && { a: sideOf(ofA, place, 'a') }),
        ...(ofB && { b: sideOf(ofB, place, 'b') }),
      })
    }
  }
  return found
}

function sideOf({ recordId }: Part, place: { a?: unknown; b?: unknown } = {}, side: 'a' | 'b' = 'a'): DifferenceSide {
  return side in place ? { recordId, value: place[side] } : { recordId }
}

async function readPart(stream: Stream, part: Part | undefined): Promise<unknown> {
  const record = part && (await stream.get(part.recordId))
  return record && part.read(record)
}
