/**
 * Tool calls: what was asked, how it stands, and what came of it.
 */
import { type Chain, chainItems, chainOf, linked } from '../chain.js'
import { isObject, type JsonObject, typedItems } from '../json.js'
import { NO_CONTENT, withChunk } from './content.js'
import { chunkMeta, patchedList, patchedMeta, patchedText, patchedValue } from './patch.js'
import { patchedStatus } from './status.js'

export interface ToolCallState {
  readonly toolCallId: string
  readonly name: string | undefined
  readonly title: string | undefined
  readonly kind: string | undefined
  readonly status: string | undefined
  /** content, diffs, terminals and what else there is, in ACP's order */
  readonly items: Chain<JsonObject> | undefined
  readonly fromChunks: boolean
  /** the last item is plain text of a chunk */
  readonly open: boolean
  readonly locations: readonly unknown[] | undefined
  readonly rawInput: unknown
  readonly rawOutput: unknown
  readonly meta: JsonObject | undefined
}

const UNDER_WAY: ReadonlySet<unknown> = new Set([undefined, 'pending', 'in_progress'])

export function isUnderWay(status: unknown): boolean {
  return UNDER_WAY.has(status)
}

/** A call after an update of it or a chunk of its content; undefined when the update can not be read. */
export function foldToolCall(state: ToolCallState | undefined, update: JsonObject): ToolCallState | undefined {
  const { toolCallId } = update
  if (typeof toolCallId !== 'string') return undefined
  const before = state ?? newToolCall(toolCallId)
  if (update.sessionUpdate === 'tool_call_content_chunk') return withContentChunk(before, update)
  return {
    toolCallId,
    name: patchedText(before.name, update.name),
    title: patchedText(before.title, update.title),
    kind: patchedText(before.kind, update.kind),
    status: patchedStatus(before.status, update.status),
    ...patchedItems(before, update.content),
    locations: patchedList(before.locations, update.locations),
    rawInput: patchedValue(before.rawInput, update.rawInput),
    rawOutput: patchedValue(before.rawOutput, update.rawOutput),
    meta: patchedMeta(before.meta, update._meta),
  }
}

export function itemsOf(state: ToolCallState): JsonObject[] {
  return chainItems(state.items)
}

export function newToolCall(toolCallId: string): ToolCallState {
  return {
    toolCallId,
    name: undefined,
    title: undefined,
    kind: undefined,
    status: undefined,
    items: undefined,
    fromChunks: false,
    open: false,
    locations: undefined,
    rawInput: undefined,
    rawOutput: undefined,
    meta: undefined,
  }
}

type Items = Pick<ToolCallState, 'items' | 'fromChunks' | 'open'>

function patchedItems({ items, fromChunks, open }: ToolCallState, value: unknown): Items {
  const whole = value === null ? [] : typedItems(value)
  return whole === undefined ? { items, fromChunks, open } : { items: chainOf(whole), fromChunks: false, open: false }
}

/** An item more. Text that follows text of a chunk is one item with it, as in messages. */
function withContentChunk(state: ToolCallState, update: JsonObject): ToolCallState | undefined {
  const { content: item, _meta } = update
  if (!isObject(item) || typeof item.type !== 'string') return undefined
  const fromChunks = state.fromChunks || state.items === undefined
  const meta = chunkMeta(state.meta, _meta)
  const block = plainBlock(item)
  if (block === undefined) return { ...state, items: linked(state.items, item), fromChunks, open: false, meta }
  const last = state.open ? plainBlock(state.items?.last) : undefined
  const before = last === undefined ? NO_CONTENT : { blocks: linked(undefined, last), fromChunks, open: true }
  const { blocks, open } = withChunk(before, block)
  const rest = blocks?.before === undefined && last !== undefined ? state.items?.before : state.items
  return { ...state, items: linked(rest, { type: 'content', content: blocks?.last }), fromChunks, open, meta }
}

/** The block of a content item that is nothing more. */
function plainBlock(item: JsonObject | undefined): JsonObject | undefined {
  if (item?.type !== 'content' || Object.keys(item).length !== 2) return undefined
  return isObject(item.content) ? item.content : undefined
}
