/**
 * A client and an agent talk over stdio through this process, as if it were not there; a recording is told what passes.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { Direction, RecorderSummary } from '../main.js'
import { asynchronous } from './pipe.js'
import { type Recording, type RecordingOptions, startRecording } from './recording.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'] as const

/** How long output is waited for after the agent ended: another process may still hold its end. */
const OUTPUT_MS = 1000

export interface AgentEnd {
  code: number | null
  signal: NodeJS.Signals | null
}

/**
 * Runs the agent between this process's own stdin and stdout until it ends, and records what passes; with no summary where
 * nothing was recorded. @throws when the agent can not be started
 */
export async function recordAgent(
  command: readonly string[],
  options: RecordingOptions,
): Promise<{ end: AgentEnd; summary: RecorderSummary | undefined }> {
  const recording = startRecording(options)
  const end = await runAgent(command, recording).catch(async (error: unknown) => {
    await recording.stop()
    throw error
  })
  return { end, summary: await recording.stop() }
}

async function runAgent([program, ...args]: readonly string[], recording: Recording): Promise<AgentEnd> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], windowsHide: true })
  const started = once(child, 'spawn')
  const exited = once(child, 'exit')
  exited.catch(() => {})
  await started.catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot run ${program}: ${reason}`, { cause: error })
  })
  const release = passSignals(child)
  asynchronous(process.stdout)
  void pass(process.stdin, child.stdin as Writable, 'c2a', recording)
  const output = pass(child.stdout as Readable, process.stdout, 'a2c', recording)
  const [code, signal] = (await exited) as [number | null, NodeJS.Signals | null]
  process.stdin.unpipe()
  process.stdin.destroy()
  await Promise.race([output, setTimeout(OUTPUT_MS, undefined, { ref: false })])
  release()
  return { code, signal }
}

/** Ends as the agent ended: with its exit code, or by its signal. */
export function endLike({ code, signal }: AgentEnd): void {
  if (signal === null) {
    process.exitCode = code ?? 1
    return
  }
  process.exitCode = 128 + constants.signals[signal]
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}

/** What this process is told to do is the agent's to do, and only the agent's. */
function passSignals(child: ChildProcess): () => void {
  const handlers = SIGNALS.map((name) => {
    const others = process.listeners(name)
    process.removeAllListeners(name)
    const handler = (): void => {
      child.kill(name)
    }
    process.on(name, handler)
    return { name, handler, others }
  })
  return () => {
    for (const { name, handler, others } of handlers) {
      process.off(name, handler)
      for (const other of others) process.on(name, other as NodeJS.SignalsListener)
    }
  }
}

/** Bytes go on first, then they are told. Resolves when all have gone on. */
function pass(from: Readable, to: Writable, dir: Direction, recording: Recording): Promise<void> {
  from.pipe(to, { end: to !== process.stdout })
  from.on('data', (chunk: Uint8Array) => recording.passed(dir, chunk))
  from.on('end', () => recording.ended(dir))
  // A side that is gone is told to the other by its own pipe.
  to.on('error', () => from.destroy())
  return new Promise((resolve) => {
    from.once('close', () => {
      if (to === process.stdout) to.write('', () => resolve())
      else resolve()
    })
  })
}
