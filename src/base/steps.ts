/**
 * What the library hands out piece by piece: each step looks first whether the event loop is to go round, and whether the
 * stream is still open.
 */
import { turns } from './turn.js'

export class Steps<T> implements AsyncIterableIterator<T> {
  private readonly inner: AsyncIterator<T>
  private waiting: Promise<void> | undefined

  constructor(
    iterable: AsyncIterable<T>,
    /** throws ASR_CLOSED once the store is closed or the stream deleted */
    private readonly assertOpen: () => void,
  ) {
    this.inner = iterable[Symbol.asyncIterator]()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<T>> {
    // Callers who do not wait for one another are served in turn.
    if (this.waiting !== undefined) return this.waiting.then(() => this.next())
    if (turns.isOver()) return this.afterTurn()
    try {
      this.assertOpen()
    } catch (error) {
      return Promise.reject(error)
    }
    return this.inner.next()
  }

  private afterTurn(): Promise<IteratorResult<T>> {
    this.waiting = turns.next().then(() => {
      this.waiting = undefined
    })
    return this.waiting.then(() => this.next())
  }

  async return(): Promise<IteratorResult<T>> {
    await this.inner.return?.()
    return { done: true, value: undefined }
  }
}
