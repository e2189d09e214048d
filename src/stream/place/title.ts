/**
 * What a stream is called.
 */

import { isAsrError } from '../../base/error.js'
import type { Flow } from '../../base/flow.js'
import { ActivePath } from '../../heads/path.js'
import { PRIMARY } from '../../record/record.js'
import type { Lookup } from './lookup.js'

/** The last `session_info.title` on primary's path. */
export function* titleOf(lookup: Lookup): Flow<string | null> {
  const { index } = lookup
  const path = new ActivePath(index, index.state.heads.get(PRIMARY) ?? 0)
  for (const pos of yield* path.landmarks('info')) {
    const title = yield* titleAt(lookup, pos)
    if (title !== undefined) return typeof title === 'string' ? title : null
  }
  return null
}

/** The title that a record gives; of a damaged one there is none to be told. */
function* titleAt(lookup: Lookup, pos: number): Flow<unknown> {
  try {
    return (yield* lookup.record(pos)).title
  } catch (error) {
    if (isAsrError(error, 'ASR_CORRUPT')) return null
    throw error
  }
}
