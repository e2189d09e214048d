/**
 * Whether work lets the event loop go round. Told by the processor time of this process, so that a busy machine changes
 * nothing: where others run instead, fewer steps fit into a slice, and never more.
 */
export interface Held {
  /** timers that came through */
  timers: number
  /** processor time of the whole process, in ms */
  cpu: number
}

/** What a call did to the loop. */
export async function heldBy(call: () => Promise<unknown>): Promise<Held> {
  await new Promise((resolve) => setTimeout(resolve, 5))
  let timers = 0
  let timer = setTimeout(function again() {
    timers++
    timer = setTimeout(again)
  })
  const before = process.cpuUsage()
  try {
    await call()
  } finally {
    clearTimeout(timer)
  }
  const { user, system } = process.cpuUsage(before)
  return { timers, cpu: (user + system) / 1_000 }
}

/** Processor time to a timer, at most: a slice takes 5 ms, a timer may miss one, and collections of garbage come on top. */
export const CPU_PER_TIMER_MAX = 40

export function cpuPerTimer({ timers, cpu }: Held): number {
  return cpu / (timers + 1)
}
