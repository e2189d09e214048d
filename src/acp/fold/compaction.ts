/**
 * Compactions and their summaries.
 */
import { isObject, type JsonObject } from '../json.js'
import { type Content, NO_CONTENT, withChunk } from './content.js'
import { patchedContent } from './message.js'
import { chunkMeta, patchedMeta, patchedText } from './patch.js'
import { isFinalStatus, patchedStatus } from './status.js'

export interface CompactionState {
  readonly compactionId: string
  readonly status: string
  /** undefined: ACP gave none */
  readonly summary: Content | undefined
  readonly error: string | undefined
  readonly meta: JsonObject | undefined
}

/** A compaction after an update or a chunk of its summary; undefined when that can not be read. */
export function foldCompaction(state: CompactionState | undefined, update: JsonObject): CompactionState | undefined {
  const { compactionId } = update
  if (typeof compactionId !== 'string') return undefined
  const before = state ?? newCompaction(compactionId)
  if (update.sessionUpdate === 'compaction_summary_chunk') {
    if (!isObject(update.content)) return undefined
    const summary = withChunk(before.summary ?? NO_CONTENT, update.content)
    return { ...before, summary, meta: chunkMeta(before.meta, update._meta) }
  }
  return {
    compactionId,
    status: beginsAnew(update)
      ? newCompaction(compactionId).status
      : (patchedStatus(before.status, update.status) ?? before.status),
    summary: patchedContent(before.summary, update.summary),
    error: patchedText(before.error, update.error),
    meta: patchedMeta(before.meta, update._meta),
  }
}

/** A compaction always tells its status, so null can not clear it: one that clears all that it came to is under way again. */
function beginsAnew({ status, summary, error }: JsonObject): boolean {
  return status === 'in_progress' && summary === null && error === null
}

export function isFinalCompaction({ status }: CompactionState): boolean {
  return isFinalStatus(status)
}

export function newCompaction(compactionId: string): CompactionState {
  return { compactionId, status: 'in_progress', summary: undefined, error: undefined, meta: undefined }
}
