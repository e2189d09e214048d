/**
 * Child sessions, as their parent tells of them. The child's state is told by the child itself.
 */
import type { JsonObject } from '../json.js'
import { patchedMeta, patchedText } from './patch.js'

export interface SubagentState {
  readonly childSession: string
  /** the call that ACP links; no field of the pinned revision does, a later one or a vendor may */
  readonly toolCallId: string | undefined
  readonly title: string | undefined
  readonly description: string | undefined
  readonly meta: JsonObject | undefined
}

export function foldSubagent(state: SubagentState | undefined, update: JsonObject): SubagentState | undefined {
  const { sessionId } = update
  if (typeof sessionId !== 'string') return undefined
  return {
    childSession: sessionId,
    toolCallId: patchedText(state?.toolCallId, update.toolCallId),
    title: patchedText(state?.title, update.title),
    description: patchedText(state?.description, update.description),
    meta: patchedMeta(state?.meta, update._meta),
  }
}
