/**
 * How much the battery runs, and its cases by number: `ASR_DEEP=1` for the long tier; `ASR_SEED` makes a run repeatable,
 * `ASR_FROM` goes on from a case, `ASR_CASE` runs one alone, `ASR_STOP=1` ends with the first that fails. A failure names all it
 * takes to see it again.
 */
import * as assert from 'uvu/assert'

export const DEEP = process.env.ASR_DEEP === '1'
/** The short tier always runs the same cases; the long one new ones each time. */
export const SEED = Number(process.env.ASR_SEED ?? (DEEP ? Date.now() % 1_000_000_000 : 1))

const FROM = Number(process.env.ASR_FROM ?? 0)
const ONLY = process.env.ASR_CASE === undefined ? undefined : Number(process.env.ASR_CASE)
/** No case takes longer. */
const CASE_MS_MAX = 20_000
/** So many different failures are told of one test. */
const TOLD_MAX = 5

process.stdout.write(`seed ${SEED}${DEEP ? ', deep' : ''}\n`)

/** A number for each tier. */
export function figure(short: number, deep: number): number {
  return DEEP ? deep : short
}

/** Numbers that follow from a seed alone. */
export class Random {
  #state: number

  constructor(...seeds: number[]) {
    this.#state = seeds.reduce((mixed, seed) => Math.imul(mixed ^ (seed + 0x9e3779b9), 0x85ebca6b) >>> 0, 0x2545f491)
    for (let i = 0; i < 4; i++) this.next()
  }

  /** From 0 up to, not with, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }

  /** A whole number from 0 up to, not with, a limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }
}

/** Counts of what happened, printed with the test so that `docs/promises.md` can say them. */
export class Tally {
  readonly #counts = new Map<string, number>()
  readonly #started = performance.now()

  constructor(readonly title: string) {}

  add(what: string, count = 1): void {
    this.#counts.set(what, this.get(what) + count)
  }

  get(what: string): number {
    return this.#counts.get(what) ?? 0
  }

  print(): void {
    const counts = [...this.#counts].map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
    const seconds = (performance.now() - this.#started) / 1000
    process.stdout.write(`figure: ${this.title}: ${counts.join(', ')} (${seconds.toFixed(1)} s)\n`)
  }
}

/** A call that never comes back fails too, where it lets go of the processor at all. */
async function inTime<T>(work: T | Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not end within ${CASE_MS_MAX} ms`)), CASE_MS_MAX)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Runs cases 0 … count-1, all of them; fails at the end, once, with how many failed and the first of each kind. The test
 * that calls it is a case's family: `family` keeps the random numbers of two of them apart.
 */
export async function cases(
  family: string,
  count: number,
  run: (n: number, random: Random, tally: Tally) => Promise<void> | void,
): Promise<Tally> {
  const tally = new Tally(family)
  const failures = new Map<string, { count: number; text: string }>()
  const salt = [...family].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7)
  for (let n = ONLY ?? FROM; n < (ONLY === undefined ? count : ONLY + 1); n++) {
    tally.add('cases')
    try {
      await inTime(run(n, new Random(SEED, salt, n), tally))
    } catch (error) {
      if (process.env.ASR_STOP === '1') process.exit(1)
      const { message, stack, details } = error as Error & { details?: string }
      const kind = message.replace(/[0-9]+|"[^"]*"/g, '#').slice(0, 120)
      const known = failures.get(kind)
      if (known !== undefined) known.count++
      else failures.set(kind, { count: 1, text: `case ${n}: ${details ? `${message}\n${details}` : stack}` })
    }
  }
  tally.print()
  const failed = [...failures.values()].reduce((sum, failure) => sum + failure.count, 0)
  if (failed === 0) return tally
  const told = [...failures.values()].sort((a, b) => b.count - a.count).slice(0, TOLD_MAX)
  const texts = told.map(({ count: times, text }) => `${times} x, e.g. ${text}`)
  return assert.unreachable(
    `${family}: ${failed} of ${tally.get('cases')} cases failed (ASR_SEED=${SEED} ASR_CASE=n)\n${texts.join('\n')}`,
  ) as never
}
