/**
 * The small face of the index that heads, supersede and context-view ask.
 */

import type { Flow } from '../base/flow.js'
import type { Entry } from './entry.js'
import type { RecordName } from './keys/page-keys.js'
import type { Page } from './page.js'
import type { StreamState } from './root.js'

export interface IndexReader {
  /** number of records; positions are 1…length */
  readonly length: number
  page(number: number): Flow<Page>
  entry(pos: number): Flow<Entry>
  /** The positions that a key may lead to, in rising order: to be confirmed. */
  candidates(key: number): Flow<number[]>
}

/** An index with all that look-ups ask: as it is, or as it stood. */
export interface IndexView extends IndexReader {
  readonly state: StreamState
  /** A newest record's names, when they are in memory. */
  nameOf(pos: number): RecordName | undefined
  /** The entry of the record taken in last, when it is the one at a position. */
  newestAt(pos: number): Entry | undefined
}
