/**
 * Messages and thoughts as records (ASR-704, ASR-713).
 */
import type { AsrRecord } from '../../../record/record.js'
import { assemblyOf, blocksOf, type Content, wholeContent } from '../../fold/content.js'
import { foldMessage, type MessageSpace, type MessageState } from '../../fold/message.js'
import { isObject, type JsonObject, objectOf, textOf, typedItems } from '../../json.js'
import { LOSS } from '../../losses.js'
import { findSingle, type Slot, type SlotContext, type UpdatedKind } from '../slot.js'

function messageKind(space: MessageSpace): UpdatedKind<MessageState> {
  return {
    name: `message/${space}`,
    idOf: ({ messageId }) => textOf(messageId),
    fold: foldMessage,
    slots: (state, context) => [space === 'thought' ? thoughtSlot(state) : messageSlot(state, context)],
    losses: (state) => (space === 'thought' && hasMoreThanText(state.content) ? [LOSS.reasoning] : []),
    find: (stream, id) => findSingle(stream, 'message', id, (record) => spaceOf(record) === space),
    revive: (id, bodies) => revived(space, id, bodies.get('message') as AsrRecord),
  }
}

export const MESSAGE_KINDS: ReadonlyMap<MessageSpace, UpdatedKind<MessageState>> = new Map(
  (['user', 'agent', 'thought'] as const).map((space) => [space, messageKind(space)]),
)

/** The id space that a stored message belongs to (M1); undefined when it is none of a connection's own. */
export function spaceOf(record: AsrRecord): MessageSpace | undefined {
  if (record.origin === 'inter_session' || record.origin === 'notice') return undefined
  if (record.role === 'user') return 'user'
  if (record.role !== 'assistant') return undefined
  const parts: unknown[] = Array.isArray(record.content) ? record.content : []
  return parts.length > 0 && parts.every(isReasoning) ? 'thought' : 'agent'
}

function isReasoning(part: unknown): part is JsonObject {
  return isObject(part) && part.type === 'reasoning'
}

function messageSlot(state: MessageState, { clientIsPerson }: SlotContext): Slot {
  const { space, messageId, content, prompt, meta } = state
  const isPrompt = prompt !== undefined
  return {
    name: 'message',
    body: {
      type: 'message',
      messageId,
      role: space === 'user' ? 'user' : 'assistant',
      ...(isPrompt && clientIsPerson && { author: 'human' }),
      ...(isPrompt && { origin: 'prompt' }),
      content: content === undefined ? (prompt ?? []) : blocksOf(content),
      assembly: content === undefined ? 'folded' : assemblyOf(content),
      ...(meta && { _meta: meta }),
    },
  }
}

function thoughtSlot({ messageId, content, meta }: MessageState): Slot {
  const blocks = content === undefined ? [] : blocksOf(content)
  const text = blocks.map((block) => (block.type === 'text' ? (textOf(block.text) ?? '') : '')).join('')
  return {
    name: 'message',
    body: {
      type: 'message',
      messageId,
      role: 'assistant',
      content: [{ type: 'reasoning', text }],
      assembly: content === undefined ? 'folded' : assemblyOf(content),
      ...(meta && { _meta: meta }),
    },
  }
}

function hasMoreThanText(content: Content | undefined): boolean {
  return content !== undefined && blocksOf(content).some(({ type }) => type !== 'text')
}

function revived(space: MessageSpace, messageId: string, body: AsrRecord): MessageState {
  const parts = typedItems(body.content) ?? []
  const text = parts.map((part) => textOf(part.text) ?? '').join('')
  const blocks = space === 'thought' ? (text === '' ? [] : [{ type: 'text', text }]) : parts
  return {
    space,
    messageId,
    content: wholeContent(blocks, body.assembly === 'chunks'),
    prompt: body.origin === 'prompt' ? parts : undefined,
    meta: objectOf(body._meta),
  }
}
