/**
 * What a recorder asks of the stream it goes on with.
 */
import { parseExact } from '../../record/exact.js'
import { type AsrRecord, PRIMARY, participates, type StoredRecord } from '../../record/record.js'
import type { Stream } from '../../stream/api.js'
import type { Roots } from '../paths.js'
import type { AnyKind } from './kinds/updates.js'
import { type Ref, Tracked, timesOf } from './tracked.js'

const PARTICIPATING = ['message', 'tool_call', 'tool_result', 'compaction', 'instructions']
const ASKING = ['permission', 'input_request']

/** An entity as it is stored, to go on from; undefined when there is none. */
export async function revived(stream: Stream, kind: AnyKind, id: string, roots: Roots): Promise<Tracked | undefined> {
  const stored = await kind.find(stream, id)
  if (stored === undefined) return undefined
  const bodies = new Map<string, AsrRecord>()
  for (const [name, entity] of stored.slots) {
    const body = await exactly(stream, entity.inForce ?? entity.first)
    bodies.set(name, body)
    if (entity.inForce !== null) stored.slots.set(name, { ...entity, inForce: body })
  }
  const [first] = [...stored.slots.values()]
  const tracked = new Tracked(kind, kind.revive(id, bodies, roots), timesOf(first.first), undefined)
  tracked.adopt(stored)
  const throughId: unknown = first.first.replaces?.throughId
  if (typeof throughId === 'string') tracked.through = { id: throughId }
  return tracked
}

/**
 * A stored record with its numbers in their own digits: what is revised later is a copy of it. Most have no numbers but those of
 * the store and the recorder themselves, and are not read a second time.
 */
export async function exactly(stream: Stream, record: StoredRecord): Promise<StoredRecord> {
  const { seq, native, ...said } = record
  if (!holdsNumber([said, native?.record])) return record
  const text = await stream.text(record.id)
  return text === undefined ? record : (parseExact(text) as StoredRecord)
}

function holdsNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'number'
  return Object.values(value).some(holdsNumber)
}

/** The last record on primary's path that participates in context (ASR-719). */
export async function lastParticipating(stream: Stream): Promise<Ref | undefined> {
  const primary = (await stream.heads()).find(({ name }) => name === PRIMARY)
  if (primary === undefined) return undefined
  for await (const record of stream.records({ to: primary.pos, reverse: true, types: PARTICIPATING })) {
    if (participates(record)) return { id: record.id }
  }
  return undefined
}

/** The number of the next connection: one more than the highest that a request id of the stream begins with (ASR-716). */
export async function nextConnection(stream: Stream): Promise<number> {
  let next = 0
  for await (const { idSource, requestId } of stream.records({ types: ASKING })) {
    const number = idSource === 'derived' ? /^(\d{1,15}):/.exec(String(requestId))?.[1] : undefined
    if (number !== undefined) next = Math.max(next, Number(number) + 1)
  }
  return next
}

/** The last record of a type that is wanted. */
export async function lastOf(
  stream: Stream,
  type: string,
  wanted: (record: AsrRecord) => boolean,
): Promise<StoredRecord | undefined> {
  for await (const record of stream.records({ reverse: true, types: [type] })) if (wanted(record)) return record
  return undefined
}
