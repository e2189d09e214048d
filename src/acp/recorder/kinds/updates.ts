/**
 * Which kind of entity each `sessionUpdate` speaks of. What is not here is an event, or is not mapped (ASR-710).
 */
import { messageSpace } from '../../fold/message.js'
import type { JsonObject } from '../../json.js'
import type { UpdatedKind } from '../slot.js'
import { compactionKind } from './compaction.js'
import { MESSAGE_KINDS } from './message.js'
import { planKind } from './plan.js'
import { sessionMessageKind } from './session-message.js'
import { subagentKind } from './subagent.js'
import { terminalKind } from './terminal.js'
import { toolCallKind } from './tool-call.js'

/** A kind whose state only it can read. */
export type AnyKind = UpdatedKind<unknown>

const KINDS: ReadonlyMap<unknown, AnyKind> = new Map(
  Object.entries({
    tool_call_update: toolCallKind,
    tool_call_content_chunk: toolCallKind,
    plan_update: planKind,
    terminal_update: terminalKind,
    terminal_output_chunk: terminalKind,
    compaction_update: compactionKind,
    compaction_summary_chunk: compactionKind,
    subagent_update: subagentKind,
    session_message: sessionMessageKind,
    session_message_chunk: sessionMessageKind,
  }).map(([update, kind]) => [update, kind as AnyKind]),
)

export function kindOfUpdate(update: JsonObject): AnyKind | undefined {
  const space = messageSpace(update)
  return space === undefined ? KINDS.get(update.sessionUpdate) : (MESSAGE_KINDS.get(space) as AnyKind)
}
