/**
 * Permission requests as records (ASR-716, M12).
 */
import type { AsrRecord } from '../../../record/record.js'
import type { Outcome, PermissionState } from '../../fold/permission.js'
import { hasOther, isObject, type JsonObject, objectOf, picked, textOf } from '../../json.js'
import type { EntityKind } from '../slot.js'

export const permissionKind: EntityKind<PermissionState> = {
  name: 'permission',
  slots({ requestId, params, outcome }) {
    const options: unknown[] = Array.isArray(params.options) ? params.options : []
    const { subject, left: subjectLeft } = subjectOf(params.subject)
    const { fields, left: outcomeLeft } = decisionOf(outcome, options)
    const left = { ...subjectLeft, ...outcomeLeft }
    const body: AsrRecord = {
      type: 'permission',
      requestId,
      idSource: 'derived',
      ...picked(params, ['title', 'description']),
      ...(subject && { subject }),
      options,
      ...fields,
      ...(isObject(params._meta) && { _meta: params._meta }),
      ...(Object.keys(left).length > 0 && { native: { record: left } }),
    }
    return [{ name: 'permission', body }]
  },
}

interface Mapped {
  subject?: JsonObject
  left?: JsonObject
}

/** The subject, and the whole of it when it says more than that. */
function subjectOf(subject: unknown): Mapped {
  if (!isObject(subject)) return {}
  const callId = textOf(objectOf(subject.toolCall)?.toolCallId)
  if (subject.type === 'tool_call' && callId !== undefined) return { subject: { callId } }
  if (subject.type === 'command' && typeof subject.command === 'string') {
    const { command } = subject
    return { subject: { command }, ...(hasOther(subject, ['type', 'command']) && { left: { subject } }) }
  }
  return { left: { subject } }
}

function decisionOf(
  given: Outcome | undefined,
  options: readonly unknown[],
): { fields: JsonObject; left?: JsonObject } {
  if (given === undefined) return { fields: { status: 'partial' } }
  if (given === 'none') return { fields: { status: 'unresolved' } }
  if ('error' in given) return { fields: { status: 'unresolved' }, left: { error: given.error } }
  const outcome = objectOf(given.result.outcome)
  if (outcome?.outcome === 'cancelled') return { fields: { status: 'resolved', decision: 'cancelled' } }
  if (outcome?.outcome !== 'selected' || typeof outcome.optionId !== 'string') {
    return { fields: { status: 'resolved' }, left: { ...given.result } }
  }
  const { optionId } = outcome
  const chosen = options.filter(isObject).find((option) => option.optionId === optionId)
  const decision = textOf(chosen?.kind)
  return {
    fields: { status: 'resolved', ...(decision !== undefined && { decision }), selectedOptionId: optionId },
  }
}
