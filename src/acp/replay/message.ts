/**
 * Messages as updates: what an assistant said, and apart from it what it thought (ASR-727).
 */
import type { StoredRecord } from '../../record/record.js'
import { isObject, type JsonObject, textOf } from '../json.js'
import { REPLAY_LOSS } from '../losses.js'
import type { SessionUpdate } from './api.js'
import { blocksIn, partsOf } from './blocks.js'
import { withMeta } from './fields.js'
import type { LossReport } from './loss-report.js'

/** Whether messages like this one are replayed; if not, why. */
export function messageLoss(record: StoredRecord): string | undefined {
  if (record.origin === 'notice') return REPLAY_LOSS.notice
  if (record.origin === 'inter_session') return REPLAY_LOSS.interSession
  if (record.role !== 'user' && record.role !== 'assistant') return REPLAY_LOSS.role
  return undefined
}

/** The updates of a message that is replayed, under the id it has. */
export function messageUpdates(record: StoredRecord, messageId: string, losses: LossReport): SessionUpdate[] {
  const parts = partsOf(record.content)
  if (record.role === 'user') {
    return [withMeta({ sessionUpdate: 'user_message', messageId, content: blocksIn(parts, record.id, losses) }, record)]
  }
  if (!parts.some(isReasoning)) {
    return [
      withMeta({ sessionUpdate: 'agent_message', messageId, content: blocksIn(parts, record.id, losses) }, record),
    ]
  }
  const texts = parts.filter(isReasoning).map(reasoningText)
  const opaque = texts.filter((text) => text === undefined).length
  if (opaque > 0) losses.add(REPLAY_LOSS.reasoning, record.id, opaque)
  if (parts.every(isReasoning)) {
    const told = thoughtText(parts)
    return told === undefined ? [] : [withMeta(thought(messageId, told), record)]
  }
  const thoughts = texts.flatMap((text, n) => (text === undefined ? [] : [thought(`${messageId}#thought-${n}`, text)]))
  const others = parts.filter((part) => !isReasoning(part))
  const message = { sessionUpdate: 'agent_message', messageId, content: blocksIn(others, record.id, losses) }
  return [...thoughts, withMeta(message, record)]
}

export function isReasoning(part: unknown): part is JsonObject {
  return isObject(part) && part.type === 'reasoning'
}

/** The text of a reasoning part: its own, or where there is only a summary, the segments of that; undefined when it is opaque. */
export function reasoningText({ text, summary }: JsonObject): string | undefined {
  if (typeof text === 'string') return text
  if (typeof summary === 'string') return summary
  if (!Array.isArray(summary)) return undefined
  const segments = summary.map((segment) => textOf(isObject(segment) ? segment.text : segment))
  const told = segments.filter((segment) => segment !== undefined)
  return told.length === 0 ? undefined : told.join('\n\n')
}

/** The text of a message that is reasoning only; undefined when all of it is opaque. */
export function thoughtText(parts: readonly unknown[]): string | undefined {
  const texts = parts.filter(isReasoning).map(reasoningText)
  const told = texts.filter((text) => text !== undefined)
  return told.length === 0 ? undefined : told.join('\n\n')
}

function thought(messageId: string, text: string): SessionUpdate {
  return { sessionUpdate: 'agent_thought', messageId, content: text === '' ? [] : [{ type: 'text', text }] }
}
