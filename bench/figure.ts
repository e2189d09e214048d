/**
 * What a figure is given, and what it gives back.
 */
import { cwd } from 'node:process'
import type { Row } from './row.js'

/** npm runs scripts in the project's folder. */
export const projectRoot = cwd()

export interface Context {
  /** data made for the benchmark; emptied afterwards */
  temp: string
  /** small sizes: to see that it works, not to judge by */
  quick: boolean
}

export type Figure = (context: Context) => Promise<Row[]>

/** A size of the full run, or a small one. */
export function sized(context: Context, full: number, quick: number): number {
  return context.quick ? quick : full
}

/** How many pairs of slices, or of processes. */
export function pairsOf(context: Context, full = 60): number {
  return context.quick ? Math.min(full, 10) : full
}

export function round(value: number, digits = 3): number {
  return Number(value.toPrecision(digits))
}

export function count(records: number): string {
  return records.toLocaleString('en')
}
