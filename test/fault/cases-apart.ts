/**
 * Cases that may end their process: they run in a child, which is started again behind the case that ended it.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { Random, SEED, Tally } from './battery.js'

/** What a child says of each case: a line of JSON. */
export interface Told {
  n: number
  /** what happened, to be counted */
  what?: string
  failure?: string
}

const CASE_MS_MAX = 20_000

/** Children run one case after the other, and say how each went. */
export async function runCases(
  count: number,
  from: number,
  run: (n: number, random: Random) => Promise<string>,
): Promise<void> {
  for (let n = from; n < count; n++) {
    const told: Told = { n }
    process.stdout.write(`${JSON.stringify({ n })}\n`)
    try {
      told.what = await run(n, new Random(SEED, n))
    } catch (error) {
      const { message, details, stack } = error as Error & { details?: string }
      told.failure = details ? `${message}\n${details}` : `${stack}`
    }
    await new Promise<void>((resolve) => process.stdout.write(`${JSON.stringify(told)}\n`, () => resolve()))
  }
}

export interface Ended {
  n: number
  /** a signal, or an exit code */
  how: string
}

/** Runs a script's cases to the end; `ended` are those that ended their process. Fails when others fail. */
export async function casesApart(
  family: string,
  script: URL,
  args: string[],
  count: number,
): Promise<{ tally: Tally; ended: Ended[] }> {
  const tally = new Tally(family)
  const failures: string[] = []
  const ended: Ended[] = []
  let kinds = new Map<string, number>()
  for (let from = 0; from < count; ) {
    const { last, how, done } = await oneChild(script, [...args, String(count), String(from)], (told) => {
      tally.add('cases')
      if (told.what !== undefined) tally.add(told.what)
      if (told.failure === undefined) return
      const kind = told.failure.replace(/[0-9]+|"[^"]*"/g, '#').slice(0, 120)
      kinds = kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
      if (kinds.get(kind) === 1) failures.push(`case ${told.n}: ${told.failure}`)
    })
    if (done) break
    tally.add('cases')
    tally.add(`ended by ${how}`)
    ended.push({ n: last, how })
    from = last + 1
  }
  tally.print()
  const failed = [...kinds.values()].reduce((sum, times) => sum + times, 0)
  assert.is(
    failed,
    0,
    `${family}: ${failed} of ${count} cases failed (ASR_SEED=${SEED})\n${failures.slice(0, 5).join('\n')}`,
  )
  return { tally, ended }
}

async function oneChild(
  script: URL,
  args: string[],
  tell: (told: Told) => void,
): Promise<{ last: number; how: string; done: boolean }> {
  const child = spawn(process.execPath, ['--enable-source-maps', fileURLToPath(script), ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ASR_SEED: String(SEED) },
  })
  let last = Number(args.at(-1)) - 1
  let late: ReturnType<typeof setTimeout> | undefined
  let isLate = false
  const wait = (): void => {
    clearTimeout(late)
    late = setTimeout(() => {
      isLate = true
      child.kill('SIGKILL')
    }, CASE_MS_MAX)
  }
  wait()
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    if (!line.startsWith('{')) return
    wait()
    const told = JSON.parse(line) as Told
    last = told.n
    if (told.what !== undefined || told.failure !== undefined) tell(told)
  })
  const [how] = await Promise.all([
    new Promise<string>((resolve) => child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`))),
    new Promise<void>((resolve) => lines.once('close', () => resolve())),
  ])
  clearTimeout(late)
  return { last, how: isLate ? 'the clock' : how, done: how === 'exit code 0' }
}
