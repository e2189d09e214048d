/**
 * A connection between a client and an agent: who asked what, and what became of it.
 */

import { numberOf } from '../../record/exact.js'
import type { ElicitationState } from '../fold/elicitation.js'
import type { PermissionState } from '../fold/permission.js'
import { type Direction, idKey, type RequestId } from '../frames.js'
import { type JsonObject, objectOf, textOf } from '../json.js'
import { ACP_PROTOCOL_VERSION } from '../revision.js'
import type { ConnectionKey } from './api.js'
import type { Feed } from './feed.js'
import type { FrameRange, Tracked } from './tracked.js'

/** A request that waits for its answer. */
export interface Asked {
  method: string
  params: JsonObject
  id: RequestId
  at: string
  /** the frame itself, for a session that only the answer names */
  frame: JsonObject
  text: string | undefined
  /** where the session keeps the frame */
  frames?: FrameRange
  /** the permission or the question that it is */
  tracked?: Tracked<PermissionState> | Tracked<ElicitationState>
  /** child sessions that were announced while a session is opened again */
  children?: Set<string>
}

/** Requests whose answer names a new session. */
export function opensSession(method: string): boolean {
  return method === 'session/new' || method === 'session/fork'
}

/** What a request of the client's is looked up by, so that nobody goes through all that wait: the method and the session. */
function topicOf(method: string, sessionId: unknown): string {
  return opensSession(method) ? 'opening' : `${method}\n${textOf(sessionId) ?? ''}`
}

export class Connection {
  /** the sessions that were spoken of on it */
  readonly feeds = new Set<Feed>()
  agent: { name: string; version?: string } | undefined
  /** what the agent chose; undefined until it answered */
  protocolVersion: unknown
  /** when the last frame came */
  lastAt = ''
  private readonly pending: Record<Direction, Map<string, Asked>> = { c2a: new Map(), a2c: new Map() }
  /** the client's requests that wait, by what they are about */
  private readonly topics = new Map<string, Set<Asked>>()
  /** elicitations are completed by a notification that names no session */
  private readonly elicitations = new Map<string, string>()

  constructor(readonly key: ConnectionKey) {}

  ask(dir: Direction, asked: Asked): void {
    const key = idKey(asked.id)
    this.taken(dir, key)
    this.pending[dir].set(key, asked)
    if (dir === 'c2a') this.note(topicOf(asked.method, asked.params.sessionId), asked)
    const { elicitationId, sessionId } = asked.params
    if (asked.method === 'elicitation/create' && typeof elicitationId === 'string' && typeof sessionId === 'string') {
      this.elicitations.set(elicitationId, sessionId)
    }
  }

  /** The request that a response in a direction answers. Each side chooses its own ids. */
  answered(dir: Direction, id: RequestId): Asked | undefined {
    return this.taken(dir === 'c2a' ? 'a2c' : 'c2a', idKey(id))
  }

  private taken(dir: Direction, key: string): Asked | undefined {
    const asked = this.pending[dir].get(key)
    if (asked === undefined) return undefined
    this.pending[dir].delete(key)
    this.leave(topicOf(asked.method, asked.params.sessionId), asked)
    for (const child of asked.children ?? []) this.leave(topicOf(asked.method, child), asked)
    return asked
  }

  private note(topic: string, asked: Asked): void {
    const known = this.topics.get(topic)
    if (known === undefined) this.topics.set(topic, new Set([asked]))
    else known.add(asked)
  }

  private leave(topic: string, asked: Asked): void {
    const known = this.topics.get(topic)
    if (known?.delete(asked) && known.size === 0) this.topics.delete(topic)
  }

  /** The answer to `initialize` (ASR-703). */
  initialized(result: unknown): void {
    const answer = objectOf(result)
    const info = objectOf(answer?.info)
    const name = textOf(info?.name)
    const version = textOf(info?.version)
    this.protocolVersion = numberOf(answer?.protocolVersion) ?? answer?.protocolVersion
    if (name !== undefined) this.agent = { name, ...(version !== undefined && { version }) }
  }

  /** It speaks a protocol that is not recorded; before its answer to `initialize` is seen it counts as one that is (ASR-700). */
  get isForeign(): boolean {
    return (this.protocolVersion ?? ACP_PROTOCOL_VERSION) !== ACP_PROTOCOL_VERSION
  }

  /** Whether the answer to a request may name a session that updates already speak of. */
  get isOpeningSession(): boolean {
    return this.topics.has(topicOf('session/new', undefined))
  }

  /** Whether a prompt of a session waits for its answer. */
  isPrompting(sessionId: string): boolean {
    return this.topics.has(topicOf('session/prompt', sessionId))
  }

  /** The request that opens a session again, or one that it is a child of, and is not answered yet. */
  resuming(sessionId: string): Asked | undefined {
    const [asked] = this.topics.get(topicOf('session/resume', sessionId)) ?? []
    return asked
  }

  /** A child of a session that is being opened again is told of. */
  announced(resuming: Asked, childId: string): void {
    resuming.children ??= new Set()
    resuming.children.add(childId)
    this.note(topicOf(resuming.method, childId), resuming)
  }

  /** The session of an elicitation that is complete now. */
  completed(elicitationId: unknown): string | undefined {
    if (typeof elicitationId !== 'string') return undefined
    const sessionId = this.elicitations.get(elicitationId)
    this.elicitations.delete(elicitationId)
    return sessionId
  }
}
