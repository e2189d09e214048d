/**
 * From connections to sessions: whose a frame is, and what it answers.
 */
import { exactJson } from '../../record/exact.js'
import { type Direction, type Message, messageOf, messagesIn } from '../frames.js'
import { isObject, type JsonObject, objectOf, textOf } from '../json.js'
import { directoriesOf, type Roots } from '../paths.js'
import { applyNotification, applyRequest, applyResponse, connectionLost } from './apply.js'
import { closeWindow } from './close-window.js'
import { type Asked, type Connection, opensSession } from './connection.js'
import type { Feed, Task } from './feed.js'
import { gapOfUpdate } from './gap.js'
import type { Opening } from './header.js'
import {
  cleanFrame,
  isStateMethod,
  redactedCall,
  redactedError,
  redactedResponse,
  sizesOf,
  withoutConfiguration,
  withoutDepth,
} from './secrets.js'
import type { Session } from './session.js'
import type { FrameRange } from './tracked.js'
import { addEvent, type Seen } from './update.js'
import { Window } from './window.js'

/** A message as it was seen. */
export interface Sighting {
  connection: Connection
  dir: Direction
  at: string
  frame: unknown
  /** the text on the wire, when the frame is all of it */
  text: string | undefined
}

export interface RouterPorts {
  feed(sessionId: string): Feed
  secretFields: ReadonlySet<string>
  keepsAll: boolean
  /** keeps a frame that belongs to no session */
  aside(sighting: Sighting, frame: unknown): void
  notJsonRpc(sighting: Sighting): void
  otherVersion(connection: Connection): void
}

type Apply = (session: Session, seen: Seen) => void | Promise<void>

const NOTHING_KNOWN: Opening = { directories: [] }

/** ACP forks whole sessions (ASR-718). */
function forked(parent: string): Record<string, unknown> {
  const evidence = 'native_field'
  return { forkedFrom: { session: parent, evidence }, inherits: { mode: 'copied', from: parent, evidence } }
}

/** How much of a session is written at this point of its frames. */
function lengthOf(feed: Feed): Promise<number> {
  return new Promise((resolve) => {
    feed.push(async (session) => resolve((await session.storedStream())?.length ?? 0))
  })
}

export class Router {
  private readonly heldOn = new Map<Connection, Set<Feed>>()

  constructor(private readonly ports: RouterPorts) {}

  route(sighting: Sighting): void {
    sighting.connection.lastAt = sighting.at
    const messages = messagesIn(sighting.frame)
    const text = messages.length === 1 && !Array.isArray(sighting.frame) ? sighting.text : undefined
    for (const frame of messages) this.message({ ...sighting, frame, text })
  }

  /** A connection is gone, and with it what was asked on it. */
  lost(connection: Connection): void {
    this.releaseHeld(connection)
    for (const feed of connection.feeds) {
      feed.push((session) => (session.connections.has(connection) ? connectionLost(session, connection) : undefined))
    }
  }

  private message(sighting: Sighting): void {
    const { connection } = sighting
    // No record is made of what is left out here (ASR-712); only the native file may hold a frame as it came.
    const frame = cleanFrame(sighting.frame)
    const message = messageOf(frame)
    if (message === undefined || !isObject(frame)) this.ports.notJsonRpc(sighting)
    else if (connection.isForeign) this.aside(sighting, frame, message, this.questionOf(sighting, message))
    else if (message.kind === 'request') this.request(sighting, frame, message)
    else if (message.kind === 'response') this.response(sighting, frame, message)
    else this.notification(sighting, frame, message)
  }

  /** Notes a question; of an answer, says what it answers. */
  private questionOf(sighting: Sighting, message: Message): Asked | undefined {
    const { connection, dir, at, text } = sighting
    if (message.kind === 'response') return connection.answered(dir, message.id)
    if (message.kind === 'notification') return undefined
    const { method, params, id } = message
    const asked: Asked = { method, params, id, at, frame: sighting.frame as JsonObject, text }
    connection.ask(dir, asked)
    return asked
  }

  private request(sighting: Sighting, frame: JsonObject, message: Message & { kind: 'request' }): void {
    const asked = this.questionOf(sighting, message) as Asked
    if (opensSession(message.method) && message.method !== 'session/fork') return
    const sessionId = textOf(message.params.sessionId)
    if (sessionId === undefined) {
      this.aside(sighting, frame, message, undefined)
      return
    }
    const isResume = message.method === 'session/resume'
    const opening = { directories: isResume ? directoriesOf(message.params) : [] }
    const apply: Apply = (session, seen) => applyRequest(session, asked, seen)
    this.deliver(sighting, sessionId, opening, this.task(sighting, frame, message, asked, apply))
  }

  private response(sighting: Sighting, frame: JsonObject, message: Message & { kind: 'response' }): void {
    const asked = this.questionOf(sighting, message)
    const sessionId = textOf(asked?.params.sessionId)
    if (asked?.method === 'initialize') this.initialized(sighting.connection, message)
    if (asked !== undefined && opensSession(asked.method)) this.opened(sighting, frame, message, asked)
    else if (asked === undefined || sessionId === undefined) this.aside(sighting, frame, message, asked)
    else {
      const feed = this.deliver(sighting, sessionId, NOTHING_KNOWN, this.answerTask(sighting, frame, message, asked))
      this.closeChildren(sighting.connection, feed, asked.children)
    }
  }

  private answerTask(
    sighting: Sighting,
    frame: JsonObject,
    message: Message & { kind: 'response' },
    asked: Asked,
  ): Task {
    const { error } = message
    const answer = error === undefined ? message : { ...message, error: redactedError(error, asked) }
    const apply: Apply = (session, seen) => applyResponse(session, asked, answer, seen)
    return this.task(sighting, frame, message, asked, apply)
  }

  /** The windows of children close behind their parent's (ASR-721). */
  private closeChildren(connection: Connection, parent: Feed, children: ReadonlySet<string> | undefined): void {
    if (children === undefined) return
    const parentDone = parent.reached()
    for (const child of children) {
      this.ports.feed(child).push((session) => parentDone.then(() => closeWindow(session, connection)))
    }
  }

  private notification(sighting: Sighting, frame: JsonObject, message: Message & { kind: 'notification' }): void {
    const { connection } = sighting
    const { method, params } = message
    const sessionId =
      method === 'elicitation/complete' ? connection.completed(params.elicitationId) : textOf(params.sessionId)
    if (sessionId === undefined) {
      this.aside(sighting, frame, message, undefined)
      return
    }
    const apply: Apply = (session, seen) => applyNotification(session, message, frame, seen)
    const task = this.task(sighting, frame, message, undefined, apply)
    const feed = this.deliver(sighting, sessionId, NOTHING_KNOWN, task)
    const update = method === 'session/update' ? objectOf(params.update) : undefined
    if (update?.sessionUpdate === 'subagent_update' && typeof update.sessionId === 'string') {
      this.spawned(connection, feed, update.sessionId, textOf(update.toolCallId))
    }
  }

  /** The answer to a request for a new session: it names the session (ASR-701, ASR-718). */
  private opened(sighting: Sighting, frame: JsonObject, message: Message & { kind: 'response' }, asked: Asked): void {
    const task = this.answerTask(sighting, frame, message, asked)
    const { connection, dir } = sighting
    const parent = asked.method === 'session/fork' ? textOf(asked.params.sessionId) : undefined
    const sessionId = textOf(objectOf(message.result)?.sessionId)
    const request: Sighting = {
      ...sighting,
      dir: dir === 'c2a' ? 'a2c' : 'c2a',
      at: asked.at,
      frame: asked.frame,
      text: asked.text,
    }
    const clean = withoutConfiguration(asked.frame) as JsonObject
    const asking = this.task(request, clean, { kind: 'request', ...asked }, asked, (_, seen) => {
      asked.frames = seen.frames
    })
    if (parent !== undefined) {
      this.deliver(sighting, parent, NOTHING_KNOWN, this.task(sighting, frame, message, asked))
    }
    if (sessionId !== undefined) this.begin(sighting, sessionId, asked, parent, [asking, task])
    else if (parent === undefined) {
      this.aside(request, clean, { kind: 'request', ...asked }, undefined)
      this.aside(sighting, frame, message, asked)
    }
    if (!connection.isOpeningSession) this.releaseHeld(connection)
  }

  /** A session that an agent made: what was told of it before its answer comes behind the request for it. */
  private begin(
    { connection }: Sighting,
    sessionId: string,
    { params }: Asked,
    parent: string | undefined,
    [asking, answer]: [Task, Task],
  ): void {
    const feed = this.feed(connection, sessionId)
    const lineage = parent === undefined ? undefined : forked(parent)
    const fork = parent === undefined ? undefined : { parent, length: lengthOf(this.ports.feed(parent)) }
    const begin: Task = (session) => {
      if (fork !== undefined) session.windows.set(connection, new Window(fork))
      return asking(session)
    }
    if (feed.isHeld) {
      const opening = { directories: directoriesOf(params), lineage }
      feed.release({ opening, agent: connection.agent, isNew: () => true, after: begin })
    } else feed.push(begin)
    feed.push(answer)
  }

  /** Updates of a session may come before the answer that names it: they wait while such an answer may come. */
  private deliver(sighting: Sighting, sessionId: string, opening: Opening, task: Task): Feed {
    const { connection, dir } = sighting
    const feed = this.feed(connection, sessionId)
    feed.push(task)
    if (!feed.isHeld) return feed
    if (dir === 'a2c' && connection.isOpeningSession) {
      const held = this.heldOn.get(connection) ?? new Set()
      this.heldOn.set(connection, held.add(feed))
    } else feed.release({ opening, agent: connection.agent })
    return feed
  }

  /** The feed of a session that is spoken of on a connection. */
  private feed(connection: Connection, sessionId: string): Feed {
    const feed = this.ports.feed(sessionId)
    connection.feeds.add(feed)
    return feed
  }

  /** No answer comes any more that could name the sessions that wait for one. */
  releaseHeld(connection: Connection): void {
    const { agent } = connection
    for (const feed of this.heldOn.get(connection) ?? []) feed.release({ opening: NOTHING_KNOWN, agent })
    this.heldOn.delete(connection)
  }

  /** A child session: its record in the parent comes before anything of its own (ASR-721). */
  private spawned(connection: Connection, parent: Feed, childId: string, callId: string | undefined): void {
    const child = this.feed(connection, childId)
    const { sessionId, writer } = parent.session
    const resuming = connection.resuming(sessionId)
    if (resuming !== undefined) connection.announced(resuming, childId)
    const spawnedBy = { session: sessionId, ...(callId !== undefined && { callId }), evidence: 'native_field' }
    const opening: Opening = { directories: [], lineage: { spawnedBy } }
    const after: Task = (session) => {
      session.seenOn(connection)
      // Told of twice, it is still one history.
      if (resuming !== undefined && !session.windows.has(connection)) session.windows.set(connection, new Window())
    }
    if (!child.isHeld) {
      child.push(after)
      child.push((session) => session.inherit({ spawnedBy }))
      return
    }
    // The roots of that moment: the parent may be given more while the child waits.
    const told = new Promise<Roots>((resolve) => parent.push(({ roots }) => resolve(roots)))
    const before: Task = async () => {
      const roots = await told
      await writer.settled()
      opening.directories = roots.list.flatMap(({ path }) => path ?? [])
    }
    // What is left alone is left alone with its children.
    const isNew = (): boolean => parent.session.skipped
    child.release({ opening, agent: connection.agent, isNew, before, after })
  }

  private initialized(connection: Connection, message: Message & { kind: 'response' }): void {
    if (message.error !== undefined) return
    connection.initialized(message.result)
    if (connection.isForeign) this.ports.otherVersion(connection)
  }

  /** What is done with a message when its session's turn comes: it is kept, then applied. */
  private task(sighting: Sighting, frame: JsonObject, message: Message, asked: Asked | undefined, apply?: Apply): Task {
    const { connection, at } = sighting
    return (session) => {
      if (session.skipped) return
      session.seenOn(connection)
      const frames = this.keep(session, sighting, frame, message, asked)
      return apply && guarded(session, message, { connection, at, frames }, apply)
    }
  }

  private keep(
    { wire }: Session,
    sighting: Sighting,
    frame: JsonObject,
    message: Message,
    asked: Asked | undefined,
  ): FrameRange | undefined {
    return wire?.add(wireLine(sighting, this.kept(sighting, frame, message, asked)), sighting.at)
  }

  /**
   * What belongs to no session holds no words of one (ASR-723): but for what both sides say of themselves, only what it is and how
   * long. Nothing of a connection that is not recorded is kept, unless all is.
   */
  private aside(sighting: Sighting, frame: JsonObject, message: Message, asked: Asked | undefined): void {
    const method = message.kind === 'response' ? asked?.method : message.method
    const isGreeting = method === 'initialize'
    if (this.ports.keepsAll || isGreeting) this.ports.aside(sighting, this.kept(sighting, frame, message, asked))
    else if (!sighting.connection.isForeign) this.ports.aside(sighting, sizesOf(frame, method))
  }

  /** A frame as it may be kept. */
  private kept(sighting: Sighting, frame: JsonObject, message: Message, asked: Asked | undefined): unknown {
    const method = message.kind === 'response' ? asked?.method : message.method
    if (isStateMethod(method)) return sizesOf(frame, method)
    if (this.ports.keepsAll) return sighting.text === undefined ? withoutDepth(sighting.frame) : sighting.frame
    if (message.kind !== 'response') return redactedCall(frame, message)
    return asked === undefined ? sizesOf(frame) : redactedResponse(frame, asked, this.ports.secretFields)
  }
}

/** What can not be dealt with leaves a gap that names it. */
function guarded(session: Session, message: Message, seen: Seen, apply: Apply): void | Promise<void> {
  try {
    const done = apply(session, seen)
    return done?.catch((error: unknown) => leaveGap(session, message, seen, error))
  } catch (error) {
    leaveGap(session, message, seen, error)
  }
}

function leaveGap(session: Session, message: Message, seen: Seen, error: unknown): never {
  const update = message.kind === 'notification' ? objectOf(message.params.update) : undefined
  addEvent(session, gapOfUpdate('frame_failed', update ?? {}), seen)
  throw error
}

/** A line of a native file. A frame that is kept as it came is kept in its own text. */
export function wireLine({ at, connection, dir, frame, text }: Sighting, kept: unknown): string {
  const json = kept === frame && text !== undefined && !text.includes('\n') ? text : exactJson(kept)
  return `{"at":${JSON.stringify(at)},"conn":${JSON.stringify(connection.key)},"dir":"${dir}","frame":${json}}`
}
