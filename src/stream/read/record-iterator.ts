/**
 * Records at rising positions, one after the other. Written by hand: an async generator would spend more on promises
 * than the reading takes, and most records are in what was read last.
 */
import type { MaybePromise } from '../../base/flow.js'
import { turns } from '../../base/turn.js'
import type { StoredRecord } from '../../record/record.js'
import type { RecordReader } from './record-reader.js'

export class RecordIterator implements AsyncIterableIterator<StoredRecord> {
  private loading: Promise<unknown> | undefined
  private positions: Iterator<MaybePromise<number>> | undefined

  constructor(
    private readonly reader: RecordReader,
    /** throws ASR_CLOSED once the store is closed or the stream deleted */
    private readonly assertOpen: () => void,
    /** which records, worked out when the first is asked for; 0 stands for none */
    private readonly choose: () => MaybePromise<Iterator<MaybePromise<number>>>,
    /** called at the end: may throw for what is missing there */
    private readonly atEnd: () => void = () => undefined,
  ) {}

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<StoredRecord>> {
    // Callers who do not wait for one another are served in turn: there is one window of bytes.
    if (this.loading !== undefined) return this.loading.then(() => this.next())
    if (turns.isOver()) return this.inTurn(turns.next()).then(() => this.next())
    try {
      this.assertOpen()
      if (this.positions === undefined) return this.begin()
      for (let step = this.positions.next(); !step.done; step = this.positions.next()) {
        const pos = step.value
        if (pos === 0) continue
        const held = typeof pos === 'number' ? this.reader.held(pos) : undefined
        return held === undefined ? this.load(pos) : Promise.resolve({ done: false, value: held })
      }
      this.atEnd()
      return Promise.resolve({ done: true, value: undefined })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  return(): Promise<IteratorResult<StoredRecord>> {
    this.positions = [].values()
    return Promise.resolve({ done: true, value: undefined })
  }

  private begin(): Promise<IteratorResult<StoredRecord>> {
    return this.inTurn(
      Promise.resolve(this.choose()).then((positions) => {
        this.positions = positions
      }),
    ).then(() => this.next())
  }

  private load(position: MaybePromise<number>): Promise<IteratorResult<StoredRecord>> {
    return this.inTurn(this.recordAt(position)).then((value) =>
      value === undefined ? this.next() : { done: false, value },
    )
  }

  private async recordAt(position: MaybePromise<number>): Promise<StoredRecord | undefined> {
    const pos = await position
    return pos === 0 ? undefined : this.reader.record(pos)
  }

  /** Has later calls wait for this one, however it ends. */
  private inTurn<T>(work: Promise<T>): Promise<T> {
    const done = (): void => {
      this.loading = undefined
    }
    this.loading = work.then(done, done)
    return work
  }
}
