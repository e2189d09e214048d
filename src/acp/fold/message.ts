/**
 * Messages of user and agent, and thoughts: three spaces of ids (M1), one fold.
 */
import { isObject, type JsonObject, typedItems } from '../json.js'
import { type Content, NO_CONTENT, wholeContent, withChunk } from './content.js'
import { chunkMeta, patchedMeta } from './patch.js'

export type MessageSpace = 'user' | 'agent' | 'thought'

export interface MessageState {
  readonly space: MessageSpace
  readonly messageId: string
  /** undefined: no update spoke of content */
  readonly content: Content | undefined
  /** what the client asked, when the message is a prompt (ASR-713) */
  readonly prompt: readonly JsonObject[] | undefined
  readonly meta: JsonObject | undefined
}

const WHOLE: ReadonlyMap<unknown, MessageSpace> = new Map([
  ['user_message', 'user'],
  ['agent_message', 'agent'],
  ['agent_thought', 'thought'],
])
const CHUNK: ReadonlyMap<unknown, MessageSpace> = new Map([
  ['user_message_chunk', 'user'],
  ['agent_message_chunk', 'agent'],
  ['agent_thought_chunk', 'thought'],
])

/** The id space of an update, or undefined when it is of no message. */
export function messageSpace(update: JsonObject): MessageSpace | undefined {
  return WHOLE.get(update.sessionUpdate) ?? CHUNK.get(update.sessionUpdate)
}

/** A message after an update of its space; undefined when the update can not be read. */
export function foldMessage(state: MessageState | undefined, update: JsonObject): MessageState | undefined {
  const space = messageSpace(update)
  const { messageId, content, _meta } = update
  if (space === undefined || typeof messageId !== 'string') return undefined
  const before = state ?? newMessage(space, messageId)
  if (CHUNK.has(update.sessionUpdate)) {
    if (!isObject(content)) return undefined
    return {
      ...before,
      content: withChunk(before.content ?? NO_CONTENT, content),
      meta: chunkMeta(before.meta, _meta),
    }
  }
  return { ...before, content: patchedContent(before.content, content), meta: patchedMeta(before.meta, _meta) }
}

/** Content as a full update leaves it: null and the empty list both clear. */
export function patchedContent<C extends Content | undefined>(current: C, value: unknown): C | Content {
  if (value === null) return NO_CONTENT
  const blocks = typedItems(value)
  return blocks === undefined ? current : wholeContent(blocks)
}

/**
 * The message that a prompt became; its content counts until the agent tells it (ASR-713). Its `_meta` came before whatever
 * the agent told of the message (ASR-708).
 */
export function foldPrompt(
  state: MessageState | undefined,
  messageId: string,
  prompt: readonly JsonObject[],
  promptMeta: unknown,
): MessageState {
  const before = state ?? newMessage('user', messageId)
  const meta = patchedMeta(patchedMeta(undefined, promptMeta), before.meta)
  return { ...before, prompt, meta }
}

function newMessage(space: MessageSpace, messageId: string): MessageState {
  return { space, messageId, content: undefined, prompt: undefined, meta: undefined }
}
