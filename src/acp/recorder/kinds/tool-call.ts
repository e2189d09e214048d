/**
 * A tool call as records: the call, its result (ASR-714), and a file change for each diff in its content (ASR-715).
 */
import { numberOf } from '../../../record/exact.js'
import type { AsrRecord } from '../../../record/record.js'
import type { Entity, Stream } from '../../../stream/api.js'
import { chainOf } from '../../chain.js'
import { isFinalStatus } from '../../fold/status.js'
import { foldToolCall, isUnderWay, itemsOf, newToolCall, type ToolCallState } from '../../fold/tool-call.js'
import { hasOther, isObject, type JsonObject, objectOf, picked, textOf, typedItems } from '../../json.js'
import type { PathRef, Roots } from '../../paths.js'
import { lastLiving, type Slot, type SlotContext, type Stage, type Stored, type UpdatedKind } from '../slot.js'

const ABSENT = { state: 'absent' }

export const toolCallKind: UpdatedKind<ToolCallState> = {
  name: 'tool_call',
  idOf: ({ toolCallId }) => textOf(toolCallId),
  fold: foldToolCall,
  isFinal: ({ status }) => isFinalStatus(status),
  slots(state, context) {
    const status = resultStatus(state, context.stage)
    const slots: Slot[] = [callSlot(state, context.roots)]
    if (status === undefined) return slots
    return [...slots, resultSlot(state, status), ...changeSlots(state, context)]
  },
  find: findCall,
  revive: revived,
}

/** Diffs are told apart by their index in the content. */
export function changeSlotName(index: number): string {
  return `file_change/${index}`
}

/** How detached records of a call are named behind the call's own id. */
export function changeId(callRecordId: string, number: number): string {
  return `${callRecordId}.d${number}`
}

function callSlot(state: ToolCallState, roots: Roots): Slot {
  const { toolCallId, name, title, kind, rawInput, locations, meta } = state
  return {
    name: 'tool_call',
    body: {
      type: 'tool_call',
      callId: toolCallId,
      callIdSource: 'native',
      ...picked({ name, title, kind, input: rawInput }, ['name', 'title', 'kind', 'input']),
      ...(locations && { locations: locations.flatMap((location) => locationRef(location, roots)) }),
      assembly: 'folded',
      ...(name === undefined && { capture: { name: ABSENT } }),
      ...(meta && { _meta: meta }),
    },
  }
}

function locationRef(location: unknown, roots: Roots): (PathRef & { line?: unknown })[] {
  if (!isObject(location) || typeof location.path !== 'string') return []
  return [{ ...roots.ref(location.path), ...(numberOf(location.line) !== undefined && { line: location.line }) }]
}

/**
 * What a result of the call would say now; undefined when there is nothing to say yet. Only at the end of a turn does a
 * status that is neither final nor under way count: a vendor's is kept, any other is `unknown` (M7).
 */
function resultStatus(state: ToolCallState, stage: Stage): string | undefined {
  const { status, rawOutput } = state
  if (status !== undefined && isFinalStatus(status)) return status
  if (state.items === undefined && rawOutput === undefined) return undefined
  if (stage !== 'end' || status === undefined || isUnderWay(status)) return 'partial'
  return status.startsWith('_') ? status : 'unknown'
}

function resultSlot(state: ToolCallState, status: string): Slot {
  const items = itemsOf(state)
  const shown = items
    .filter(({ type }) => type === 'content')
    .flatMap(({ content }) => (isObject(content) ? [content] : []))
  const terminal = items.find(({ type, terminalId }) => type === 'terminal' && typeof terminalId === 'string')
  const left = items.some((item) => hasNoPlace(item, terminal))
  return {
    name: 'tool_result',
    growing: status === 'partial',
    body: {
      type: 'tool_result',
      callId: state.toolCallId,
      status,
      linkage: 'exact',
      ...(shown.length > 0 && { displayContent: shown }),
      ...(state.rawOutput !== undefined && { raw: state.rawOutput }),
      ...(terminal && { exec: { terminalId: terminal.terminalId } }),
      assembly: state.fromChunks ? 'chunks' : 'folded',
      capture: { content: ABSENT },
      ...(left && { native: { record: { content: items } } }),
    },
  }
}

/** Whether a content item says more than records have a place for (M19, M26): then all items are kept as they came. */
function hasNoPlace(item: JsonObject, terminal: JsonObject | undefined): boolean {
  if (item.type === 'content') return hasOther(item, ['type', 'content']) || !isObject(item.content)
  if (item.type === 'terminal') return item !== terminal || hasOther(item, ['type', 'terminalId'])
  return item.type !== 'diff'
}

const CHANGE_STATUS: ReadonlyMap<unknown, string> = new Map([
  ['completed', 'applied'],
  ['failed', 'failed'],
  ['cancelled', 'unknown'],
])

function changeSlots(state: ToolCallState, { roots }: SlotContext): Slot[] {
  return itemsOf(state)
    .filter(({ type }) => type === 'diff')
    .map((diff, index) => {
      const patch = objectOf(diff.patch)
      const changes = Array.isArray(diff.changes) ? diff.changes.filter(isObject) : []
      return {
        name: changeSlotName(index),
        detached: true,
        body: {
          type: 'file_change',
          cause: { callId: state.toolCallId },
          changes: changes.map((change) => changeOf(change, roots)),
          ...(patch && { patch: picked(patch, ['format', 'text']) }),
          precision: patch === undefined ? 'unknown' : 'hunks',
          status: CHANGE_STATUS.get(state.status) ?? 'proposed',
          ...(diffHasMore(diff, changes, patch) && { native: { record: diff } }),
        },
      }
    })
}

function changeOf(change: JsonObject, roots: Roots): Record<string, unknown> {
  const { operation, path, oldPath } = change
  return {
    ...(typeof operation === 'string' && { op: operation }),
    ...(typeof path === 'string' && { path: roots.ref(path) }),
    ...(typeof oldPath === 'string' && { oldPath: roots.ref(oldPath) }),
    ...picked(change, ['fileType', 'mimeType']),
  }
}

function diffHasMore(diff: JsonObject, changes: readonly JsonObject[], patch: JsonObject | undefined): boolean {
  return (
    hasOther(diff, ['type', 'changes', 'patch']) ||
    (patch !== undefined && hasOther(patch, ['format', 'text'])) ||
    changes.some((change) => hasOther(change, ['operation', 'path', 'oldPath', 'fileType', 'mimeType']))
  )
}

async function findCall(stream: Stream, id: string): Promise<Stored | undefined> {
  const call = await lastLiving(stream, 'tool_call', id)
  const result = await lastLiving(stream, 'tool_result', id)
  const slots = new Map<string, Entity>()
  if (call !== undefined) slots.set('tool_call', call)
  if (result !== undefined) slots.set('tool_result', result)
  if (slots.size === 0) return undefined
  // Of a call that was refused there may be a result; what it changed is named below a call's id.
  if (call === undefined || result === undefined) return { slots, detached: 0 }
  const changes: Entity[] = []
  for (;;) {
    const [change] = await stream.entity('file_change', changeId(call.first.id, changes.length), { anywhere: true })
    if (change === undefined) break
    changes.push(change)
  }
  const living = changes.filter(({ inForce }) => inForce !== null)
  for (const [index, change] of living.entries()) slots.set(changeSlotName(index), change)
  return { slots, detached: changes.length }
}

function revived(toolCallId: string, bodies: ReadonlyMap<string, AsrRecord>, roots: Roots): ToolCallState {
  const call = bodies.get('tool_call')
  const result = bodies.get('tool_result')
  const items = result === undefined ? [] : revivedItems(result, bodies, roots)
  return {
    ...newToolCall(toolCallId),
    name: textOf(call?.name),
    title: textOf(call?.title),
    kind: textOf(call?.kind),
    status: revivedStatus(result?.status),
    items: chainOf(items),
    fromChunks: result?.assembly === 'chunks',
    locations: revivedLocations(call?.locations, roots),
    rawInput: call?.input ?? undefined,
    rawOutput: result?.raw ?? undefined,
    meta: objectOf(call?._meta),
  }
}

function revivedStatus(status: unknown): string | undefined {
  if (status === 'partial') return undefined
  return status === 'unknown' ? 'other' : textOf(status)
}

function revivedItems(result: AsrRecord, bodies: ReadonlyMap<string, AsrRecord>, roots: Roots): JsonObject[] {
  const kept = typedItems(objectOf(objectOf(result.native)?.record)?.content)
  if (kept !== undefined) return kept
  const shown = typedItems(result.displayContent) ?? []
  const items: JsonObject[] = shown.map((content) => ({ type: 'content', content }))
  for (let index = 0; bodies.has(changeSlotName(index)); index++) {
    items.push(revivedDiff(bodies.get(changeSlotName(index)) as AsrRecord, roots))
  }
  const terminalId = textOf(objectOf(result.exec)?.terminalId)
  return terminalId === undefined ? items : [...items, { type: 'terminal', terminalId }]
}

function revivedDiff(body: AsrRecord, roots: Roots): JsonObject {
  const kept = objectOf(objectOf(body.native)?.record)
  if (kept !== undefined) return kept
  const changes: unknown[] = Array.isArray(body.changes) ? body.changes : []
  return {
    type: 'diff',
    changes: changes.filter(isObject).map(({ op, path, oldPath, ...rest }) => ({
      operation: op,
      ...(isObject(path) && { path: roots.absolute(path as unknown as PathRef) }),
      ...(isObject(oldPath) && { oldPath: roots.absolute(oldPath as unknown as PathRef) }),
      ...rest,
    })),
    ...(isObject(body.patch) && { patch: body.patch }),
  }
}

function revivedLocations(locations: unknown, roots: Roots): unknown[] | undefined {
  if (!Array.isArray(locations)) return undefined
  return locations.filter(isObject).map(({ root, path, ...rest }) => ({
    path: roots.absolute({ root: textOf(root) ?? null, path: String(path) }),
    ...rest,
  }))
}
