/**
 * Records in the form in which they are compared (CORE-29): what a replay tells of them.
 */
import type { StoredRecord } from '../../record/record.js'
import type { JsonObject } from '../json.js'
import type { Roots } from '../paths.js'
import type { SessionUpdate } from '../replay/api.js'
import type { LossReport } from '../replay/loss-report.js'
import { messageUpdates } from '../replay/message.js'
import { compactionUpdate } from '../replay/snapshots.js'
import { diffOf, toolCallUpdate } from '../replay/tool-call.js'
import type { ComparedKind } from './api.js'

/** What is compared of a message: an entity of its own. */
export interface Normal {
  kind: ComparedKind
  id: string
  value: JsonObject
}

/** A message, and its thoughts apart (ASR-727). */
export function normalMessage(record: StoredRecord, messageId: string, losses: LossReport): Normal[] {
  return messageUpdates(record, messageId, losses).map((update) => ({
    kind: update.sessionUpdate as ComparedKind,
    id: String(update.messageId),
    value: told(update, ['content']),
  }))
}

export function normalCompaction(record: StoredRecord, losses: LossReport): JsonObject {
  return told(compactionUpdate(record, '', losses), ['summary'])
}

export function normalCall(call: StoredRecord, roots: Roots, losses: LossReport): JsonObject {
  const { locations, ...update } = toolCallUpdate({ call }, '', roots, losses)
  const said = told(update, ['name', 'title', 'kind', 'rawInput'])
  return Array.isArray(locations) && locations.length > 0 ? { ...said, locations } : said
}

const NO_CALL: StoredRecord = { type: 'tool_call', seq: 0, id: '' }

/** What a result adds to its call: status, what was shown, output (ASR-728). Items that have no place in records are not compared. */
export function normalResult({ native, ...result }: StoredRecord, roots: Roots, losses: LossReport): JsonObject {
  return told(toolCallUpdate({ call: NO_CALL, result }, '', roots, losses), ['status', 'content', 'rawOutput'])
}

/** The operations of a file change, with absolute paths; undefined when they can not be told (ASR-729). */
export function normalChange(change: StoredRecord, roots: Roots, losses: LossReport): JsonObject | undefined {
  return diffOf(change, roots, losses)
}

const FINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled'])

/** Whether a recorder that is told this has a result to write: its status is final, or there is something in it. */
export function isRecorded({ status, content, rawOutput }: JsonObject): boolean {
  return FINAL.has(status) || content !== undefined || rawOutput !== undefined
}

function told(update: SessionUpdate, fields: readonly string[]): JsonObject {
  return Object.fromEntries(
    fields.filter((field) => update[field] !== undefined).map((field) => [field, update[field]]),
  )
}
