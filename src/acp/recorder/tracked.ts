/**
 * An entity on its way to the log: its state, what of it is written, and what has to be written now.
 */
import type { AsrRecord } from '../../record/record.js'
import { sameJson } from '../json.js'
import { changeId } from './kinds/tool-call.js'
import type { EntityKind, Slot, SlotContext, Stored } from './slot.js'

/** A record that has its place; its id is known once it was handed to the store. */
export interface Ref {
  id?: string
  /** it was refused, and a gap stands in its place: a revision of it is one of the record before, or the first */
  refused?: { before: Ref | undefined }
}

/** Bytes of the native file (ASR-723): `from` is the first, `to` is behind the last. */
export interface FrameRange {
  file: string
  from: number
  to: number
}

/** When an entity was first seen (ASR-707). */
export interface Times {
  ts?: string
  tsSource?: string
  observedAt?: string
}

export interface Draft {
  ref: Ref
  /** all but the fields that the writer sets from the refs here */
  record: AsrRecord
  supersedes?: Ref
  /** what a tombstone ends */
  target?: Ref
  /** how far a compaction reaches (ASR-719) */
  through?: Ref
  /** a record that is named by another one's id */
  under?: { ref: Ref; number: number }
  /** a copy of a parent's record (ASR-718) */
  copiedFrom?: { session: string; id: string; proof: 'native_id' }
}

export interface Written {
  ref: Ref
  /** the slot's first record, after which detached ones are named */
  first: Ref
  body: AsrRecord
  detached: boolean
}

export class Tracked<S = unknown> {
  readonly written = new Map<string, Written>()
  /** how many detached records there ever were */
  detached = 0
  /** it stands in the log, or is on its way there */
  placed = false
  /** it changed since it was written */
  dirty = true
  /** it was written as something that still goes on: the end of the turn may say otherwise */
  partial = false
  /** the connection on which an answer to it may still come */
  awaiting: object | undefined
  /** the connection that told of it last while it was live */
  teller: object | undefined
  /** how often it was told of live */
  tellings = 0
  /** how far it reaches, when it is a compaction */
  through: Ref | undefined
  /** it was let go and told of again, and may be so once more */
  comesBack = false

  constructor(
    readonly kind: EntityKind<S>,
    public state: S,
    public times: Times,
    public frames: FrameRange | undefined,
  ) {}

  /** Notes what the store has of it. */
  adopt({ slots, detached }: Stored): void {
    for (const [name, { first, inForce, revisions }] of slots) {
      const record = inForce ?? revisions[revisions.length - 1]
      this.written.set(name, {
        ref: { id: record.id },
        first: { id: first.id },
        body: bodyOf(record),
        detached: record.type === 'file_change',
      })
    }
    this.detached = detached
    this.placed = true
    this.dirty = false
    this.comesBack = true
  }

  /** A connection told of it, live. */
  toldBy(teller: object): void {
    this.teller = teller
    this.tellings++
  }

  /** One more frame spoke of it. */
  seen(frames: FrameRange | undefined): void {
    if (frames === undefined) return
    this.frames = this.frames?.file === frames.file ? { ...this.frames, to: frames.to } : frames
  }
}

/** What of a stored record is its body: the fields that the entity's state gives. */
export function bodyOf(record: AsrRecord): AsrRecord {
  const { id, seq, parentId, head, supersedes, ts, tsSource, observedAt, copiedFrom, replaces, native, ...body } =
    record
  return native?.record === undefined ? body : { ...body, native: { record: native.record } }
}

export function timesOf({ ts, tsSource, observedAt }: AsrRecord): Times {
  return {
    ...(ts !== undefined && { ts }),
    ...(tsSource !== undefined && { tsSource }),
    ...(observedAt !== undefined && { observedAt }),
  }
}

export interface WriteOptions extends SlotContext {
  /** write it whatever it has grown; else what still grows is written again when it is twice as long */
  force?: boolean
  /** everything counts as still growing */
  snapshot?: boolean
}

/** What has to be written of an entity for the log to say what it is now (ASR-705, ASR-706). */
export function draftsOf(tracked: Tracked, options: WriteOptions): Draft[] {
  const slots = tracked.kind.slots(tracked.state, options)
  tracked.dirty = false
  tracked.placed = true
  tracked.partial = slots.some(({ growing }) => growing)
  const drafts: Draft[] = []
  for (const slot of slots) {
    const before = tracked.written.get(slot.name)
    if (before !== undefined && sameJson(before.body, slot.body)) continue
    if (before !== undefined && !options.force && (slot.growing || options.snapshot) && !hasDoubled(before, slot)) {
      tracked.dirty = true
      continue
    }
    drafts.push(slotDraft(tracked, slot, slot.body))
  }
  return [...drafts, ...goneDrafts(tracked, slots)]
}

/** The draft of a slot's record, new or a revision of the one before. */
export function slotDraft(tracked: Tracked, slot: Slot, body: AsrRecord): Draft {
  const before = tracked.written.get(slot.name)
  const draft: Draft = { ref: {}, record: recordOf(tracked, body) }
  if (before !== undefined) draft.supersedes = before.ref
  else if (slot.detached) {
    const call = tracked.written.get('tool_call')
    if (call !== undefined) draft.under = { ref: call.first, number: tracked.detached++ }
  }
  if (tracked.through !== undefined) draft.through = tracked.through
  const { ref } = draft
  tracked.written.set(slot.name, { ref, first: before?.first ?? ref, body, detached: slot.detached ?? false })
  return draft
}

/** The id of a record that is named by another one's. */
export function idUnder({ ref, number }: NonNullable<Draft['under']>): string {
  return changeId(ref.id ?? '', number)
}

function recordOf({ times, frames }: Tracked, body: AsrRecord): AsrRecord {
  const { type, native, ...fields } = body
  const kept = { ...native, ...(frames && { ref: frames }) }
  return { type, ...times, ...fields, ...(Object.keys(kept).length > 0 && { native: kept }) }
}

/** Tombstones for detached records whose slot is gone. */
function goneDrafts(tracked: Tracked, slots: readonly Slot[]): Draft[] {
  const drafts: Draft[] = []
  const names = new Set(slots.map(({ name }) => name))
  for (const [name, { ref, detached }] of tracked.written) {
    if (!detached || names.has(name)) continue
    tracked.written.delete(name)
    drafts.push({ ref: {}, record: recordOf(tracked, { type: 'tombstone' }), target: ref })
  }
  return drafts
}

function hasDoubled(before: Written, slot: Slot): boolean {
  return JSON.stringify(slot.body).length >= 2 * JSON.stringify(before.body).length
}
