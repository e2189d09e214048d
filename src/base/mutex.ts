import type { MaybePromise } from './flow.js'

/**
 * One at a time, in the order of asking. Where nobody holds it, the work is done at once.
 */
export class Mutex {
  private isHeld = false
  private readonly waiting: (() => void)[] = []

  run<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    if (!this.isHeld) return this.hold(work)
    return new Promise<void>((resolve) => this.waiting.push(resolve)).then(() => this.hold(work))
  }

  private hold<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    this.isHeld = true
    let result: MaybePromise<T>
    try {
      result = work()
    } catch (error) {
      this.release()
      throw error
    }
    if (result instanceof Promise) return result.finally(() => this.release())
    this.release()
    return result
  }

  /** Hands it on to the one that waits longest; until that one's turn comes it is held. */
  private release(): void {
    const next = this.waiting.shift()
    if (next === undefined) this.isHeld = false
    else next()
  }
}

/** One at a time for each key; those of different keys do not wait for one another. */
export class KeyedMutex {
  private readonly held = new Map<string, { mutex: Mutex; users: number }>()

  async run<T>(key: string, work: () => MaybePromise<T>): Promise<T> {
    const entry = this.held.get(key) ?? { mutex: new Mutex(), users: 0 }
    this.held.set(key, entry)
    entry.users++
    try {
      return await entry.mutex.run(work)
    } finally {
      if (--entry.users === 0) this.held.delete(key)
    }
  }

  /** Once nobody holds any key. */
  async idle(): Promise<void> {
    for (let [entry] = this.held.values(); entry !== undefined; [entry] = this.held.values())
      await entry.mutex.run(() => undefined)
  }
}
