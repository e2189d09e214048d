/**
 * Fields that records of every type can have and that a replay does not carry (ASR-731).
 */
import type { StoredRecord } from '../../record/record.js'
import { REPLAY_LOSS } from '../losses.js'
import type { LossReport } from './loss-report.js'

export function noteFields(record: StoredRecord, losses: LossReport): void {
  const { id } = record
  if (record.ts !== undefined || record.observedAt !== undefined) losses.add(REPLAY_LOSS.timestamps, id)
  if (record.supersedes !== undefined) losses.add(REPLAY_LOSS.revisionHistory, id)
  if (record.capture !== undefined) losses.add(REPLAY_LOSS.capture, id)
  if (record.copiedFrom !== undefined) losses.add(REPLAY_LOSS.lineage, id)
  if (record.type !== 'message') return
  if (record.author !== undefined) losses.add(REPLAY_LOSS.author, id)
  const isOwn = record.origin !== 'notice' && record.origin !== 'inter_session'
  if (record.origin !== undefined && isOwn) losses.add(REPLAY_LOSS.turnTriggers, id)
  if (record.from !== undefined || record.recipients !== undefined) losses.add(REPLAY_LOSS.senders, id)
  if (record.audience !== undefined && isOwn) losses.add(REPLAY_LOSS.audience, id)
}
