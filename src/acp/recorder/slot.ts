/**
 * An entity as records: each record it is made of has a slot, and a slot's record is revised when its body changes.
 */
import type { AsrRecord } from '../../record/record.js'
import type { Entity, Stream } from '../../stream/api.js'
import type { JsonObject } from '../json.js'
import type { Loss } from '../losses.js'
import type { Roots } from '../paths.js'

/**
 * Why an entity is written: something behind it is (`passing`), the turn pauses and things are as they stand (`pause`), or
 * the turn is over (`end`).
 */
export type Stage = 'passing' | 'pause' | 'end'

export interface SlotContext {
  roots: Roots
  stage: Stage
  secretFields: ReadonlySet<string>
  /** the client is known to relay what a person says (ASR-713) */
  clientIsPerson: boolean
}

export interface Slot {
  name: string
  /** the record, but for its id, its times, what it supersedes and where its frames are */
  body: AsrRecord
  /** it is not final and still grows: it need not be written again for each bit that came */
  growing?: boolean
  /** it stands on its own, and goes when its slot goes: a tombstone ends it */
  detached?: boolean
}

/** The stored records of an entity, by slot. */
export interface Stored {
  slots: Map<string, Entity>
  /** how many detached records there ever were */
  detached: number
}

/** How entities of a kind become records. */
export interface EntityKind<S> {
  readonly name: string
  /** it is no part of a turn: outside of one it is written at once */
  readonly isAside?: true
  slots(state: S, context: SlotContext): Slot[]
  losses?(state: S): Loss[]
}

/** A kind whose entities are told in updates, and can be changed by updates long after they were written. */
export interface UpdatedKind<S> extends EntityKind<S> {
  /** the entity's id in an update, as it is stored */
  idOf(update: JsonObject): string | undefined
  fold(state: S | undefined, update: JsonObject): S | undefined
  /** nothing is said to come any more: it is to be written now (ASR-705) */
  isFinal?(state: S): boolean
  find(stream: Stream, id: string): Promise<Stored | undefined>
  revive(id: string, bodies: ReadonlyMap<string, AsrRecord>, roots: Roots): S
}

/** The last of a type's entities with an id that lives and that is what is looked for. */
export async function lastLiving(
  stream: Stream,
  type: string,
  id: string,
  wanted: (record: AsrRecord) => boolean = () => true,
): Promise<Entity | undefined> {
  const entities = await stream.entity(type, id, { anywhere: true })
  return entities.findLast(({ inForce }) => inForce !== null && wanted(inForce))
}

/** Finds the one record of an entity that has no more. */
export async function findSingle(
  stream: Stream,
  type: string,
  id: string,
  wanted?: (record: AsrRecord) => boolean,
): Promise<Stored | undefined> {
  const entity = await lastLiving(stream, type, id, wanted)
  return entity && { slots: new Map([[type, entity]]), detached: 0 }
}
