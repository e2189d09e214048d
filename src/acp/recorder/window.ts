/**
 * A replay window (ASR-717, ASR-718): what an agent tells again while it opens a session is gathered, and compared with
 * what is recorded once the window closes.
 */
import type { AsrRecord } from '../../record/record.js'
import { isUndone } from '../fold/status.js'
import { isObject, type JsonObject, sameJson } from '../json.js'
import type { AnyKind } from './kinds/updates.js'
import type { Slot, SlotContext } from './slot.js'
import { type Draft, slotDraft, type Tracked } from './tracked.js'

/** The parent whose history is told, and how much of it there was when it was forked. */
export interface Fork {
  parent: string
  length: Promise<number>
}

export interface Told {
  kind: AnyKind
  id: string
  tracked: Tracked
  /** what was told of something that is open in memory, one by one, and how often that had been told of live by then */
  live?: { updates: JsonObject[]; tellings: number }
}

export class Window {
  /** what was told, in first-seen order */
  readonly entities = new Map<string, Told>()
  /** what is open in memory, and was told whole: chunks go on with it */
  readonly retold = new Set<string>()
  /** updates that are a record each */
  readonly events: { record: AsrRecord; tracked: Tracked }[] = []

  constructor(
    readonly fork?: Fork,
    /** further requests on the connection that wait for a replay of their own */
    public waiting = 0,
  ) {}
}

/** The trace context of a notification says nothing of what it tells. */
export const TRACE_KEYS = ['traceparent', 'tracestate', 'baggage']

/** Fields that tell how a record came about, not what the agent told. */
const NOT_TOLD: ReadonlySet<string> = new Set(['assembly', 'capture', 'native', 'linkage', 'callIdSource'])

/**
 * What has to be written for a replayed entity. Only what the replay carries is compared (M23): an empty list, a status
 * that is not final and a patch that is left out say nothing, so a poorer replay takes nothing away.
 */
export function replayDrafts(told: Tracked, known: Tracked | undefined, context: SlotContext): Draft[] {
  const slots = told.kind.slots(told.state, { ...context, stage: 'end' })
  const target = known ?? told
  const drafts: Draft[] = []
  for (const slot of slots) {
    const before = known?.written.get(slot.name)
    const body = before === undefined ? slot.body : merged(before.body, slot.body)
    if (before !== undefined && sameJson(before.body, body)) continue
    target.seen(told.frames)
    drafts.push(slotDraft(target, slot, body))
  }
  return drafts
}

export function isChunk({ sessionUpdate }: JsonObject): boolean {
  return String(sessionUpdate).endsWith('_chunk')
}

/** Whether an update says what the content of an entity is, whatever it was. */
export function tellsContent(update: JsonObject): boolean {
  return !isChunk(update) && ['content', 'summary', 'output'].some((field) => update[field] !== undefined)
}

/**
 * How content that was told in chunks stands to what is known: it is that again, or the beginning of it (`within`), or that
 * and more (`beyond`), or it goes on where what is known ends (`behind`).
 */
export function placeOf(told: Tracked, known: Tracked, context: SlotContext): 'within' | 'beyond' | 'behind' {
  const [more, before] = [told, known].map(({ kind, state }) => contentText(kind.slots(state, context)))
  if (before.startsWith(more)) return 'within'
  return more.startsWith(before) ? 'beyond' : 'behind'
}

/** What grows of an entity, open at its end. */
function contentText(slots: readonly Slot[]): string {
  const grown = slots.map(({ body }) => body.content ?? body.displayContent ?? body.summary ?? body.output?.blob ?? '')
  return JSON.stringify(grown.filter((content) => content !== '')).replace(/["\]}=]+$/, '')
}

/** Whether a replay tells anything else of an entity than is known of it. */
export function tellsOther(told: Tracked, known: Tracked, context: SlotContext): boolean {
  const bodies = new Map(known.kind.slots(known.state, context).map(({ name, body }) => [name, body]))
  return told.kind.slots(told.state, context).some(({ name, body }) => {
    const before = bodies.get(name)
    return before === undefined || !sameJson(before, merged(before, body))
  })
}

function merged(before: AsrRecord, told: AsrRecord): AsrRecord {
  const body: AsrRecord = { ...before }
  for (const [field, value] of Object.entries(told)) {
    if (field === '_meta') body._meta = { ...before._meta, ...withoutTrace(value) }
    else if (field === 'status' ? isNewStatus(before, value) : isTold(field, value)) body[field] = value
  }
  if (body._meta !== undefined && Object.keys(body._meta).length === 0) delete body._meta
  return isObject(before.capture) ? withCapture(body, before.capture) : body
}

function isTold(field: string, value: unknown): boolean {
  if (NOT_TOLD.has(field)) return false
  if (field === 'precision') return value !== 'unknown'
  if (!Array.isArray(value)) return true
  return value.some((item) => !isObject(item) || item.type !== 'reasoning' || item.text !== '')
}

/** Of a change to a file, what is told is how it ended; of all else, a status that is not final takes back none that is. */
function isNewStatus({ type, status }: AsrRecord, told: unknown): boolean {
  if (told === 'partial' || told === 'proposed') return false
  return type === 'file_change' || !isUndone(status, told)
}

function withoutTrace(meta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !TRACE_KEYS.includes(key)))
}

/** What has a value now is not said to be absent any more. */
function withCapture(body: AsrRecord, capture: JsonObject): AsrRecord {
  const left = Object.entries(capture).filter(([field]) => body[field] === undefined)
  const { capture: _, ...rest } = body
  return left.length === 0 ? rest : { ...rest, capture: Object.fromEntries(left) }
}
