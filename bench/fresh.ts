/**
 * Work in fresh processes.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env, execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import type { Took } from './fresh-child.js'
import { median } from './pairs.js'
import { PeerMissing } from './row.js'

export type WorkName = `${'node' | 'asr' | 'sqlite' | 'level' | 'jsonl' | 'pi' | 'langgraph'} ${string}`

const child = fileURLToPath(new URL('fresh-child.js', import.meta.url))
const cpuHook = fileURLToPath(new URL('cpu-at-exit.cjs', import.meta.url))

/** Runs a piece of work, by its module in works/ and its name, in a process of its own. @throws PeerMissing */
export function fresh(work: WorkName, path = '', argument = ''): Took {
  const [module, ...name] = work.split(' ')
  const { stdout, stderr, status } = spawnSync(execPath, [child, module, name.join(' '), path, argument], {
    encoding: 'utf8',
  })
  if (status === 0) return JSON.parse(stdout) as Took
  const reason = /PeerMissing: (.*)/.exec(stderr)
  if (reason !== null) throw new PeerMissing(reason[1])
  throw new Error(`${work} failed: ${stderr}`)
}

/** The median of a figure over some fresh processes. */
export function freshMedian(
  times: number,
  figure: (took: Took) => number,
  work: WorkName,
  path = '',
  argument = '',
): number {
  return median(Array.from({ length: times }, () => figure(fresh(work, path, argument))))
}

export interface Ran {
  wallMs: number
  cpuMs: number
}

/** Runs a Node program whose output nobody reads. */
export function runNode(args: readonly string[]): Ran {
  const folder = mkdtempSync(join(tmpdir(), 'asr-bench-cpu-'))
  const file = join(folder, 'cpu')
  try {
    const start = performance.now()
    const { status, stderr } = spawnSync(execPath, ['--require', cpuHook, ...args], {
      env: { ...env, NO_COLOR: '1', BENCH_CPU_FILE: file },
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    })
    const wallMs = performance.now() - start
    if (status !== 0) throw new Error(`node ${args.join(' ')} failed: ${stderr}`)
    return { wallMs, cpuMs: Number(readFileSync(file, 'latin1')) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
