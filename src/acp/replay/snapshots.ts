/**
 * Plans, compactions and terminals as updates: each is told whole, as it stands in the end (ASR-725, ASR-726).
 */
import type { StoredRecord } from '../../record/record.js'
import { isObject, type JsonObject, objectOf } from '../json.js'
import { REPLAY_LOSS } from '../losses.js'
import type { Roots } from '../paths.js'
import type { SessionUpdate } from './api.js'
import { blocksIn } from './blocks.js'
import { absolutePath, type Draft, uint32, withMeta } from './fields.js'
import type { LossReport } from './loss-report.js'

export function planUpdate(record: StoredRecord, planId: string, losses: LossReport): SessionUpdate[] {
  const plan = planOf(record, planId, losses)
  if (plan !== undefined) return [withMeta({ sessionUpdate: 'plan_update', plan }, record)]
  losses.add(REPLAY_LOSS.content, record.id)
  return []
}

/** Each kind of plan has its field; one that only a vendor knows was kept whole (M8). */
function planOf(record: StoredRecord, planId: string, losses: LossReport): JsonObject | undefined {
  const { planType: type = 'items' } = record
  if (typeof type !== 'string') return undefined
  if (type === 'markdown') {
    return typeof record.content === 'string' ? { type, planId, content: record.content } : undefined
  }
  if (type === 'file') {
    return typeof record.uri === 'string' && URL.canParse(record.uri) ? { type, planId, uri: record.uri } : undefined
  }
  if (type !== 'items') return { ...objectOf(objectOf(record.native?.record)?.plan), type, planId }
  const listed: unknown[] = Array.isArray(record.entries) ? record.entries : []
  const entries = listed.filter(isEntry)
  if (entries.length < listed.length) losses.add(REPLAY_LOSS.content, record.id, listed.length - entries.length)
  return { type, planId, entries }
}

function isEntry(entry: unknown): entry is JsonObject {
  if (!isObject(entry)) return false
  const { content, priority, status } = entry
  return typeof content === 'string' && typeof priority === 'string' && typeof status === 'string'
}

/** Its status, or `completed` where it has none; one that was under way is so still. What is opaque is never sent. */
export function compactionUpdate(record: StoredRecord, compactionId: string, losses: LossReport): SessionUpdate {
  const { status } = record
  const update: Draft = { sessionUpdate: 'compaction_update', compactionId, status: 'completed' }
  if (typeof status === 'string') update.status = status === 'partial' ? 'in_progress' : status
  const summary = blocksIn(record.summary, record.id, losses)
  if (summary.length > 0) update.summary = summary
  if (typeof record.error === 'string') update.error = record.error
  return withMeta(update, record)
}

/** What it shows: nothing is started (ASR-726). */
export function terminalUpdate(
  record: StoredRecord,
  terminalId: string,
  roots: Roots,
  losses: LossReport,
): SessionUpdate {
  const update: Draft = { sessionUpdate: 'terminal_update', terminalId }
  if (typeof record.command === 'string') update.command = record.command
  if ((record.cwd ?? null) !== null) {
    const cwd = absolutePath(record.cwd, roots)
    if (cwd === undefined) losses.add(REPLAY_LOSS.redactedRoot, record.id)
    else update.cwd = cwd
  }
  const blob: unknown = record.output?.blob
  if (typeof blob === 'string' && isBase64(blob)) update.output = { data: blob }
  else if ((record.output ?? null) !== null) losses.add(REPLAY_LOSS.content, record.id)
  const exitStatus = exitStatusOf(record)
  if ((record.exitCode ?? null) !== null && exitStatus?.exitCode === undefined)
    losses.add(REPLAY_LOSS.exitCode, record.id)
  if (exitStatus !== undefined) update.exitStatus = exitStatus
  return withMeta(update, record)
}

/** Told without decoding it: it may be long. */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

function exitStatusOf({ status, exitCode, signal }: StoredRecord): JsonObject | undefined {
  const code = uint32(exitCode)
  const name = typeof signal === 'string' ? signal : undefined
  if (status !== 'exited' && code === undefined && name === undefined) return undefined
  return { ...(code !== undefined && { exitCode: code }), ...(name !== undefined && { signal: name }) }
}
