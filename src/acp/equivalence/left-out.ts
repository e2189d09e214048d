/**
 * What is not compared, and why (CORE-28, CORE-29).
 */
import { REPLAY_LOSS } from '../losses.js'
import type { ReplayLoss } from '../replay/api.js'
import { ACP_VENDOR } from '../revision.js'
import type { LeftOut, LeftOutOfOne } from './api.js'

/** A result of which a recording of its replay holds nothing: it is as if the call had none. */
export const EMPTY_RESULT = `_${ACP_VENDOR}/empty_result`

const WHY: ReadonlyMap<string, string> = new Map([
  [REPLAY_LOSS.compactionExtent, 'ACP does not say how far a compaction reaches'],
  ['instructions', 'ACP has no update for them'],
  [REPLAY_LOSS.interSession, 'messages between sessions are not replayed'],
  [REPLAY_LOSS.audience, 'ACP does not say that a message is for the user alone'],
  [REPLAY_LOSS.role, 'ACP knows messages of user and assistant only'],
  [REPLAY_LOSS.content, 'ACP does not take that content'],
  [REPLAY_LOSS.reasoning, 'opaque reasoning is never sent'],
  [REPLAY_LOSS.fileChange, 'ACP shows a change in the call that made it'],
  [REPLAY_LOSS.unpairedResult, 'ACP has no result without a call'],
  [EMPTY_RESULT, 'a result that is not final and holds nothing is not recorded'],
  [REPLAY_LOSS.sharedId, 'ACP knows one entity by an id: the last one counts'],
  [REPLAY_LOSS.redactedRoot, 'a path below a redacted root can not be told'],
])

/** What was left out of either stream, by category. */
export function leftOutOf(a: readonly ReplayLoss[], b: readonly ReplayLoss[]): LeftOut[] {
  return [...WHY].flatMap(([category, why]) => {
    const [ofA, ofB] = [countOf(a, category), countOf(b, category)]
    if (ofA === undefined && ofB === undefined) return []
    return [{ category, why, ...(ofA && { a: ofA }), ...(ofB && { b: ofB }) }]
  })
}

function countOf(losses: readonly ReplayLoss[], category: string): LeftOutOfOne | undefined {
  const found = losses.find(({ loss }) => loss === category)
  return found && { count: found.count, recordId: found.recordId }
}
