/**
 * The small face of the index that heads, supersede and context-view ask.
 */
import type { Entry } from './entry.js'
import type { Page } from './page.js'
import type { Query } from './query.js'

export interface IndexReader {
  /** number of records; positions are 1…length */
  readonly length: number
  page(number: number): Query<Page>
  entry(pos: number): Query<Entry>
  /** The positions that a key may lead to, in rising order: to be confirmed. */
  candidates(key: number): Query<number[]>
}
