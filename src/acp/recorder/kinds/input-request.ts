/**
 * Elicitations as records (ASR-734). Secret answers are left out, and said to be (ASR-283).
 */
import type { AsrRecord } from '../../../record/record.js'
import type { ElicitationState } from '../../fold/elicitation.js'
import { isObject, type JsonObject, picked, textOf } from '../../json.js'
import { withoutSecretAnswers } from '../secrets.js'
import type { EntityKind } from '../slot.js'

const STATUS: ReadonlyMap<unknown, string> = new Map([
  ['accept', 'answered'],
  ['decline', 'declined'],
  ['cancel', 'cancelled'],
])

export const inputRequestKind: EntityKind<ElicitationState> = {
  name: 'input_request',
  slots(state, { secretFields }) {
    const { requestId, derived, params } = state
    const callId = textOf(params.toolCallId)
    const body: AsrRecord = {
      type: 'input_request',
      requestId,
      idSource: derived ? 'derived' : 'native',
      ...(callId !== undefined && { callId }),
      ...picked(params, ['mode', 'message', 'requestedSchema', 'url']),
      ...answerOf(state, secretFields),
      ...(isObject(params._meta) && { _meta: params._meta }),
    }
    return [{ name: 'input_request', body }]
  },
}

function answerOf({ outcome, params }: ElicitationState, secretFields: ReadonlySet<string>): JsonObject {
  if (outcome === undefined) return { status: 'partial' }
  if (outcome === 'none') return { status: 'unresolved' }
  if ('error' in outcome) return { status: 'unresolved', native: { record: { error: outcome.error } } }
  const { action, content } = outcome.result
  const status = STATUS.get(action)
  if (status === undefined) return { status: 'unresolved', native: { record: { ...picked({ action }, ['action']) } } }
  if (action !== 'accept' || params.mode !== 'form' || !isObject(content)) return { status }
  const { answer, redacted } = withoutSecretAnswers(content, params.requestedSchema, secretFields)
  return { status, response: answer, ...(redacted && { capture: { response: { state: 'redacted' } } }) }
}
