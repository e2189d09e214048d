/**
 * Questions to the user and their answers (ASR-734).
 */
import type { JsonObject } from '../json.js'
import type { Outcome } from './permission.js'

export interface ElicitationState {
  readonly requestId: string
  /** the id is ours, not the agent's */
  readonly derived: boolean
  readonly params: JsonObject
  readonly outcome: Outcome | undefined
}

/** The elicitation's own id where it has one, else the one derived from its request. */
export function askUser(derivedId: string, params: JsonObject): ElicitationState {
  const own = params.elicitationId
  const derived = typeof own !== 'string'
  return { requestId: derived ? derivedId : own, derived, params, outcome: undefined }
}
