/**
 * Records at rising positions, one after the other. Written by hand: an async generator would spend more on promises
 * than the reading takes, and most records are in what was read last.
 */
import type { StoredRecord } from '../record/record.js'
import type { RecordReader } from './record-reader.js'

export class RecordIterator implements AsyncIterableIterator<StoredRecord> {
  private loading: Promise<unknown> | undefined
  private positions: Iterator<number> | undefined

  constructor(
    private readonly reader: RecordReader,
    /** which records, worked out when the first is asked for */
    private readonly choose: () => Promise<Iterator<number>>,
    /** called at the end: may throw for what is missing there */
    private readonly atEnd: () => void = () => undefined,
  ) {}

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<StoredRecord>> {
    // Callers who do not wait for one another are served in turn: there is one window of bytes.
    if (this.loading !== undefined) return this.loading.then(() => this.next())
    if (this.positions === undefined) return this.begin()
    try {
      const step = this.positions.next()
      if (step.done) {
        this.atEnd()
        return Promise.resolve({ done: true, value: undefined })
      }
      const held = this.reader.held(step.value)
      return held === undefined ? this.load(step.value) : Promise.resolve({ done: false, value: held })
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
      this.choose().then((positions) => {
        this.positions = positions
      }),
    ).then(() => this.next())
  }

  private load(pos: number): Promise<IteratorResult<StoredRecord>> {
    return this.inTurn(this.reader.record(pos)).then((value) => ({ done: false, value }))
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
