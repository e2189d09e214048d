/**
 * Messages between sessions, on the receiving side: a space of ids of its own (M2).
 */
import { isObject, type JsonObject, textOf } from '../json.js'
import { type Content, NO_CONTENT, withChunk } from './content.js'
import { patchedContent } from './message.js'
import { chunkMeta, patchedMeta } from './patch.js'

export interface SessionMessageState {
  readonly messageId: string
  readonly sender: string | undefined
  readonly recipient: string | undefined
  readonly content: Content
  readonly meta: JsonObject | undefined
}

/** An inter-session message after an update or a chunk (M11). Null says nothing of a session that is known. */
export function foldSessionMessage(
  state: SessionMessageState | undefined,
  update: JsonObject,
): SessionMessageState | undefined {
  const { messageId, content, _meta } = update
  if (typeof messageId !== 'string') return undefined
  const isChunk = update.sessionUpdate === 'session_message_chunk'
  if (isChunk && !isObject(content)) return undefined
  const before = state?.content ?? NO_CONTENT
  return {
    messageId,
    sender: textOf(update.senderSessionId) ?? state?.sender,
    recipient: textOf(update.recipientSessionId) ?? state?.recipient,
    content: isChunk && isObject(content) ? withChunk(before, content) : patchedContent(before, content),
    meta: isChunk ? chunkMeta(state?.meta, _meta) : patchedMeta(state?.meta, _meta),
  }
}
