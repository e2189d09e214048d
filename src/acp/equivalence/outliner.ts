/**
 * From the live entities of a path, in order, to the entities that ACP knows: those that share an id are one, which stands
 * where the first does and says what the last does.
 */

import { hashText } from '../../base/hash.js'
import { LargeMap, LargeSet } from '../../base/large.js'
import { turns } from '../../base/turn.js'
import { canonicalText } from '../../record/canonical.js'
import { type StoredRecord, statedEntityId } from '../../record/record.js'
import { objectOf, textOf } from '../json.js'
import { REPLAY_LOSS } from '../losses.js'
import type { Roots } from '../paths.js'
import type { PathLookup } from '../replay/lookup.js'
import { LossReport } from '../replay/loss-report.js'
import { messageLoss } from '../replay/message.js'
import type { ComparedKind } from './api.js'
import { EMPTY_RESULT } from './left-out.js'
import { isRecorded, normalCall, normalChange, normalCompaction, normalMessage, normalResult } from './normal.js'

/** What a record says of an entity, and where in the entity's normal form that stands. */
export interface Part {
  pointer: string
  recordId: string
  hash: bigint
  /** what it says, from the record again */
  read(record: StoredRecord): unknown
}

export interface Outlined {
  kind: ComparedKind
  id: string
  parts: Part[]
  /** it is not compared, nor what the other stream has under its id */
  isLeftOut?: boolean
}

interface CallResult {
  part: Part
  /** it says nothing at all */
  isEmpty: boolean
  /** it is there for a recorder, also without changes to files */
  isRecorded: boolean
}

interface Call {
  parts: Part[]
  /** no result has closed it yet */
  isOpen: boolean
  result: CallResult | undefined
  changes: Part[]
}

/** For what is read again, and what is not in the view. */
const NOT_COUNTED = new LossReport()

function entityKey(kind: ComparedKind, id: string): string {
  return `${kind}\n${id}`
}

export class Outliner {
  hasStarted: boolean
  readonly losses = new LossReport()
  private readonly entities = new LargeMap<Outlined>()
  /** by id; before `open` all are closed */
  private readonly calls = new LargeMap<{ all: Call[]; open: number }>()
  /** ids that were told before the compaction: ACP has their entities there */
  private readonly before = new LargeSet<string>()

  constructor(
    private readonly roots: Roots,
    private readonly lookup: PathLookup,
    /** the id of the compaction that the view begins at */
    private readonly start: string | undefined,
  ) {
    this.hasStarted = start === undefined
  }

  /** Takes the next live entity of the path, in force. A promise only when the index has to be asked. */
  take(record: StoredRecord): void | Promise<void> {
    switch (record.type) {
      case 'message':
      case 'tool_call':
      case 'compaction': {
        const stated = statedEntityId(record)
        if (stated !== undefined) return this.tell(record, stated)
        if (record.supersedes === undefined) return this.tell(record, record.id)
        return this.lookup.founderId(record).then((id) => this.tell(record, id))
      }
      case 'tool_result':
        return this.takeResult(record)
      case 'file_change':
        return this.takeChange(record)
      case 'instructions':
        this.leaveOut('instructions', record)
    }
  }

  /** The path is at its end: calls are what they came to. */
  async end(): Promise<LargeMap<Outlined>> {
    for (const [, { all }] of this.calls) {
      for (const call of all) {
        if (turns.isOver()) await turns.next()
        this.settle(call)
      }
    }
    return this.entities
  }

  private tell(record: StoredRecord, id: string): void {
    if (record.type === 'compaction') this.tellCompaction(record, id)
    else if (record.type === 'tool_call') this.tellCall(record, id)
    else this.tellMessage(record, id)
  }

  private tellMessage(record: StoredRecord, id: string): void {
    const loss = messageLoss(record)
    if (loss !== undefined) {
      if (loss !== REPLAY_LOSS.notice) this.leaveOut(loss, record)
      return
    }
    const isLeftOut = record.audience === 'user'
    if (isLeftOut) this.leaveOut(REPLAY_LOSS.audience, record)
    const losses = isLeftOut ? NOT_COUNTED : this.counted
    for (const [index, { kind, id: ownId, value }] of normalMessage(record, id, losses).entries()) {
      const read = (again: StoredRecord): unknown => normalMessage(again, id, NOT_COUNTED)[index]?.value
      this.put({ kind, id: ownId, parts: [partOf('', record, value, read)], isLeftOut })
    }
  }

  private tellCompaction(record: StoredRecord, id: string): void {
    if (id !== this.start) return
    this.hasStarted = true
    const read = (again: StoredRecord): unknown => normalCompaction(again, NOT_COUNTED)
    const parts = [partOf('', record, normalCompaction(record, this.losses), read)]
    this.put({ kind: 'compaction', id, parts })
  }

  private tellCall(record: StoredRecord, id: string): void {
    const { roots } = this
    const read = (again: StoredRecord): unknown => normalCall(again, roots, NOT_COUNTED)
    const value = normalCall(record, roots, this.counted)
    const parts = [partOf('', record, value, read)]
    this.put({ kind: 'tool_call', id, parts })
    const calls = this.calls.get(id) ?? { all: [], open: 0 }
    this.calls.set(id, calls)
    calls.all.push({ parts, isOpen: typeof record.callId === 'string', result: undefined, changes: [] })
  }

  /** A result belongs to the earliest call of its id that is open; a partial one leaves it open (CORE-25). */
  private takeResult(record: StoredRecord): void {
    const callId = statedEntityId(record)
    const call = callId === undefined ? undefined : this.firstOpen(callId)
    if (call === undefined) {
      this.leaveOut(REPLAY_LOSS.unpairedResult, record)
      return
    }
    call.isOpen = record.status === 'partial'
    const value = normalResult(record, this.roots, this.counted)
    const read = (again: StoredRecord): unknown => normalResult(again, this.roots, NOT_COUNTED)
    const isEmpty = Object.keys(value).length === 0
    call.result = { part: partOf('/result', record, value, read), isEmpty, isRecorded: isRecorded(value) }
  }

  private firstOpen(callId: string): Call | undefined {
    const calls = this.calls.get(callId)
    if (calls === undefined) return undefined
    while (calls.all[calls.open]?.isOpen === false) calls.open++ // for good: none is opened again
    return calls.all[calls.open]
  }

  private takeChange(record: StoredRecord): void {
    const callId = textOf(objectOf(record.cause)?.callId)
    const call = callId === undefined ? undefined : this.calls.get(callId)?.all.at(-1)
    if (call === undefined) {
      this.leaveOut(REPLAY_LOSS.fileChange, record)
      return
    }
    const value = normalChange(record, this.roots, this.counted)
    if (value === undefined) return
    const read = (again: StoredRecord): unknown => normalChange(again, this.roots, NOT_COUNTED)
    call.changes.push(partOf(`/changes/${call.changes.length}`, record, value, read))
  }

  /** A result that a recording of the replay would not hold is none. */
  private settle({ parts, result, changes }: Call): void {
    if (result !== undefined && !result.isEmpty) {
      if (changes.length > 0 || result.isRecorded) parts.push(result.part)
      else this.losses.add(EMPTY_RESULT, result.part.recordId)
    }
    for (const change of changes) parts.push(change)
  }

  /** An entity takes its place, or that of an earlier one of its id; before the compaction it only has its id. */
  private put(entity: Outlined): void {
    const key = entityKey(entity.kind, entity.id)
    if (!this.hasStarted) {
      this.before.add(key)
      return
    }
    const isShared = this.before.has(key) || this.entities.has(key)
    if (isShared) this.losses.add(REPLAY_LOSS.sharedId, entity.parts[0].recordId)
    if (!this.before.has(key)) this.entities.set(key, entity)
  }

  private leaveOut(loss: string, { id }: StoredRecord): void {
    this.counted.add(loss, id)
  }

  /** What lies before the compaction is in no view, and so is not left out of it. */
  private get counted(): LossReport {
    return this.hasStarted ? this.losses : NOT_COUNTED
  }
}

function partOf(pointer: string, { id }: StoredRecord, value: unknown, read: Part['read']): Part {
  return { pointer, recordId: id, hash: hashText(canonicalText(value)), read }
}
