/**
 * What a `session/update` does to a session's recording.
 */
import type { AsrRecord } from '../../record/record.js'
import { isFinalStatus } from '../fold/status.js'
import { type JsonObject, sameJson } from '../json.js'
import { closeWindow } from './close-window.js'
import type { Connection } from './connection.js'
import { eventOf, unmapped } from './events.js'
import { applyInfo } from './info.js'
import { sessionMessageKind } from './kinds/session-message.js'
import { subagentKind } from './kinds/subagent.js'
import { type AnyKind, kindOfUpdate } from './kinds/updates.js'
import { eventTracked } from './line.js'
import type { Session } from './session.js'
import { lastOf, lastParticipating, revived } from './stored.js'
import { type FrameRange, Tracked } from './tracked.js'
import { isChunk, tellsContent, type Window } from './window.js'

/** Where an update was seen. */
export interface Seen {
  connection: Connection
  at: string
  frames: FrameRange | undefined
}

type Done = void | Promise<void>

export function entityKey(kind: AnyKind, id: string): string {
  return `${kind.name}\n${id}`
}

/** Folds an update, or records it. A promise only when the store has to be asked first. */
export function applyUpdate(session: Session, update: JsonObject, seen: Seen): Done {
  const window = session.windows.get(seen.connection)
  if (window?.fork !== undefined && update.sessionUpdate === 'state_update') {
    return closeWindow(session, seen.connection).then(() => applyUpdate(session, update, seen))
  }
  const kind = kindOfUpdate(update)
  const id = kind?.idOf(update)
  if (kind === undefined || id === undefined) return applyEvent(session, update, seen)
  const key = entityKey(kind, id)
  const held = session.line.held.get(key)
  if (window !== undefined && isGathered(window, held, key, update, seen)) {
    if (session.mirror.isToldAgain(seen.connection, update)) return held?.seen(seen.frames)
    return foldTold(session, window, kind, id, update, held, seen)
  }
  if (session.live.size > 1 && session.mirror.isKnown(seen.connection, update)) return held?.seen(seen.frames)
  const here = held ?? session.line.recall(key)
  if (here !== undefined) return fold(session, kind, here, update, seen)
  if (!session.line.hasLetGo) return found(session, kind, id, update, seen)
  return revive(session, kind, id).then((known) =>
    known === undefined ? found(session, kind, id, update, seen) : fold(session, kind, known, update, seen),
  )
}

/**
 * Whether what is told in a window waits for its end. Of what is open in memory, updates are live, but for chunks, which may
 * tell its content again; and for what another connection tells of.
 */
function isGathered(
  window: Window,
  held: Tracked | undefined,
  key: string,
  update: JsonObject,
  { connection }: Seen,
): boolean {
  if (held === undefined || window.entities.has(key)) return true
  if (held.teller !== undefined && held.teller !== connection) return true
  if (tellsContent(update)) window.retold.add(key)
  return isChunk(update) && !window.retold.has(key)
}

/** An entity that the store may know, held again. */
export async function revive(session: Session, kind: AnyKind, id: string): Promise<Tracked | undefined> {
  const stream = await session.storedStream()
  const known = stream && (await revived(stream, kind, id, session.roots))
  if (known !== undefined) session.line.add(known, entityKey(kind, id))
  return known
}

/** A record that is none of an entity's, in its place. */
export function addEvent(session: Session, body: AsrRecord, { at, frames }: Seen): void {
  session.line.add(eventTracked(body, session.times(at, true), frames))
}

function applyEvent(session: Session, update: JsonObject, seen: Seen): Done {
  const event = eventOf(update)
  if (event === null) return
  const body = event === undefined ? unmapped(update) : withNoticeId(session, event, seen)
  const window = session.windows.get(seen.connection)
  if (window !== undefined && body.origin !== 'notice') {
    window.events.push({ record: body, tracked: eventTracked(body, session.times(seen.at, false), seen.frames) })
    return
  }
  if (body.type === 'session_info') return applyInfo(session, update, seen)
  if (body.type === 'usage_summary') return addUsage(session, body, seen)
  addEvent(session, body, seen)
  if (body.type === 'state') session.line.stateChanged(body.state)
}

/** Usage that is told again as it was is one record. */
function addUsage(session: Session, body: AsrRecord, seen: Seen): Done {
  const add = (last: AsrRecord | undefined): void => {
    if (last !== undefined && sameJson(usageIn(last), usageIn(body))) return
    session.usage = body
    addEvent(session, body, seen)
  }
  if (session.usage !== undefined || !session.line.hasLetGo) return add(session.usage)
  return session.storedStream().then(async (stream) => add(stream && (await lastOf(stream, body.type, () => true))))
}

function usageIn({ contextWindow, cost, _meta }: AsrRecord): unknown {
  return { contextWindow, cost, _meta }
}

/** A notice has no id of its own: it gets one, and the record says so (M10). */
function withNoticeId(session: Session, body: AsrRecord, { at }: Seen): AsrRecord {
  if (body.origin !== 'notice' || body.messageId !== undefined) return body
  const { type, ...rest } = body
  return { type, messageId: `notice:${at}:${session.notices++}`, idSource: 'derived', ...rest }
}

function foldTold(
  session: Session,
  window: Window,
  kind: AnyKind,
  id: string,
  update: JsonObject,
  held: Tracked | undefined,
  seen: Seen,
): Done {
  const key = entityKey(kind, id)
  const told = window.entities.get(key)?.tracked
  const state = mayFold(session, kind, told, update) ? kind.fold(told?.state, update) : undefined
  if (state === undefined) return applyEvent(session, update, seen)
  if (told === undefined) {
    const tracked = new Tracked(kind, state, session.times(seen.at, false), seen.frames)
    const live = held && { updates: [update], tellings: held.tellings }
    window.entities.set(key, { kind, id, tracked, live })
  } else {
    told.state = state
    told.seen(seen.frames)
    window.entities.get(key)?.live?.updates.push(update)
  }
}

function found(session: Session, kind: AnyKind, id: string, update: JsonObject, seen: Seen): Done {
  const state = mayFold(session, kind, undefined, update) ? kind.fold(undefined, update) : undefined
  if (state === undefined) return applyEvent(session, update, seen)
  const tracked = new Tracked(kind, state, session.times(seen.at, true), seen.frames)
  tracked.toldBy(seen.connection)
  session.line.told(tracked, isChunk(update))
  const add = (): void => {
    session.line.add(tracked, entityKey(kind, id))
    if (isToBeWritten(kind, tracked, undefined, update)) session.line.writeThrough(tracked)
  }
  return kind.name === 'compaction' ? reaching(session, tracked, add) : add()
}

/** What a compaction reaches must be in the log, so all that came before it is written first (ASR-719, M5). */
function reaching(session: Session, tracked: Tracked, add: () => void): Done {
  const { line } = session
  line.writeQueue()
  if (line.last !== undefined || !line.hasLetGo) {
    tracked.through = line.last
    return add()
  }
  return session.storedStream().then(async (stream) => {
    line.last ??= stream && (await lastParticipating(stream))
    tracked.through = line.last
    add()
  })
}

function fold(session: Session, kind: AnyKind, tracked: Tracked, update: JsonObject, seen: Seen): Done {
  const before = tracked.state
  const state = kind.fold(before, update)
  if (state === undefined) return applyEvent(session, update, seen)
  tracked.state = state
  tracked.toldBy(seen.connection)
  session.line.told(tracked, isChunk(update))
  session.line.changed(tracked)
  tracked.seen(seen.frames)
  if (isToBeWritten(kind, tracked, before, update)) session.line.writeThrough(tracked)
}

/** An update that makes an entity final, or says again that it is (ASR-705, ASR-706). A child comes before its traffic. */
function isToBeWritten(kind: AnyKind, { state }: Tracked, before: unknown, { status }: JsonObject): boolean {
  if (kind.name === subagentKind.name) return before === undefined
  if (!kind.isFinal?.(state)) return false
  return isFinalStatus(status) || before === undefined || !kind.isFinal(before)
}

/** A message between sessions is an entity where it was received; who received it is never guessed (ASR-735). */
function mayFold({ sessionId }: Session, kind: AnyKind, known: Tracked | undefined, update: JsonObject): boolean {
  if (kind.name !== sessionMessageKind.name || known !== undefined) return true
  return update.recipientSessionId === sessionId
}
