/**
 * What a frame of a session does to its recording.
 */
import type { AsrRecord } from '../../record/record.js'
import { askUser, type ElicitationState } from '../fold/elicitation.js'
import { foldPrompt, type MessageState } from '../fold/message.js'
import { answered, askPermission, type Outcome, outcomeOf, type PermissionState } from '../fold/permission.js'
import type { Message, RequestId } from '../frames.js'
import { isObject, type JsonObject, objectOf, sameJson, textOf, typedItems } from '../json.js'
import { directoriesOf } from '../paths.js'
import { ACP_VENDOR } from '../revision.js'
import { closeWindow } from './close-window.js'
import type { Asked, Connection } from './connection.js'
import { configChange, mark, vendorRecord } from './events.js'
import { gapOf } from './gap.js'
import { inputRequestKind } from './kinds/input-request.js'
import { MESSAGE_KINDS } from './kinds/message.js'
import { permissionKind } from './kinds/permission.js'
import type { AnyKind } from './kinds/updates.js'
import { type Session, withTraceContext } from './session.js'
import { lastOf } from './stored.js'
import { Tracked } from './tracked.js'
import { addEvent, applyUpdate, entityKey, revive, type Seen } from './update.js'
import { TRACE_KEYS, Window } from './window.js'

type Done = void | Promise<void>

export function applyRequest(session: Session, asked: Asked, seen: Seen): Done {
  asked.frames = seen.frames
  switch (asked.method) {
    case 'session/resume':
      return openWindow(session, seen.connection)
    case 'session/prompt':
      return closeFork(session, seen.connection)
    case 'session/request_permission':
      return requestPermission(session, asked, seen)
    case 'elicitation/create':
      return numbered(session, asked.id, seen, (id) => {
        const state = askUser(id, asked.params)
        asked.tracked = waiting(
          session,
          new Tracked(inputRequestKind, state, session.times(seen.at, true), seen.frames),
          seen.connection,
        )
      })
  }
}

export function applyNotification(
  session: Session,
  message: Message & { kind: 'notification' },
  frame: JsonObject,
  seen: Seen,
): Done {
  const { method, params } = message
  if (method === 'elicitation/complete') {
    return addEvent(session, vendorRecord('elicitation_complete', frame), seen)
  }
  if (method !== 'session/update') return
  const update = isObject(params.update) ? params.update : {}
  return applyUpdate(session, withTraceContext(update, params._meta, TRACE_KEYS), seen)
}

export function applyResponse(
  session: Session,
  asked: Asked,
  response: Message & { kind: 'response' },
  seen: Seen,
): Done {
  const result = objectOf(response.result)
  const succeeded = response.error === undefined
  switch (asked.method) {
    case 'session/request_permission':
    case 'elicitation/create':
      return settle(session, asked, outcomeOf(response), seen)
    case 'session/resume':
      return resumed(session, asked, succeeded ? (result ?? {}) : undefined, seen)
    case 'session/prompt':
      return succeeded ? prompted(session, asked, textOf(result?.messageId), seen) : undefined
    case 'session/close':
      return succeeded ? closed(session, seen) : undefined
    case 'session/new':
    case 'session/fork':
      session.ensure()
      return configured(session, result, seen)
    case 'session/set_config_option':
      return configured(session, result, seen)
  }
}

/**
 * A connection is gone: its windows close, its questions stay open for good, and what it left is written. When it was the last
 * one, a gap behind says what it broke off, with the time of the last frame that came.
 */
export async function connectionLost(session: Session, connection: Connection): Promise<void> {
  await closeWindow(session, connection)
  giveUpAnswers(session, connection)
  session.live.delete(connection)
  if (session.live.size > 0) return
  const { line } = session
  const cut = line.unfinished()
  if (cut.length === 0 && connection.isPrompting(session.sessionId)) cut.push(undefined)
  line.writeAll('pause', { force: true })
  for (const tracked of cut) {
    const [written] = tracked?.written.values() ?? []
    addEvent(session, gapOf('connection_lost', written?.body), { connection, at: connection.lastAt, frames: undefined })
  }
  line.writeQueue()
  line.letGo()
}

/** The recorder stops, or the session is closed: everything is written as it is (ASR-705). */
export async function finish(session: Session): Promise<void> {
  for (const connection of [...session.windows.keys()]) await closeWindow(session, connection)
  giveUpAnswers(session)
  session.line.writeAll('end', { force: true })
  session.line.letGo()
}

async function closed(session: Session, seen: Seen): Promise<void> {
  await finish(session)
  addEvent(session, mark('ended'), seen)
  session.line.writeAll('end', { force: true })
}

function closeFork(session: Session, connection: Connection): Done {
  if (session.windows.get(connection)?.fork !== undefined) return closeWindow(session, connection)
}

/** A replay that is asked for while another is under way comes behind it. */
function openWindow(session: Session, connection: Connection): Done {
  const window = session.windows.get(connection)
  if (window?.fork !== undefined) return closeWindow(session, connection).then(() => openWindow(session, connection))
  if (window === undefined) session.windows.set(connection, new Window())
  else window.waiting++
}

async function resumed(session: Session, asked: Asked, result: JsonObject | undefined, seen: Seen): Promise<void> {
  if (result !== undefined) session.widen(directoriesOf(asked.params))
  const waiting = session.windows.get(seen.connection)?.waiting ?? 0
  await closeWindow(session, seen.connection)
  if (waiting > 0) session.windows.set(seen.connection, new Window(undefined, waiting - 1))
  if (result === undefined) return
  await configured(session, result, seen)
  addEvent(session, mark('resumed'), seen)
  session.line.writeAll('pause')
}

/** The prompt became a message: the same entity as the agent's own telling of it (ASR-713). */
function prompted(session: Session, asked: Asked, messageId: string | undefined, seen: Seen): Done {
  if (messageId === undefined) return
  const kind = MESSAGE_KINDS.get('user') as AnyKind
  const prompt = typedItems(asked.params.prompt) ?? []
  const { held, hasLetGo } = session.line
  const key = entityKey(kind, messageId)
  const take = (known: Tracked | undefined): void => {
    const state = foldPrompt(known?.state as MessageState | undefined, messageId, prompt, asked.params._meta)
    const tracked = known ?? new Tracked(kind, state, session.times(seen.at, true), asked.frames)
    tracked.state = state
    tracked.teller = seen.connection
    session.line.changed(tracked)
    tracked.seen(seen.frames)
    if (known === undefined) session.line.add(tracked as Tracked, key)
  }
  if (held.has(key) || !hasLetGo) return take(held.get(key))
  return revive(session, kind, messageId).then(take)
}

/** Options that a response tells are recorded when they are not what is recorded already (M13). */
function configured(session: Session, result: JsonObject | undefined, seen: Seen): Done {
  const options = result?.configOptions
  if (!Array.isArray(options)) return
  const body = configChange(options)
  const any = (): boolean => true
  const take = (last: AsrRecord | undefined): void => {
    if (!sameJson(last?.options, options)) addEvent(session, body, seen)
  }
  const waitingOne = session.line.lastEvent('config_change', any)
  if (waitingOne !== undefined || !(session.line.hasWritten || session.line.hasLetGo)) return take(waitingOne)
  return session.storedStream().then(async (stream) => take(stream && (await lastOf(stream, 'config_change', any))))
}

/** The call inside a permission's subject is told like any other update, so that its diff is not lost (M3). */
function requestPermission(session: Session, asked: Asked, seen: Seen): Done {
  const subject = objectOf(asked.params.subject)
  const call = subject?.type === 'tool_call' ? objectOf(subject.toolCall) : undefined
  const ask = (): Done =>
    numbered(session, asked.id, seen, (id) => {
      const state = askPermission(id, asked.params)
      asked.tracked = waiting(
        session,
        new Tracked(permissionKind, state, session.times(seen.at, true), seen.frames),
        seen.connection,
      )
    })
  if (call === undefined) return ask()
  const folded = applyUpdate(session, { ...call, sessionUpdate: 'tool_call_update' }, seen)
  return folded === undefined ? ask() : folded.then(ask)
}

/** Gives a request its id `<n>:<id>` (ASR-716). */
function numbered(session: Session, id: RequestId, { connection }: Seen, take: (requestId: string) => void): Done {
  const number = session.connectionNumber(connection)
  if (typeof number === 'number') return take(`${number}:${String(id)}`)
  return number.then((n) => take(`${n}:${String(id)}`))
}

/** Something that waits for its answer; two may have one id, so it is held under a key of its own (M21). */
function waiting<S extends PermissionState | ElicitationState>(
  session: Session,
  tracked: Tracked<S>,
  connection: Connection,
): Tracked<S> {
  tracked.awaiting = connection
  session.line.add(tracked as Tracked, `${ACP_VENDOR}\n${session.asked++}`)
  return tracked
}

/** The client answered. An elicitation is written now (ASR-705), a permission when its turn comes. */
function settle(session: Session, asked: Asked, outcome: Outcome, seen: Seen): void {
  const { tracked } = asked
  if (tracked?.awaiting === undefined) return
  decide(tracked as Tracked<PermissionState>, outcome)
  tracked.seen(seen.frames)
  if (tracked.placed || asked.method === 'elicitation/create') session.line.writeThrough(tracked as Tracked)
}

function decide(tracked: Tracked<PermissionState>, outcome: Outcome): void {
  tracked.state = answered(tracked.state, outcome)
  tracked.awaiting = undefined
  tracked.dirty = true
}

function giveUpAnswers(session: Session, connection?: Connection): void {
  for (const tracked of session.line.held.values()) {
    if (tracked.awaiting === undefined || (connection !== undefined && tracked.awaiting !== connection)) continue
    decide(tracked as Tracked<PermissionState>, 'none')
  }
}
