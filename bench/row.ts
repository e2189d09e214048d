/**
 * A line of the results: our figure, a peer's beside it, the ratio, and what was to be reached.
 */

export type Unit = 'us' | 'ms' | 's' | 'MB' | 'KB' | 'bytes'

export interface Measure {
  value: number
  unit: Unit
}

export interface Target {
  bound: 'at least' | 'at most'
  value: number
  /** of the ratio, else of our own figure */
  of: 'ratio' | 'ours'
}

export interface Row {
  work: string
  ours?: Measure
  peer?: Measure & { name: string }
  /** how many times as fast as the peer; where less is to be reached, our share of the peer's figure */
  ratio?: number
  /** the middle half of the pairs' ratios */
  spread?: { low: number; high: number }
  pairs?: number
  target?: Target
  note?: string
}

/** Whether the target was reached; undefined without a target, or without the figure. */
export function isMet({ ours, ratio, target }: Row): boolean | undefined {
  const value = target?.of === 'ratio' ? ratio : ours?.value
  if (target === undefined || value === undefined) return undefined
  return target.bound === 'at least' ? value >= target.value : value <= target.value
}

export function atLeast(value: number): Target {
  return { bound: 'at least', value, of: 'ratio' }
}

export function atMost(value: number): Target {
  return { bound: 'at most', value, of: 'ratio' }
}

export function oursAtMost(value: number): Target {
  return { bound: 'at most', value, of: 'ours' }
}

/** The row, or without a peer that is not to be had, the reason. */
export async function rowOrReason(work: string, make: () => Promise<Row>): Promise<Row> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof PeerMissing) return { work, note: error.message }
    throw error
  }
}

/** A peer that is not installed or does not run here. */
export class PeerMissing extends Error {}
