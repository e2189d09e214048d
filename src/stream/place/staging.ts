/**
 * Records on their way in: placed one behind the other on top of what is stored, visible to nobody until published.
 */

import { AsrError } from '../../base/error.js'
import type { Flow } from '../../base/flow.js'
import { DEFAULT_ID, type Entry } from '../../index/entry.js'
import { entityKey } from '../../index/keys/key-run.js'
import type { RecordName } from '../../index/keys/page-keys.js'
import type { StreamState } from '../../index/root.js'
import type { StreamIndex } from '../../index/stream-index.js'
import { FLAG_GAP, FLAG_ORPHAN, type LogPoint } from '../../log/api.js'
import { JudgedEntry } from '../../log/log-entry.js'
import { appendAssigned } from '../../record/assigned-text.js'
import { canonicalText } from '../../record/canonical.js'
import { type AsrRecord, PRIMARY, type StoredRecord } from '../../record/record.js'
import { assignedSeq, withAssigned } from '../../record/validate.js'
import type { Lookup } from './lookup.js'
import { currentTarget, type Fault, type Lineage, type Placed, place, type Surroundings } from './placement.js'

/** A record that append or import accepts. */
export interface Staged extends Placed {
  pos: number
  record: StoredRecord
  logEntry: JudgedEntry
  /** the parent that was named and is not there (CORE-12) */
  missingParentId?: string
}

/** How a record came in: by append, which refuses what import keeps. */
export interface Arrival {
  /** the line, when JSON does not give it back */
  text?: string
  /** import: right behind a refused line */
  gap?: boolean
}

/** Of so many seqs that came more than once it is remembered which default ids are taken. */
const SEQS_HELD_MAX = 1_000

function defaultId(seq: number, n: number): string {
  return n === 0 ? `r${seq}` : `r${seq}.${n}`
}

const DEFAULT_ID_FORM = /^r[0-9]+(?:\.[0-9]+)?$/

export class Staging implements Surroundings {
  private readonly fresh: Placed[] = []
  private readonly records: StoredRecord[] = []
  /** where the ids of `records` stand: of so many of them, the others are added when somebody asks */
  private readonly ids = new Map<string, number>()
  private identified = 0
  private plans = new Map<string, number>()
  /** as `Lookup.defaultIdsTaken`, also of this staging */
  private readonly defaultIdsPassed = new Map<number, number>()
  private heads = new Map<string, number | undefined>()
  private lastSeq: number
  private updatedAt: string | null
  private defaultIdsTaken: boolean

  constructor(
    private readonly lookup: Lookup,
    private readonly base: StreamState = lookup.index.state,
  ) {
    this.lastSeq = base.lastSeq
    this.updatedAt = base.updatedAt
    this.defaultIdsTaken = base.defaultIdsTaken
  }

  get length(): number {
    return this.base.point.pos + this.fresh.length
  }

  /** The position of a record that is already there and is the same as this one (CORE-21), or 0. @throws ASR_ID_CONFLICT */
  *duplicateOf(recordId: string, record: AsrRecord, isSame = sameButAssigned): Flow<number> {
    const pos = yield* this.find(recordId)
    if (pos === 0 || isSame(record, yield* this.storedRecord(pos))) return pos
    throw new AsrError('ASR_ID_CONFLICT', `another record has the id ${JSON.stringify(recordId)}`, { recordId })
  }

  /**
   * Takes a record in: assigns what it lacks, resolves its parent, judges it, places it (CORE-4, CORE-11).
   * @throws ASR_BAD_RECORD, ASR_BAD_VALUE, ASR_TOO_DEEP, ASR_TOO_LARGE: no reader would take what was written
   */
  *take(given: AsrRecord, arrival: Arrival = {}): Flow<Staged> {
    const pos = this.length + 1
    const seq = given.seq ?? assignedSeq(pos, this.lastSeq)
    if (!Number.isSafeInteger(seq)) throw new AsrError('ASR_BAD_RECORD', `no seq is left behind ${this.lastSeq}`)
    const id = given.id ?? (this.defaultIdsTaken || seq < pos ? yield* this.freeId(seq) : `r${seq}`)
    const record = withAssigned(given, seq, id) as StoredRecord
    const lineage =
      typeof record.parentId === 'string' ? yield* this.named(record) : this.implied(record, arrival.gap ?? false)
    const missingParentId = lineage.orphan ? (record.parentId as string) : undefined
    const flags = (lineage.gap ? FLAG_GAP : 0) | (lineage.orphan ? FLAG_ORPHAN : 0)
    const text = arrival.text === undefined ? undefined : appendAssigned(arrival.text, given, record)
    const { parent } = lineage
    const logEntry = JudgedEntry.record(this.lookup.log.sessionId, record, { pos, parent, flags }, text)
    const rises = record.seq > this.lastSeq || pos === 1
    const placed = yield* place(this, record, pos, lineage)
    this.keep(placed, record, pos)
    if (!rises) placed.faults.push({ code: 'seq_not_rising', message: `seq ${record.seq} does not rise` })
    const { entry, keys, name, faults } = placed
    return { entry, keys, name, faults, pos, record, logEntry, missingParentId }
  }

  /** Places a record that comes from the log, with the parent resolved when it went in. */
  *add(record: StoredRecord, pos: number, lineage: Lineage): Flow<Placed> {
    const placed = yield* place(this, record, pos, lineage)
    this.keep(placed, record, pos)
    return placed
  }

  private keep(placed: Placed, record: StoredRecord, pos: number): void {
    this.fresh.push(placed)
    this.records.push(record)
    if (record.type === 'plan' && typeof record.planId === 'string' && !this.plans.has(record.planId)) {
      this.plans.set(record.planId, pos)
    }
    this.lastSeq = record.seq
    if (typeof record.ts === 'string') this.updatedAt = record.ts
    if ((placed.entry.flags & DEFAULT_ID) === 0 && DEFAULT_ID_FORM.test(record.id)) this.defaultIdsTaken = true
  }

  /** The stream's state once all that was taken stands in the log up to a point. */
  stateAt(point: LogPoint): StreamState {
    const { lastSeq, updatedAt, defaultIdsTaken } = this
    let { heads } = this.base
    if (this.heads.size > 0) {
      const moved = heads as Map<string, number> // one map a stream: copying a thousand heads at each append would cost more than the append
      for (const [name, pos] of this.heads) {
        if (pos === undefined) moved.delete(name)
        else moved.set(name, pos)
      }
      heads = moved
    }
    return { header: this.base.header, point, lastSeq, updatedAt, defaultIdsTaken, heads }
  }

  /** Hands what was taken to the index, each record at its location in the log. */
  publish(index: StreamIndex, locations: readonly number[], point: LogPoint): void {
    for (const [i, { entry, keys, name }] of this.fresh.entries()) {
      entry.location = locations[i]
      index.push(entry, keys, name)
    }
    index.state = this.stateAt(point)
    const { defaultIdsTaken } = this.lookup
    if (defaultIdsTaken.size > SEQS_HELD_MAX) defaultIdsTaken.clear()
    for (const [seq, taken] of this.defaultIdsPassed) defaultIdsTaken.set(seq, taken)
  }

  /** Where things stand, to come back to when a later record of the same append is refused. */
  savepoint(): () => void {
    const { fresh, lastSeq, updatedAt, defaultIdsTaken } = this
    const { length } = fresh
    const heads = copyOf(this.heads)
    const plans = copyOf(this.plans)
    return () => {
      this.fresh.splice(length)
      this.defaultIdsPassed.clear() // what was passed over may be free again
      for (const { id } of this.records.splice(length)) this.ids.delete(id)
      this.identified = Math.min(this.identified, length)
      this.heads = heads ?? new Map()
      this.plans = plans ?? new Map()
      Object.assign(this, { lastSeq, updatedAt, defaultIdsTaken })
    }
  }

  *find(id: string): Flow<number> {
    const { records, base } = this
    while (this.identified < records.length) {
      const record = records[this.identified++]
      this.ids.set(record.id, base.point.pos + this.identified)
    }
    return this.ids.get(id) ?? (yield* this.lookup.find(id))
  }

  placed(pos: number): Entry | undefined {
    const { base } = this
    return pos > base.point.pos ? this.fresh[pos - base.point.pos - 1]?.entry : this.lookup.index.newestAt(pos)
  }

  *entry(pos: number): Flow<Entry> {
    return this.placed(pos) ?? (yield* this.lookup.index.entry(pos))
  }

  *name(pos: number): Flow<RecordName> {
    return this.fresh[pos - this.base.point.pos - 1]?.name ?? (yield* this.lookup.name(pos))
  }

  *firstPlan(planId: string): Flow<number> {
    for (const pos of yield* this.lookup.index.candidates(entityKey('plan', planId))) {
      const { type } = yield* this.lookup.index.entry(pos)
      if (type === 'plan' && (yield* this.lookup.name(pos)).stated === planId) return pos
    }
    return this.plans.get(planId) ?? 0
  }

  head(name: string): number | undefined {
    return this.heads.has(name) ? this.heads.get(name) : this.base.heads.get(name)
  }

  setHead(name: string, pos: number | undefined): void {
    this.heads.set(name, pos)
  }

  /** The stored record at a position, also of this staging. */
  *storedRecord(pos: number): Flow<StoredRecord> {
    return this.records[pos - this.base.point.pos - 1] ?? (yield* this.lookup.record(pos))
  }

  /** The first default id that nobody took; until somebody takes one out of turn, `r<seq>` is free from the position on. */
  private *freeId(seq: number): Flow<string> {
    let n = Math.max(this.lookup.defaultIdsTaken.get(seq) ?? 0, this.defaultIdsPassed.get(seq) ?? 0)
    while ((yield* this.find(defaultId(seq, n))) > 0) n++
    this.defaultIdsPassed.set(seq, n)
    return defaultId(seq, n)
  }

  /** The parent where none is named: the head's current target, none of a head record, none where null says so (CORE-11). */
  private implied({ parentId, head, type }: StoredRecord, gap: boolean): Lineage {
    if (parentId === null || type === 'head') return ROOT
    return { parent: currentTarget(this, head), orphan: false, gap }
  }

  /** The named parent, when it is an earlier record that can be one (CORE-12). */
  private *named({ parentId, type }: StoredRecord): Flow<Lineage> {
    if (type === 'head') return ROOT
    const parent = yield* this.find(parentId as string)
    const isParent = parent > 0 && (yield* this.entry(parent)).type !== 'head'
    return { parent: isParent ? parent : 0, orphan: !isParent, gap: false }
  }
}

/** A copy, made only of what holds something: a savepoint is taken for each call. */
function copyOf<K, V>(map: Map<K, V>): Map<K, V> | undefined {
  return map.size === 0 ? undefined : new Map(map)
}

const ROOT: Lineage = { parent: 0, orphan: false, gap: false }

/** Whether a record equals a stored one, but for `seq`, `head` and `id` where it leaves them out (CORE-21). */
export function sameButAssigned(given: AsrRecord, stored: StoredRecord): boolean {
  const complete: AsrRecord = { ...given }
  for (const field of ['seq', 'head', 'id']) {
    if (!Object.hasOwn(given, field) && Object.hasOwn(stored, field)) complete[field] = stored[field]
  }
  return canonicalText(complete) === canonicalText(stored)
}

/** Whether append is given a stored record again: to name the default head is to name none (CORE-21). */
export function isRetry(given: AsrRecord, stored: StoredRecord): boolean {
  const { head, ...unnamed } = given
  return sameButAssigned(head === PRIMARY && !Object.hasOwn(stored, 'head') ? (unnamed as AsrRecord) : given, stored)
}

/** The error that append gives for what import keeps and reports. */
export function refusal(staged: Staged, sessionId: string): AsrError | undefined {
  const details = { sessionId, recordId: staged.record.id }
  if (staged.missingParentId !== undefined) {
    return new AsrError(
      'ASR_PARENT_UNKNOWN',
      `no earlier record on a path has the id ${JSON.stringify(staged.missingParentId)}`,
      details,
    )
  }
  const fault = staged.faults.find(({ code }) => code in REFUSED_BY_APPEND)
  return fault && new AsrError(REFUSED_BY_APPEND[fault.code as keyof typeof REFUSED_BY_APPEND], fault.message, details)
}

const REFUSED_BY_APPEND = {
  supersedes_unknown: 'ASR_SUPERSEDES_UNKNOWN',
  supersedes_mismatch: 'ASR_SUPERSEDES_MISMATCH',
  target_unknown: 'ASR_TARGET_UNKNOWN',
  head_target: 'ASR_HEAD_TARGET',
} as const satisfies { [code in Fault['code']]?: string }
