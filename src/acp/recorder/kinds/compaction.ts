/**
 * Compactions as records (ASR-719). What they replace is named by the recorder when it first sees them.
 */
import type { AsrRecord } from '../../../record/record.js'
import { type CompactionState, foldCompaction, isFinalCompaction, newCompaction } from '../../fold/compaction.js'
import { assemblyOf, blocksOf, wholeContent } from '../../fold/content.js'
import { objectOf, textOf, typedItems } from '../../json.js'
import { findSingle, type UpdatedKind } from '../slot.js'

export const compactionKind: UpdatedKind<CompactionState> = {
  name: 'compaction',
  idOf: ({ compactionId }) => textOf(compactionId),
  fold: foldCompaction,
  isFinal: isFinalCompaction,
  slots({ compactionId, status, summary, error, meta }) {
    const underWay = status === 'in_progress'
    const blocks = summary === undefined ? [] : blocksOf(summary)
    const body = {
      type: 'compaction',
      compactionId,
      kind: 'summary',
      status: underWay ? 'partial' : status,
      ...(blocks.length > 0 && { summary: blocks }),
      ...(error !== undefined && { error }),
      assembly: summary === undefined ? 'folded' : assemblyOf(summary),
      ...(blocks.length === 0 && { capture: { summary: { state: 'absent' } } }),
      ...(meta && { _meta: meta }),
    }
    return [{ name: 'compaction', body, growing: underWay }]
  },
  find: (stream, id) => findSingle(stream, 'compaction', id),
  revive(compactionId, bodies) {
    const body = bodies.get('compaction') as AsrRecord
    const blocks = typedItems(body.summary)
    return {
      ...newCompaction(compactionId),
      status: body.status === 'partial' ? 'in_progress' : (textOf(body.status) ?? 'in_progress'),
      summary: blocks && wholeContent(blocks, body.assembly === 'chunks'),
      error: textOf(body.error),
      meta: objectOf(body._meta),
    }
  },
}
