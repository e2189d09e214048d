/**
 * Appends of one stream, in the order of asking. Callers that wait at the same time share a write and a sync; each
 * call is all or none.
 */

import { AsrError } from '../base/error.js'
import { type Flow, runFlow, wait } from '../base/flow.js'
import { turns } from '../base/turn.js'
import { counted } from '../base/words.js'
import { IndexDamaged } from '../index/rows.js'
import { ENTRY_KIND, type LogPoint } from '../log/api.js'
import { JudgedEntry } from '../log/log-entry.js'
import type { AsrRecord, Header, StoredRecord } from '../record/record.js'
import { shallowCopy } from '../record/snapshot.js'
import { badField } from '../record/validate.js'
import type { AppendOptions, Receipt } from './api.js'
import type { StreamCore } from './core/stream-core.js'
import { agentOf, lineageOf } from './place/catch-up.js'
import { isRetry, refusal, Staging } from './place/staging.js'

/** What one write holds at most, so that a burst of large appends does not pile up in memory. */
const GROUP_BYTES = 4 * 1024 * 1024
const GROUP_CALLS = 256

interface StagedCall {
  entries: JudgedEntry[]
  header?: Header
  receipt: Receipt
}

interface Call {
  /** it builds on the stored state, so it shares its write with no other */
  alone?: boolean
  /** stages what the call brings; throws to refuse it */
  stage(staging: Staging): Flow<StagedCall>
  resolve(receipt: Receipt): void
  reject(error: unknown): void
}

interface Group {
  calls: (StagedCall & { call: Call })[]
  staging: Staging
}

export class AppendQueue {
  private waiting: Call[] = []
  private isRunning = false
  private run: Promise<void> | undefined

  constructor(private readonly core: StreamCore) {}

  append(records: readonly (AsrRecord | AsrError)[], options: AppendOptions): Promise<Receipt> {
    return this.enqueue((staging) => this.stageRecords(staging, records, options))
  }

  /**
   * Entries that another log of the session has placed behind a point, as one append.
   * @throws ASR_CONFLICT when the log does not end at that point
   */
  async appendPlaced(entries: readonly JudgedEntry[], behind: LogPoint): Promise<void> {
    await this.enqueue((staging) => this.stagePlaced(staging, entries, behind), true)
  }

  /** Has work done on the log while no append is under way; afterwards the index is as the log is. */
  async alone(work: () => Promise<void>): Promise<void> {
    await this.enqueue(function* () {
      yield* wait(work())
      return { entries: [], receipt: { first: 0, last: 0, appended: 0, duplicates: 0 } }
    }, true)
  }

  /** @throws ASR_CONFLICT when the log does not end at the point any more; ASR_CLOSED */
  assertEndsAt({ location, pos }: LogPoint): void {
    const { point } = this.core.state
    this.core.assertOpen()
    if (point.location !== location) throw this.conflict(pos, point.pos)
  }

  /** A header revision; `revise` gives the new header, or undefined when nothing changes (CORE-3). */
  reviseHeader(revise: () => Promise<{ header: Header; text?: string } | undefined>): Promise<Receipt> {
    const { sessionId } = this.core
    return this.enqueue(function* (staging) {
      const revised = yield* wait(revise())
      const receipt = { first: 0, last: 0, appended: 0, duplicates: 0 }
      if (revised === undefined) return { entries: [], receipt }
      const { header, text } = revised
      return { entries: [JudgedEntry.header(sessionId, header, staging.length, text)], header, receipt }
    }, true)
  }

  /** Once nothing is under way. */
  async idle(): Promise<void> {
    while (this.isRunning) await this.run
  }

  private enqueue(stage: Call['stage'], alone = false): Promise<Receipt> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ stage, alone, resolve, reject })
      if (!this.isRunning) this.run = this.drain()
    })
  }

  /** Each write is done at once where nothing has to be waited for: a promise a step would cost more than the step. */
  private async drain(): Promise<void> {
    this.isRunning = true
    if (this.core.environment.durability === 'disk') await undefined // callers of this moment share a sync
    while (this.waiting.length > 0) {
      const calls = this.waiting.splice(0, GROUP_CALLS)
      const taken = [...calls]
      try {
        const work = this.core.writing.run(() => runFlow(this.process(calls)))
        if (work instanceof Promise) await work
      } catch (error) {
        for (const call of taken) if (!this.waiting.includes(call)) call.reject(error)
      }
      const lagging = this.core.appended()
      if (lagging instanceof Promise) await lagging
      if (turns.isOver()) await turns.next()
    }
    this.isRunning = false // at once: a call that comes now has to start anew
  }

  private *process(calls: Call[]): Flow<void> {
    const { core } = this
    try {
      yield* this.commit(yield* this.stage(calls))
    } catch (error) {
      if (!(error instanceof IndexDamaged)) throw error
      yield* wait(core.mend())
      yield* this.process(calls)
    }
  }

  /** Stages calls one behind the other; one that is refused leaves no trace. What the group has no room for waits. */
  private *stage(calls: Call[]): Flow<Group> {
    yield* this.core.index.prepare()
    const group: Group = { calls: [], staging: new Staging(this.core.lookup) }
    let bytes = 0
    while (calls.length > 0 && bytes < GROUP_BYTES) {
      const call = calls[0]
      const isFirst = group.calls.length === 0
      if (!isFirst && (call.alone || group.calls[0].call.alone)) break
      const undo = group.staging.savepoint()
      try {
        const staged = yield* call.stage(group.staging)
        group.calls.push({ call, ...staged })
        const added = staged.entries.reduce((sum, entry) => sum + entry.size, 0)
        bytes += added
        turns.spend(added)
      } catch (error) {
        undo()
        if (error instanceof IndexDamaged) {
          calls.unshift(...group.calls.map((one) => one.call))
          throw error
        }
        call.reject(error)
      }
      calls.shift()
    }
    this.waiting.unshift(...calls.splice(0))
    return group
  }

  private *commit({ calls, staging }: Group): Flow<void> {
    const { core } = this
    const appends = calls.map(({ entries }) => entries).filter((entries) => entries.length > 0)
    let locations: number[] = []
    try {
      if (appends.length > 0) locations = yield* wait(core.write(appends))
      // A duplicate may have been written by somebody who never synced it.
      else yield* wait(core.confirm())
    } catch (error) {
      for (const { call } of calls) call.reject(error)
      return
    }
    if (appends.length > 0) publish(core, calls, staging, locations)
    for (const { call, receipt } of calls) call.resolve(receipt)
  }

  private *stagePlaced(staging: Staging, entries: readonly JudgedEntry[], behind: LogPoint): Flow<StagedCall> {
    this.assertEndsAt(behind)
    let header: Header | undefined
    for (const entry of entries) {
      if (entry.kind === ENTRY_KIND.header) header = entry.value as Header
      else yield* staging.add(entry.value as StoredRecord, entry.pos, lineageOf(entry))
    }
    const { length } = staging
    const appended = length - behind.pos
    return { entries: [...entries], header, receipt: { first: behind.pos + 1, last: length, appended, duplicates: 0 } }
  }

  private *stageRecords(
    staging: Staging,
    records: readonly (AsrRecord | AsrError)[],
    options: AppendOptions,
  ): Flow<StagedCall> {
    const { length } = staging
    const { expected } = options
    const entries: JudgedEntry[] = []
    const places: number[] = []
    for (const given of records) {
      if (turns.isOver()) yield turns.next()
      const record = checked(given, options.head)
      const duplicate = record.id === undefined ? 0 : yield* staging.duplicateOf(record.id, record, isRetry)
      if (duplicate > 0) {
        places.push(duplicate)
        continue
      }
      if (entries.length === 0 && expected !== undefined && expected !== length) throw this.conflict(expected, length)
      const staged = yield* staging.take(record)
      const refused = refusal(staged, this.core.sessionId)
      if (refused !== undefined) throw refused
      entries.push(staged.logEntry)
      places.push(staged.pos)
    }
    return { entries, receipt: receiptOf(places, entries.length) }
  }

  private conflict(expected: number, actual: number): AsrError {
    const message = `stream ${JSON.stringify(this.core.sessionId)} has ${counted(actual, 'record')}, not ${expected}`
    return new AsrError('ASR_CONFLICT', message, { sessionId: this.core.sessionId, actual })
  }
}

function publish(core: StreamCore, calls: Group['calls'], staging: Staging, locations: readonly number[]): void {
  const recordLocations: number[] = []
  let { header } = core.index.state
  let at = 0
  for (const { entries, header: revised } of calls) {
    for (const entry of entries) {
      const location = locations[at++]
      if (entry.kind === ENTRY_KIND.record) recordLocations.push(location)
      else if (revised !== undefined) header = { location, hash: entry.hash, agent: agentOf(revised) }
    }
  }
  staging.publish(core.index, recordLocations, core.log.end)
  if (header !== core.index.state.header) core.index.state = { ...core.index.state, header }
}

/** A record that append can take; with the head it is to name. @throws ASR_BAD_RECORD, and why it could not be copied */
function checked(given: AsrRecord | AsrError, head: string | undefined): AsrRecord {
  if (given instanceof AsrError) throw given
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new AsrError('ASR_BAD_RECORD', 'a record is an object')
  }
  if (typeof given.id === 'string' && !given.id.isWellFormed())
    throw new AsrError('ASR_BAD_VALUE', '`id` holds a lone surrogate')
  const fault = badField(given) ?? (given.type === 'header' ? 'a record can not be of type "header"' : undefined)
  if (fault !== undefined)
    throw new AsrError('ASR_BAD_RECORD', fault, typeof given.id === 'string' ? { recordId: given.id } : {})
  if (head === undefined || given.type === 'head' || Object.hasOwn(given, 'head')) return given
  const named = shallowCopy(given)
  named.head = head
  return named
}

function receiptOf(places: readonly number[], appended: number): Receipt {
  const first = places.reduce((least, pos) => Math.min(least, pos), places[0] ?? 0)
  const last = places.reduce((most, pos) => Math.max(most, pos), 0)
  return { first, last, appended, duplicates: places.length - appended }
}
