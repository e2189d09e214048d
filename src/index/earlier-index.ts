/**
 * An index as it stood: what is taken in behind it meanwhile is not seen. Readers are shown it while a growth of the log
 * is taken in block by block, so that to them the growth comes all at once.
 */

import type { Flow } from '../base/flow.js'
import type { Entry } from './entry.js'
import type { RecordName } from './keys/page-keys.js'
import type { Page } from './page.js'
import type { IndexView } from './reader.js'
import type { StreamState } from './root.js'
import type { StreamIndex } from './stream-index.js'

export class EarlierIndex implements IndexView {
  readonly state: StreamState

  constructor(private readonly index: StreamIndex) {
    const { state } = index
    this.state = { ...state, heads: new Map(state.heads) } // the index's own map is changed in place
  }

  get length(): number {
    return this.state.point.pos
  }

  /** It may hold later positions too, which nobody asks for who goes by `length`. */
  page(number: number): Flow<Page> {
    return this.index.page(number)
  }

  entry(pos: number): Flow<Entry> {
    return this.index.entry(pos)
  }

  *candidates(key: number): Flow<number[]> {
    return (yield* this.index.candidates(key)).filter((pos) => pos <= this.length)
  }

  nameOf(pos: number): RecordName | undefined {
    return this.index.nameOf(pos)
  }

  newestAt(pos: number): Entry | undefined {
    return this.index.newestAt(pos)
  }
}
