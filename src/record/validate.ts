/**
 * Whether a value can be a record or a header at all (CORE-1, CORE-3, CORE-4).
 */
import { SESSION_ID_BYTES_MAX } from '../base/limits.js'
import type { AsrRecord } from './record.js'
import { shallowCopy } from './snapshot.js'

/** What is wrong with a record's common fields, or undefined (CORE-4). */
export function badField(record: { [field: string]: unknown }): string | undefined {
  const { type, seq, id, parentId, supersedes, head } = record
  if (typeof type !== 'string') return '`type` is not a string'
  if (seq !== undefined && !(Number.isSafeInteger(seq) && (seq as number) >= 0)) {
    return '`seq` is not a whole number from 0'
  }
  if (id !== undefined && (typeof id !== 'string' || !id.isWellFormed())) return '`id` is not a well-formed string'
  if (parentId !== undefined && parentId !== null && typeof parentId !== 'string')
    return '`parentId` is neither a string nor null'
  if (supersedes !== undefined && typeof supersedes !== 'string') return '`supersedes` is not a string'
  if (head !== undefined && typeof head !== 'string') return '`head` is not a string'
  if (type === 'head' && record.recordId !== null && typeof record.recordId !== 'string') {
    return '`recordId` of a head record is neither a string nor null'
  }
  if (type === 'tombstone' && typeof record.targetId !== 'string') return '`targetId` of a tombstone is not a string'
  return undefined
}

/** What is wrong with a session id, or undefined (CORE-1). */
export function badSessionId(sessionId: unknown): string | undefined {
  if (typeof sessionId !== 'string') return '`sessionId` is not a string'
  if (!sessionId.isWellFormed()) return '`sessionId` holds a lone surrogate'
  const size = sessionId.length > SESSION_ID_BYTES_MAX ? sessionId.length : new TextEncoder().encode(sessionId).length
  if (size < 1 || size > SESSION_ID_BYTES_MAX) return `\`sessionId\` is not of 1 to ${SESSION_ID_BYTES_MAX} bytes`
  return undefined
}

/** What is wrong with a header, or undefined (CORE-3). */
export function badHeader(header: { [field: string]: unknown }): string | undefined {
  if (header.type !== undefined && header.type !== 'header') return '`type` of a header is not "header"'
  return badSessionId(header.sessionId)
}

/** What the header of a stream says of its version, when that is not the one that is read and written here (CORE-3). */
export function otherVersion({ asr }: { [field: string]: unknown }): string | undefined {
  if (asr === undefined || asr === '1') return undefined
  return `\`asr\` of the header is ${typeof asr === 'string' ? JSON.stringify(asr) : 'no string'}, not "1"`
}

/** The sequence number a record without one gets at a position, after the last record's (CORE-4). */
export function assignedSeq(pos: number, lastSeq: number): number {
  return Math.max(pos, lastSeq + 1)
}

/** The record with what it lacks appended last, `seq` before `id` (CORE-4); the record itself when it lacks nothing. */
export function withAssigned(record: AsrRecord, seq: number, id: string): AsrRecord {
  const hasSeq = Object.hasOwn(record, 'seq')
  const hasId = Object.hasOwn(record, 'id')
  if (hasSeq && hasId) return record
  const complete = shallowCopy(record)
  if (!hasSeq) complete.seq = seq
  if (!hasId) complete.id = id
  return complete
}
