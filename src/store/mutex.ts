/**
 * One at a time, in the order of asking.
 */
export class Mutex {
  private last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.last.then(work)
    this.last = result.catch(() => undefined)
    return result
  }
}
