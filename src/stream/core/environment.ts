/**
 * What all streams of a store share.
 */

import type { AsrError, Diagnostic, NoticeCode } from '../../base/error.js'
import type { IndexLevel } from '../../index/level.js'
import type { RowCache } from '../../index/row-cache.js'
import { IndexDamaged } from '../../index/rows.js'
import type { LogPlace } from '../../log/api.js'

export interface Environment {
  place: LogPlace
  level: IndexLevel
  cache: RowCache
  durability: 'process' | 'disk'
  readOnly: boolean
  acceptLoss: boolean
  /** the running of the machine: within one, what was written is not lost with a process; empty: unknown */
  boot: string
  /** the holder before us ended without closing, under another running of the machine: what was not synced may be lost */
  powerCut: boolean
  /** of the store, one object for all that is opened in it */
  readonly lifetime: { isOver: boolean }
  /** throws ASR_FENCED when the store was taken over: asked before each write, and again before it is acknowledged */
  guard(): void
  notices: Diagnostic[]
  /** level may be written to: not where a reader was handed one */
  mayWriteLevel: boolean
  /** level failed beyond mending: whoever owns it puts it aside when the store closes */
  isLevelBroken?: boolean
  /** has work done on the index as it is now, where `level` is a copy of before */
  withIndexNow?<T>(work: (level: IndexLevel) => Promise<T>): Promise<T>
  /** removes copies of the index that nobody uses: they hold what streams held that are deleted */
  forgetCopies?(): Promise<void>
  /** why there is no index, where there was no room for it: then streams can be deleted, and no more */
  withoutIndex?: AsrError
  /** a stream was deleted: of an index that has to be put aside, nothing may be kept */
  hasDeleted?: boolean
}

/** The error of an index that can't be kept, told; any other is thrown. */
export function noteBrokenLevel(environment: Environment, error: unknown, sessionId: string): void {
  if (!(error instanceof IndexDamaged)) throw error
  environment.isLevelBroken = true
  note(
    environment,
    'index_in_memory',
    `stream ${JSON.stringify(sessionId)}: ${error.message}; its index is kept in memory`,
  )
}

/** Tells in `store.notices` what was done or found without being asked. */
export function note(environment: Environment, code: NoticeCode, message: string): void {
  environment.notices.push({ code, message, severity: 'note' })
}
