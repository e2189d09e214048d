/**
 * What the library hands out piece by piece: each step looks first whether the stream is still open.
 */
export class Steps<T> implements AsyncIterableIterator<T> {
  private readonly inner: AsyncIterator<T>

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
    try {
      this.assertOpen()
    } catch (error) {
      return Promise.reject(error)
    }
    return this.inner.next()
  }

  async return(): Promise<IteratorResult<T>> {
    await this.inner.return?.()
    return { done: true, value: undefined }
  }
}
