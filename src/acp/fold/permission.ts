/**
 * Permission requests and what came of them (ASR-716, M12).
 */
import { isObject, type JsonObject } from '../json.js'

export interface PermissionState {
  readonly requestId: string
  readonly params: JsonObject
  readonly outcome: Outcome | undefined
}

/** What a request came to: the client's result, an error instead of one, or nothing when none can come any more. */
export type Outcome = { result: JsonObject } | { error: unknown } | 'none'

export function askPermission(requestId: string, params: JsonObject): PermissionState {
  return { requestId, params, outcome: undefined }
}

export function answered<S extends { readonly outcome: Outcome | undefined }>(state: S, outcome: Outcome): S {
  return { ...state, outcome }
}

/** The outcome that a response carries. */
export function outcomeOf(response: { result?: unknown; error?: unknown }): Outcome {
  if (response.error !== undefined) return { error: response.error }
  return { result: isObject(response.result) ? response.result : {} }
}
