/**
 * A call, its result and the changes to files that it caused, as one update (ASR-725, ASR-728, ASR-729).
 */
import type { StoredRecord } from '../../record/record.js'
import { isObject, type JsonObject, objectOf, typedItems } from '../json.js'
import { REPLAY_LOSS } from '../losses.js'
import type { Roots } from '../paths.js'
import type { SessionUpdate } from './api.js'
import { blocksIn } from './blocks.js'
import { absolutePath, type Draft, uint32, withMeta } from './fields.js'
import type { LossReport } from './loss-report.js'

const STATUS: ReadonlyMap<unknown, string> = new Map([
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['denied', 'failed'],
  ['cancelled', 'cancelled'],
  ['interrupted', 'cancelled'],
])

/** Operations that name two paths. */
const PAIRS: ReadonlySet<unknown> = new Set(['move', 'copy'])
const SINGLES: ReadonlySet<unknown> = new Set(['add', 'delete', 'modify'])

/** A call with what belongs to it so far. */
export interface CallParts {
  call: StoredRecord
  result?: StoredRecord
  changes?: StoredRecord[]
}

/** The status of a call by its result's; undefined when that is not the last word. A vendor's is kept (ASR-728). */
export function callStatus(status: unknown): string | undefined {
  if (status === 'partial') return undefined
  const known = STATUS.get(status)
  if (known !== undefined) return known
  return typeof status === 'string' && status.startsWith('_') ? status : 'other'
}

export function toolCallUpdate(
  { call, result, changes }: CallParts,
  toolCallId: string,
  roots: Roots,
  losses: LossReport,
): SessionUpdate {
  const update: Draft = { sessionUpdate: 'tool_call_update', toolCallId }
  if (typeof call.name === 'string') update.name = call.name
  if (typeof call.title === 'string') update.title = call.title
  if (typeof call.kind === 'string') update.kind = call.kind
  const status = result === undefined ? undefined : callStatus(result.status)
  if (status !== undefined) update.status = status
  const content = contentOf({ call, result, changes }, roots, losses)
  if (content.length > 0) update.content = content
  if (Array.isArray(call.locations)) update.locations = locationsOf(call, roots, losses)
  if ((call.input ?? null) !== null) update.rawInput = call.input
  if ((result?.raw ?? null) !== null) update.rawOutput = result?.raw
  return withMeta(update, call)
}

/** What was shown, then the diffs, then the terminal; in ACP's own order where that was kept (M19). */
function contentOf({ result, changes = [] }: CallParts, roots: Roots, losses: LossReport): JsonObject[] {
  const shown = result === undefined ? [] : shownBy(result, losses)
  if (changes.length === 0 && result?.exec === undefined && result?.native === undefined) return shown
  const diffs = changes.map((change) => diffOf(change, roots, losses))
  const kept = result && keptItems(result, shown.length, diffs.length)
  if (kept !== undefined) return kept.flatMap((item) => keptItem(item, shown, diffs))
  const terminalId: unknown = result?.exec?.terminalId
  const terminals = typeof terminalId === 'string' ? [{ type: 'terminal', terminalId }] : []
  return [...shown, ...diffs.filter((diff) => diff !== undefined), ...terminals]
}

/** What the result shows: `displayContent`, or `content` where there is none. */
function shownBy(result: StoredRecord, losses: LossReport): JsonObject[] {
  const hasDisplay = (result.displayContent ?? null) !== null
  if (hasDisplay && (result.content ?? null) !== null) losses.add(REPLAY_LOSS.toolResultContent, result.id)
  const blocks = blocksIn(hasDisplay ? result.displayContent : result.content, result.id, losses)
  return blocks.map((content) => ({ type: 'content', content }))
}

/** All items as the recorder kept them beside the records, which happens when these have no place for one. */
function keptItems(result: StoredRecord, shown: number, diffs: number): JsonObject[] | undefined {
  const items = typedItems(objectOf(objectOf(result.native)?.record)?.content)
  const count = (type: string): number => items?.filter((item) => item.type === type).length ?? 0
  return items?.every(isItem) && count('content') === shown && count('diff') === diffs ? items : undefined
}

function isItem({ type, terminalId }: JsonObject): boolean {
  if (type === 'terminal') return typeof terminalId === 'string'
  return type === 'content' || type === 'diff' || String(type).startsWith('_')
}

/** Of what has a place in the records, these speak: they may have been revised, or redacted. */
function keptItem(item: JsonObject, shown: JsonObject[], diffs: (JsonObject | undefined)[]): JsonObject[] {
  if (item.type === 'content') return [withMeta<Record<string, unknown>>({ ...shown.shift() }, item)]
  if (item.type !== 'diff') return [item]
  const diff = diffs.shift()
  return diff === undefined ? [] : [diff]
}

function locationsOf(call: StoredRecord, roots: Roots, losses: LossReport): JsonObject[] {
  const locations: JsonObject[] = []
  for (const location of call.locations as unknown[]) {
    const path = absolutePath(location, roots)
    if (path === undefined) losses.add(REPLAY_LOSS.redactedRoot, call.id)
    else {
      const line = uint32((location as JsonObject).line)
      locations.push(line === undefined ? { path } : { path, line })
    }
  }
  return locations
}

/** The diff again, with absolute paths; undefined when one of them is below a redacted root (ASR-729). */
export function diffOf(change: StoredRecord, roots: Roots, losses: LossReport): JsonObject | undefined {
  const listed: unknown[] = Array.isArray(change.changes) ? change.changes : []
  const changes: JsonObject[] = []
  for (const one of listed) {
    const sent = changeOf(one, roots)
    if (sent === undefined) losses.add(REPLAY_LOSS.redactedRoot, change.id)
    else changes.push(sent)
  }
  // A patch names the paths of all of its changes.
  if (changes.length < listed.length) return undefined
  if (isObject(change.native) && isObject(change.native.record)) losses.add(REPLAY_LOSS.diffMeta, change.id)
  const { patch } = change
  const whole = isObject(patch) && typeof patch.format === 'string' && typeof patch.text === 'string'
  return {
    type: 'diff',
    changes,
    ...(whole && { patch: { format: patch.format, text: patch.text } }),
  }
}

function changeOf(change: unknown, roots: Roots): JsonObject | undefined {
  if (!isObject(change) || typeof change.op !== 'string') return undefined
  const path = absolutePath(change.path, roots)
  const oldPath = absolutePath(change.oldPath, roots)
  if (path === undefined && (SINGLES.has(change.op) || PAIRS.has(change.op))) return undefined
  if (oldPath === undefined && PAIRS.has(change.op)) return undefined
  return {
    operation: change.op,
    ...(path !== undefined && { path }),
    ...(oldPath !== undefined && { oldPath }),
    ...(typeof change.fileType === 'string' && { fileType: change.fileType }),
    ...(typeof change.mimeType === 'string' && { mimeType: change.mimeType }),
  }
}
