/**
 * Nothing holds the event loop: work that may be long asks between its steps whether it has had its share of time, and lets
 * the loop go round when it has. Time is what counts, not steps: all that runs between two turns of the loop, whoever
 * began it, shares one slice.
 */

/** A timer that falls due waits for the slice under way, and at worst for the one behind it. */
export const SLICE_MS = 5
/** The clock is looked at each time so much was done: asking it at each step would cost more than many a step. */
const LOOK_UNITS = 4_096
/** What one step counts for; what it reads or writes is counted by the byte. */
const STEP_UNITS = 256

export class Turns {
  private left = 0
  /** when the slice under way began; undefined: none is, the loop has turned since */
  private began: number | undefined
  private readonly waiting: (() => void)[] = []

  constructor(
    private readonly now: () => number,
    /** calls back when the loop has gone round: timers and what came in were heard */
    private readonly later: (callback: () => void) => void,
  ) {}

  /** Counts what a step works through, so that a few large ones are not taken for a few small ones. */
  spend(bytes: number): void {
    this.left -= bytes
  }

  /** Whether the slice is over: then `next()` is to be waited for. Cheap enough to be asked at each step. */
  isOver(): boolean {
    this.left -= STEP_UNITS
    return this.left < 0 && this.look()
  }

  /** Resolves when the loop has gone round. Those who wait get a slice each, one a turn, in the order of asking. */
  next(): Promise<void> {
    if (this.began === undefined) this.begin()
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  private look(): boolean {
    if (this.began === undefined) this.begin()
    else if (this.now() - this.began >= SLICE_MS) return true // and so for all who ask until the loop turns
    this.left = LOOK_UNITS
    return false
  }

  private begin(): void {
    this.began = this.now()
    this.later(() => this.turned())
  }

  private turned(): void {
    this.began = undefined
    this.left = 0
    const next = this.waiting.shift()
    if (next === undefined) return
    this.begin()
    next()
  }
}

interface Port {
  onmessage: (() => void) | null
  postMessage(message: unknown): void
}

/** What there is of ways to be called back when the loop has gone round; a browser delays nested timers by 4 ms. */
interface Host {
  setImmediate?: (callback: () => void) => unknown
  MessageChannel?: new () => { port1: Port; port2: Port }
  setTimeout(callback: () => void): unknown
}

/** The quickest way that the host has. */
export function laterIn(host: Host): (callback: () => void) => void {
  const { MessageChannel, setTimeout } = host
  if (host.setImmediate !== undefined) return (callback) => void host.setImmediate?.(callback)
  if (MessageChannel === undefined) return (callback) => void setTimeout(callback)
  const { port1, port2 } = new MessageChannel()
  const callbacks: (() => void)[] = []
  port1.onmessage = () => callbacks.shift()?.()
  return (callback) => {
    callbacks.push(callback)
    port2.postMessage(undefined)
  }
}

/** Those of this thread. */
export const turns = new Turns(() => performance.now(), laterIn(globalThis as unknown as Host))
