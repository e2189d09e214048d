/**
 * JSON-RPC messages: what a frame is, and who answers what.
 */
import { numberOf } from '../record/exact.js'
import { isObject, type JsonObject } from './json.js'

/** Client to agent, or agent to client. */
export type Direction = 'c2a' | 'a2c'

export type RequestId = string | number | null

export type Message =
  | { kind: 'request'; id: RequestId; method: string; params: JsonObject }
  | { kind: 'notification'; method: string; params: JsonObject }
  | { kind: 'response'; id: RequestId; result?: unknown; error?: unknown }

const EMPTY: JsonObject = {}

/** What a JSON value says as a JSON-RPC message; undefined when it is none. Batches are lists of messages (M24). */
export function messageOf(frame: unknown): Message | undefined {
  if (!isObject(frame)) return undefined
  const { method, params } = frame
  const id = numberOf(frame.id) ?? frame.id
  if (typeof method === 'string') {
    const given = isObject(params) ? params : EMPTY
    if (id === undefined) return { kind: 'notification', method, params: given }
    return isId(id) ? { kind: 'request', id, method, params: given } : undefined
  }
  if (!isId(id)) return undefined
  if (Object.hasOwn(frame, 'result')) return { kind: 'response', id, result: frame.result }
  if (Object.hasOwn(frame, 'error')) return { kind: 'response', id, error: frame.error }
  return undefined
}

/** Ids are compared with their kind: 1 and "1" are two ids. */
export function idKey(id: RequestId): string {
  return `${typeof id}:${String(id)}`
}

function isId(value: unknown): value is RequestId {
  return value === null || typeof value === 'string' || typeof value === 'number'
}

/** The messages of a frame: one, or those of a batch. */
export function messagesIn(frame: unknown): unknown[] {
  return Array.isArray(frame) && frame.length > 0 ? frame : [frame]
}
