/**
 * Closing a replay window: what was told again is compared with what is recorded (ASR-717, ASR-718).
 */
import type { AsrRecord } from '../../record/record.js'
import type { Entity, Stream } from '../../stream/api.js'
import { NO_CONTENT } from '../fold/content.js'
import { isUndone } from '../fold/status.js'
import { type JsonObject, sameJson } from '../json.js'
import type { Connection } from './connection.js'
import { applyInfo } from './info.js'
import type { Session } from './session.js'
import type { SlotContext, Stored } from './slot.js'
import { lastOf, lastParticipating, revived } from './stored.js'
import type { Draft, Tracked } from './tracked.js'
import { isChunk, placeOf, replayDrafts, type Told, tellsContent, tellsOther, type Window } from './window.js'

/** Writes what a replay told that is not recorded, or not so, and nothing twice. */
export async function closeWindow(session: Session, connection: Connection): Promise<void> {
  const window = session.windows.get(connection)
  if (window === undefined) return
  session.windows.delete(connection)
  const stream = await session.storedStream()
  const parent = await parentOf(session, window)
  let last: Draft | undefined
  for (const [key, told] of window.entities) {
    const { kind, id, tracked } = told
    const held = session.line.held.get(key)
    if (held !== undefined) {
      retell(session, held, told)
      continue
    }
    session.line.forget(key)
    const known = stream && (await revived(stream, kind, id, session.roots))
    if (known === undefined && kind.name === 'compaction') {
      tracked.through = session.line.last ?? (stream && (await lastParticipating(stream)))
    }
    const drafts = compared(session, tracked, known)
    if (parent !== undefined && known === undefined)
      await markCopies(drafts, tracked, parent, await kind.find(parent.stream, id))
    session.line.emit(drafts, drafts.length > 0 ? (kind.losses?.(tracked.state) ?? []) : [])
    last = drafts.at(-1) ?? last
  }
  if (last !== undefined) session.line.hasLetGo = true
  await compareEvents(session, window, stream)
  if (window.fork !== undefined && last !== undefined) localThrough(session, window.fork.parent, last)
}

function compared(session: Session, told: Tracked, known: Tracked | undefined): Draft[] {
  return replayDrafts(told, known, contextOf(session))
}

function contextOf({ roots, setup }: Session): SlotContext {
  return { roots, secretFields: setup.secretFields, clientIsPerson: false, stage: 'end' }
}

/**
 * What is open in memory takes what was told of it otherwise, and is written in its turn. Chunks that go on with it are live;
 * a replay of what was told of live meanwhile is behind that.
 */
function retell(session: Session, held: Tracked, { kind, tracked: told, live }: Told): void {
  const context = contextOf(session)
  const updates = live?.updates ?? []
  const isBehind = live !== undefined && live.tellings !== held.tellings
  const place = live === undefined || updates.some(tellsContent) ? 'whole' : placeOf(told, held, context)
  if (place === 'behind' || place === 'within') {
    const news = updates.filter((update) => (isChunk(update) ? place === 'behind' : !isBehind))
    if (news.length === 0) return
    for (const update of news) held.state = kind.fold(held.state, update) ?? held.state
  } else if ((isBehind && place === 'whole') || !tellsOther(told, held, context)) return
  else held.state = { ...(held.state as JsonObject), ...toldFields(told.state as JsonObject, held.state as JsonObject) }
  held.seen(told.frames)
  session.line.changed(held)
}

/** What a replay says of something; that it was under way once is no news of what is over. */
function toldFields(state: JsonObject, held: JsonObject): JsonObject {
  const told = Object.entries(state).filter(([, value]) => value !== undefined && value !== NO_CONTENT)
  return Object.fromEntries(told.filter(([field]) => field !== 'status' || !isUndone(held.status, state.status)))
}

interface Parent {
  stream: Stream
  /** what was written of it when it was forked */
  length: number
}

/** Each record names the one of the parent that it is a copy of (ASR-718). */
async function markCopies(drafts: Draft[], told: Tracked, parent: Parent, original: Stored | undefined): Promise<void> {
  for (const [slot, { ref }] of told.written) {
    const id = await copiedId(parent, original?.slots.get(slot))
    const draft = drafts.find((one) => one.ref === ref)
    if (draft !== undefined && id !== undefined) {
      draft.copiedFrom = { session: parent.stream.sessionId, id, proof: 'native_id' }
    }
  }
}

/** The revision that was in force at the fork. */
async function copiedId({ stream, length }: Parent, entity: Entity | undefined): Promise<string | undefined> {
  for (const { id } of entity?.revisions.toReversed() ?? []) {
    if (((await stream.position(id)) ?? 0) <= length) return id
  }
  return undefined
}

async function parentOf({ setup }: Session, { fork }: Window): Promise<Parent | undefined> {
  if (fork === undefined) return undefined
  const length = await fork.length
  const stream = await setup.store.stream(fork.parent).catch(() => undefined)
  return stream && { stream, length }
}

/** The inherited history ends with this record (ASR-718). ACP has no mark for it, so this is where we take it to end. */
function localThrough(session: Session, parent: string, { ref }: Draft): void {
  const inherits = { mode: 'copied', from: parent, evidence: 'native_field' }
  session.writer.revise((header) => ({
    lineage: { ...header.lineage, inherits: { ...inherits, ...header.lineage?.inherits, localThroughId: ref.id } },
  }))
}

/** Of each type of event, what was told last stands for how things are: it is recorded when the stream says otherwise. */
async function compareEvents(session: Session, { events }: Window, stream: Stream | undefined): Promise<void> {
  const latest = new Map(events.map((event) => [event.record.type, event]))
  for (const { record, tracked } of events) {
    if (latest.get(record.type)?.record !== record && !record.type.includes('/')) continue
    if (record.type === 'session_info') {
      await applyInfo(session, record, { at: String(tracked.times.observedAt), frames: tracked.frames }, false)
      continue
    }
    if (await isRecorded(session, stream, record)) continue
    if (record.type === 'usage_summary') session.usage = record
    if (record.type === 'state') tracked.times = session.times(String(tracked.times.observedAt), true)
    session.line.add(tracked)
    if (record.type === 'state') session.line.stateChanged(record.state)
  }
}

async function isRecorded(session: Session, stream: Stream | undefined, record: AsrRecord): Promise<boolean> {
  const said = contentOf(record)
  const wanted = (other: AsrRecord): boolean => other.state !== 'resumed' && other.state !== 'ended'
  const last = session.line.lastEvent(record.type, wanted) ?? (stream && (await lastOf(stream, record.type, wanted)))
  return last !== undefined && sameJson(contentOf(last), said)
}

/** What an event says, without when and where it was said. */
function contentOf(record: AsrRecord): unknown {
  const { id, seq, ts, tsSource, observedAt, _meta, native, ...said } = record
  return record.type.includes('/') ? { ...said, record: native?.record } : said
}
