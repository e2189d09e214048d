/**
 * What a record and a header are (CORE-3, CORE-4, CORE-5), and the names of the fields that carry meaning.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** A record: a JSON object with a `type`; every field but the common ones belongs to the type (CORE-4). */
export interface AsrRecord {
  type: string
  seq?: number
  id?: string
  parentId?: string | null
  supersedes?: string
  head?: string
  // biome-ignore lint/suspicious/noExplicitAny: fields of a type are any JSON, and callers read them without a cast
  [field: string]: any
}

/** A record as the log holds it: `seq` and `id` are there (CORE-4). */
export interface StoredRecord extends AsrRecord {
  seq: number
  id: string
}

/** A stream's header (CORE-3). Unknown fields are kept. */
export interface Header {
  type?: 'header'
  asr?: string
  sessionId: string
  agent?: { name: string; version?: string }
  // biome-ignore lint/suspicious/noExplicitAny: unknown fields are kept as they are
  [field: string]: any
}

/** The head that a record advances when it names none (CORE-11, CORE-13). */
export const PRIMARY = 'primary'

/** The field that names an entity, by type (CORE-20). Types that are not here: the id of the chain's first record. */
const ENTITY_ID_FIELDS: ReadonlyMap<string, string> = new Map([
  ['message', 'messageId'],
  ['tool_call', 'callId'],
  ['tool_result', 'callId'],
  ['permission', 'requestId'],
  ['input_request', 'requestId'],
  ['plan', 'planId'],
  ['terminal', 'terminalId'],
  ['compaction', 'compactionId'],
  ['subagent', 'childSession'],
])

/** The field in which records of a type name their entity (CORE-20). */
export function entityIdField(type: string): string | undefined {
  return ENTITY_ID_FIELDS.get(type)
}

/** The entity id a record states itself (CORE-20), or undefined: then it is the id of the chain's first record. */
export function statedEntityId(record: AsrRecord): string | undefined {
  const field = entityIdField(record.type)
  if (field === undefined) return undefined
  const id: unknown = record[field]
  return typeof id === 'string' ? id : undefined
}

/** Whether a record is part of what the model sees (CORE-22); of an entity, its revision in force decides. */
export function participates(record: AsrRecord): boolean {
  switch (record.type) {
    case 'message':
      return record.origin !== 'notice' && record.audience !== 'user'
    case 'tool_call':
    case 'tool_result':
    case 'compaction':
    case 'instructions':
      return true
    default:
      return false
  }
}
