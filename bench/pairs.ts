/**
 * Two ways of doing the same work, in short alternating slices of one process: what disturbs the machine disturbs both,
 * and the ratio of two neighbours is worth more than a ratio of whole runs.
 */
import { setImmediate } from 'node:timers/promises'

export interface Slice {
  /** Not timed. Must not wait: what the other side left to do would be done here, for nothing. */
  prepare?(number: number): void
  run(number: number): void | Promise<void>
}

export interface Pairs {
  /** medians, in milliseconds a slice */
  ours: number
  peer: number
  /** median of the pairs' ratios: peer / ours */
  ratio: number
  spread: { low: number; high: number }
  pairs: number
}

const WARM_UP = 5

export async function alternate(pairs: number, ours: Slice, peer: Slice): Promise<Pairs> {
  const times: { ours: number; peer: number }[] = []
  for (let number = 0; number < WARM_UP + pairs; number++) {
    const oursFirst = number % 2 === 0
    const first = await timed(oursFirst ? ours : peer, number)
    const second = await timed(oursFirst ? peer : ours, number)
    if (number >= WARM_UP) times.push(oursFirst ? { ours: first, peer: second } : { ours: second, peer: first })
  }
  const ratios = times.map((pair) => pair.peer / pair.ours)
  return {
    ours: median(times.map((pair) => pair.ours)),
    peer: median(times.map((pair) => pair.peer)),
    ratio: median(ratios),
    spread: { low: quantile(ratios, 0.25), high: quantile(ratios, 0.75) },
    pairs,
  }
}

/**
 * Milliseconds. Work that goes on behind a promise gets a turn of the event loop inside its own slice; a slice without
 * a promise is timed to the end of the call, and nothing of the other side runs in it.
 */
async function timed(slice: Slice, number: number): Promise<number> {
  slice.prepare?.(number)
  const start = performance.now()
  const running = slice.run(number)
  if (running !== undefined) {
    await running
    await setImmediate()
  }
  return performance.now() - start
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const low = Math.floor(at)
  const next = sorted[Math.min(low + 1, sorted.length - 1)]
  return sorted[low] + (next - sorted[low]) * (at - low)
}
