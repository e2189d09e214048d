/**
 * Child sessions as records of their parent (ASR-721).
 */
import type { AsrRecord } from '../../../record/record.js'
import { foldSubagent, type SubagentState } from '../../fold/subagent.js'
import { objectOf, textOf } from '../../json.js'
import { findSingle, type UpdatedKind } from '../slot.js'

export const subagentKind: UpdatedKind<SubagentState> = {
  name: 'subagent',
  idOf: ({ sessionId }) => textOf(sessionId),
  fold: foldSubagent,
  slots({ childSession, toolCallId, title, description, meta }) {
    const body = {
      type: 'subagent',
      childSession,
      ...(toolCallId !== undefined && { callId: toolCallId }),
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(meta && { _meta: meta }),
    }
    return [{ name: 'subagent', body }]
  },
  find: (stream, id) => findSingle(stream, 'subagent', id),
  revive(childSession, bodies) {
    const body = bodies.get('subagent') as AsrRecord
    return {
      childSession,
      toolCallId: textOf(body.callId),
      title: textOf(body.title),
      description: textOf(body.description),
      meta: objectOf(body._meta),
    }
  },
}
