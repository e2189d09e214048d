/**
 * What all streams of a store share.
 */
import type { RowCache } from '../index/row-cache.js'
import type { IndexLevel } from '../index/rows.js'
import type { LogStorage } from '../log/storage.js'
import type { Diagnostic } from '../record/error.js'

export interface Environment {
  storage: LogStorage
  level: IndexLevel
  cache: RowCache
  durability: 'process' | 'disk'
  readOnly: boolean
  acceptLoss: boolean
  /** the machine's boot: within one, what was written is not lost with a process */
  boot: string
  /** throws ASR_FENCED when the store was taken over */
  guard(): void
  notices: Diagnostic[]
}
