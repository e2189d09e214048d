/**
 * Gaps: records in the place of what could not be recorded, or behind what broke off.
 */
import { type AsrRecord, entityIdField } from '../../record/record.js'
import { type JsonObject, objectOf } from '../json.js'
import { kindOfUpdate } from './kinds/updates.js'

/** A name that is longer may be what a record was refused for. */
const NAME_MAX = 1024

/** Why something is missing, of what type it was, and whose it was: the id of its entity, or of the call that caused it. */
export function gapOf(reason: string, record?: AsrRecord, code?: string): AsrRecord {
  return {
    type: 'gap',
    reason,
    ...(code !== undefined && { code }),
    ...(record && { of: String(record.type).toWellFormed(), ...nameOf(record) }),
  }
}

/** A gap in the place of what an update told. */
export function gapOfUpdate(reason: string, update: JsonObject): AsrRecord {
  const kind = kindOfUpdate(update)
  if (kind === undefined) return gapOf(reason)
  const type = kind.name.split('/')[0]
  return gapOf(reason, { type, [entityIdField(type) ?? 'id']: kind.idOf(update) })
}

function nameOf(record: AsrRecord): Record<string, string> {
  const cause = objectOf(record.cause)
  const field = cause === undefined ? entityIdField(record.type) : 'callId'
  const name: unknown = field === undefined ? undefined : (cause ?? record)[field]
  return field !== undefined && typeof name === 'string' && name.length <= NAME_MAX ? { [field]: name } : {}
}
