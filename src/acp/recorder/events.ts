/**
 * Updates that are a record each: nothing is folded into them, and they are never revised.
 */
import { numberOf } from '../../record/exact.js'
import type { AsrRecord } from '../../record/record.js'
import { patchedMeta } from '../fold/patch.js'
import { hasOther, isObject, type JsonObject, objectOf, picked, textOf } from '../json.js'
import { ACP_VENDOR } from '../revision.js'

/** The record of an event; undefined when the update can not be read; null when it says nothing that is recorded. */
export function eventOf(update: JsonObject): AsrRecord | null | undefined {
  return EVENTS.get(update.sessionUpdate)?.(update)
}

/** What can not be mapped, whole (ASR-710). */
export function unmapped(update: JsonObject): AsrRecord {
  const kind = textOf(update.sessionUpdate) ?? 'session_update'
  return vendorRecord(kind, update)
}

/** A notification that has no record of its own, whole. */
export function vendorRecord(name: string, given: unknown): AsrRecord {
  return { type: `${ACP_VENDOR}/${name}`, native: { record: given } }
}

/** Marks that the recorder sets itself: a session was resumed, or was closed. */
export function mark(state: 'resumed' | 'ended'): AsrRecord {
  return { type: 'state', state }
}

/** The options of a session, and which of them are model and mode (M13). */
export function configChange(options: readonly unknown[]): AsrRecord {
  const chosen = (category: string): string | undefined => {
    const option = options.filter(isObject).find((one) => one.category === category)
    return textOf(option?.currentValue)
  }
  const model = chosen('model')
  const mode = chosen('mode')
  return {
    type: 'config_change',
    options,
    ...(model !== undefined && { model: { id: model } }),
    ...(mode !== undefined && { mode }),
  }
}

const EVENTS: ReadonlyMap<unknown, (update: JsonObject) => AsrRecord | null | undefined> = new Map(
  Object.entries({
    state_update: stateOf,
    usage_update: usageOf,
    session_info_update: infoOf,
    config_option_update: configOf,
    notice: noticeOf,
  }),
)

function metaOf({ _meta }: JsonObject): { _meta?: JsonObject } {
  const meta = patchedMeta(undefined, _meta)
  return meta === undefined ? {} : { _meta: meta }
}

/** Values are as the agent gave them, a vendor's or an unknown one too (ASR-709, M14). */
function stateOf(update: JsonObject): AsrRecord | undefined {
  if (typeof update.state !== 'string') return undefined
  const hasMore = hasOther(update, ['sessionUpdate', 'state', 'stopReason', 'error', '_meta'])
  return {
    type: 'state',
    state: update.state,
    ...picked(update, ['stopReason', 'error']),
    ...metaOf(update),
    ...(hasMore && { native: { record: update } }),
  }
}

/** ASR-720: `used` is of the context window, not what was consumed. */
function usageOf(update: JsonObject): AsrRecord | undefined {
  const { used, size } = update
  if (numberOf(used) === undefined || numberOf(size) === undefined) return undefined
  const cost = objectOf(update.cost)
  return {
    type: 'usage_summary',
    scope: 'session',
    cumulative: true,
    includesChildren: null,
    contextWindow: { used, size },
    ...(cost && { cost: picked(cost, ['amount', 'currency']) }),
    ...metaOf(update),
  }
}

/** A title that is null was cleared. `updatedAt` is not recorded; an update of nothing else is no record. */
function infoOf(update: JsonObject): AsrRecord | null {
  const { title } = update
  const hasTitle = title === null || typeof title === 'string'
  const meta = metaOf(update)
  if (!hasTitle && meta._meta === undefined) return null
  return { type: 'session_info', ...(hasTitle && { title }), ...meta }
}

function configOf(update: JsonObject): AsrRecord | undefined {
  const { configOptions } = update
  return Array.isArray(configOptions) ? { ...configChange(configOptions), ...metaOf(update) } : undefined
}

/** Title and description are its text; the whole of it is kept for its severity (M10). */
function noticeOf(update: JsonObject): AsrRecord | undefined {
  const { messageId, title, description } = update
  if (typeof title !== 'string') return undefined
  const text = typeof description === 'string' ? `${title}\n${description}` : title
  return {
    type: 'message',
    ...(typeof messageId === 'string' && { messageId }),
    role: 'system',
    author: 'harness',
    origin: 'notice',
    audience: 'user',
    content: [{ type: 'text', text }],
    ...metaOf(update),
    native: { record: update },
  }
}
