/**
 * Ctrl-C, and what else asks a process to end: what is being done is given up cleanly and the store closed.
 */
import { constants } from 'node:os'
import { setImmediate } from 'node:timers/promises'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The command was stopped from outside. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted')
    this.name = 'Interrupted'
  }
}

let running: AbortController | undefined
let exitCode = 0

/** Listens for the whole life of the process. A second signal ends it at once. */
export function listenForInterrupts(): void {
  for (const name of SIGNALS) {
    process.on(name, () => {
      exitCode = 128 + constants.signals[name]
      if (running === undefined || running.signal.aborted) process.exit(exitCode)
      running.abort()
    })
  }
}

/** What a process ends with after a signal. */
export function interruptedCode(): number {
  return exitCode
}

/** Runs with a signal that Ctrl-C aborts; what fails after that is `Interrupted`. */
export async function interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  running = controller
  try {
    return await run(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? new Interrupted() : error
  } finally {
    running = undefined
  }
}

/** Chunks with a turn of the event loop after each, so that a signal is heard between them. */
export async function* untilAborted<T>(chunks: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  for await (const chunk of chunks) {
    yield chunk
    await setImmediate()
    signal.throwIfAborted()
  }
}
