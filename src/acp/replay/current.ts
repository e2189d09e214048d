/**
 * What is told after the history: how things stand now (the latest title, usage and state).
 */
import type { StoredRecord } from '../../record/record.js'
import { isObject, type JsonObject } from '../json.js'
import { REPLAY_LOSS } from '../losses.js'
import type { SessionUpdate } from './api.js'
import { type Draft, isUint, withMeta } from './fields.js'
import type { LossReport } from './loss-report.js'

/** States that are marks of the recorder: ACP has none of them. */
const MARKS: ReadonlySet<unknown> = new Set(['resumed', 'ended'])

export class Current {
  private title: StoredRecord | undefined
  private usage: StoredRecord | undefined
  private state: StoredRecord | undefined
  /** a mark of the recorder came behind the state: no turn is under way */
  private isOver = false

  constructor(private readonly losses: LossReport) {}

  /** Takes the records in path order; of each kind the last counts. Whether this is one that can. */
  take(record: StoredRecord): boolean {
    if (record.type === 'state') return this.takeState(record)
    if (record.type === 'session_info') return this.takeTitle(record)
    if (isOfSession(record)) return this.takeUsage(record)
    this.losses.add(REPLAY_LOSS.usage, record.id)
    return false
  }

  /** Always ends with the state: a client that resumes is told it, whatever the stream holds (M22). */
  updates(): SessionUpdate[] {
    const { title, usage } = this
    const updates: SessionUpdate[] = []
    if (title !== undefined) {
      updates.push(withMeta({ sessionUpdate: 'session_info_update', title: title.title }, title))
    }
    if (usage !== undefined) updates.push(usageUpdate(usage))
    updates.push(this.stateUpdate())
    return updates
  }

  private takeTitle(record: StoredRecord): boolean {
    if (record.title !== null && typeof record.title !== 'string') {
      if (isObject(record._meta) && Object.keys(record._meta).length > 0)
        this.losses.add(REPLAY_LOSS.infoMeta, record.id)
      return false
    }
    if (this.title !== undefined) this.losses.add(REPLAY_LOSS.titleHistory, this.title.id)
    this.title = record
    return true
  }

  private takeUsage(record: StoredRecord): boolean {
    if (this.usage !== undefined) this.losses.add(REPLAY_LOSS.usage, this.usage.id)
    this.usage = record
    return true
  }

  private takeState(record: StoredRecord): boolean {
    if (typeof record.state !== 'string' || MARKS.has(record.state)) {
      this.losses.add(REPLAY_LOSS.state, record.id)
      this.isOver = true
      return false
    }
    if (this.state !== undefined) this.losses.add(REPLAY_LOSS.state, this.state.id)
    this.state = record
    this.isOver = false
    return true
  }

  /**
   * A replay runs nothing: whatever ran when the stream ended is not running here, and what waited for the client when the
   * session was closed waits no more. The session is idle then.
   */
  private stateUpdate(): SessionUpdate {
    const { state } = this
    if (state === undefined) return { sessionUpdate: 'state_update', state: 'idle' }
    const isIdle = state.state === 'idle'
    if (state.state === 'running' || (this.isOver && !isIdle)) {
      this.losses.add(REPLAY_LOSS.state, state.id)
      return { sessionUpdate: 'state_update', state: 'idle' }
    }
    const update: Draft = { sessionUpdate: 'state_update', state: state.state }
    if (isIdle && typeof state.stopReason === 'string') update.stopReason = state.stopReason
    if (isIdle && state.stopReason === 'error' && isError(state.error)) update.error = state.error
    return withMeta(update, state)
  }
}

/** Of the whole session, and of a context window (ASR-720). */
function isOfSession({ scope, cumulative, contextWindow }: StoredRecord): boolean {
  if (scope !== 'session' || cumulative !== true || !isObject(contextWindow)) return false
  return isUint(contextWindow.used) && isUint(contextWindow.size)
}

function usageUpdate(record: StoredRecord): SessionUpdate {
  const { contextWindow, cost } = record
  const { used, size } = contextWindow
  const update: Draft = { sessionUpdate: 'usage_update', used, size }
  if (isCost(cost)) update.cost = { amount: cost.amount, currency: cost.currency }
  return withMeta(update, record)
}

function isCost(cost: unknown): cost is JsonObject {
  if (!isObject(cost) || typeof cost.amount !== 'number') return false
  return typeof cost.currency === 'string' && /^[A-Z]{3}$/.test(cost.currency)
}

function isError(error: unknown): error is JsonObject {
  return isObject(error) && Number.isSafeInteger(error.code) && typeof error.message === 'string'
}
