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
  children?: string[]
}

/** Requests whose answer names a new session. */
export function opensSession(method: string): boolean {
  return method === 'session/new' || method === 'session/fork'
}

export class Connection {
  agent: { name: string; version?: string } | undefined
  /** what the agent chose; undefined until it answered */
  protocolVersion: unknown
  /** when the last frame came */
  lastAt = ''
  private readonly pending: Record<Direction, Map<string, Asked>> = { c2a: new Map(), a2c: new Map() }
  /** elicitations are completed by a notification that names no session */
  private readonly elicitations = new Map<string, string>()

  constructor(readonly key: ConnectionKey) {}

  ask(dir: Direction, asked: Asked): void {
    this.pending[dir].set(idKey(asked.id), asked)
    const { elicitationId, sessionId } = asked.params
    if (asked.method === 'elicitation/create' && typeof elicitationId === 'string' && typeof sessionId === 'string') {
      this.elicitations.set(elicitationId, sessionId)
    }
  }

  /** The request that a response in a direction answers. Each side chooses its own ids. */
  answered(dir: Direction, id: RequestId): Asked | undefined {
    const requests = this.pending[dir === 'c2a' ? 'a2c' : 'c2a']
    const key = idKey(id)
    const asked = requests.get(key)
    requests.delete(key)
    return asked
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
    for (const { method } of this.pending.c2a.values()) if (opensSession(method)) return true
    return false
  }

  /** Whether a prompt of a session waits for its answer. */
  isPrompting(sessionId: string): boolean {
    for (const { method, params } of this.pending.c2a.values()) {
      if (method === 'session/prompt' && params.sessionId === sessionId) return true
    }
    return false
  }

  /** The request that opens a session again and is not answered yet. */
  resuming(sessionId: string): Asked | undefined {
    for (const asked of this.pending.c2a.values()) {
      if (asked.method === 'session/resume' && asked.params.sessionId === sessionId) return asked
      if (asked.children?.includes(sessionId)) return asked
    }
    return undefined
  }

  /** The session of an elicitation that is complete now. */
  completed(elicitationId: unknown): string | undefined {
    if (typeof elicitationId !== 'string') return undefined
    const sessionId = this.elicitations.get(elicitationId)
    this.elicitations.delete(elicitationId)
    return sessionId
  }
}
