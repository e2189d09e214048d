/**
 * A client and an agent talk over stdio through this process, as if it were not there; a recording is told what passes.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Direction, RecorderSummary } from '../acp/main.js'
import { asynchronous } from './pipe.js'
import { type Recording, type RecordingOptions, startRecording } from './recording.js'
import { say } from './say.js'
import { tied } from './tied.js'

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGALRM', 'SIGUSR1', 'SIGUSR2'] as const
const SIGNALS = [...ENDING, 'SIGWINCH', 'SIGCONT'] as const

/**
 * A process that the agent leaves behind may hold its output open. What it still says goes on, for so many milliseconds at
 * most, and not beyond so many of silence: the client waits for the end.
 */
const LEFT_BEHIND_MS = 1000
const SILENCE_MS = 200
/** More than the system holds of what a process wrote and nobody has read: what comes behind is not the agent's. */
const UNREAD_BYTES_MAX = 4 * 1024 * 1024
/** How often it is looked at, in milliseconds. */
const LOOK_MS = 20
/** How long the store may take when the agent has ended and the client asks for the end, in milliseconds. */
const WRITING_MS = 10_000

export interface AgentEnd {
  code: number | null
  signal: NodeJS.Signals | null
}

/**
 * Runs the agent between this process's own stdin and stdout until it ends, and records what passes; with no summary where
 * nothing was recorded. From then on signals are the agent's. @throws when the agent can not be started
 */
export async function recordAgent(
  command: readonly string[],
  options: RecordingOptions,
): Promise<{ end: AgentEnd; summary: RecorderSummary | undefined }> {
  const recording = startRecording(options)
  const asked = new AbortController()
  const end = await runAgent(command, recording, asked).catch(async (error: unknown) => {
    await recording.stop()
    throw error
  })
  const late = after(asked.signal, WRITING_MS).then(() => {
    say('what was not written yet is not recorded: this is taking too long')
    return undefined
  })
  return { end, summary: await Promise.race([recording.stop(), late]) }
}

/** So many milliseconds after the client asked for the end, when it does. */
async function after(asked: AbortSignal, milliseconds: number): Promise<void> {
  if (!asked.aborted) await once(asked, 'abort')
  await setTimeout(milliseconds)
}

async function runAgent(command: readonly string[], recording: Recording, asked: AbortController): Promise<AgentEnd> {
  const [program, ...args] = tied(command)
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], windowsHide: true })
  const started = once(child, 'spawn')
  const exited = once(child, 'exit')
  exited.catch(() => {})
  await started.catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot run ${command[0]}: ${reason}`, { cause: error })
  })
  passSignals(child, () => asked.abort())
  asynchronous(process.stdout)
  void pass(process.stdin, child.stdin as Writable, 'c2a', recording)
  const from = child.stdout as Readable
  const output = pass(from, process.stdout, 'a2c', recording)
  const [code, signal] = (await exited) as [number | null, NodeJS.Signals | null]
  process.stdin.unpipe()
  process.stdin.destroy()
  // A client that asks for the end is not waited for as long as it likes.
  const late = after(asked.signal, LEFT_BEHIND_MS)
  await Promise.race([output, drained(from), late])
  from.destroy()
  await Promise.race([output, late])
  return { code, signal }
}

/**
 * Once all that the agent wrote has gone on, and what processes that it left behind say has had its time. While the client
 * takes nothing nothing is lost either: it is waited for.
 */
async function drained(from: Readable): Promise<void> {
  const ended = performance.now()
  let heard = ended
  let bytes = 0
  from.on('data', (chunk: Uint8Array) => {
    heard = performance.now()
    bytes += chunk.length
  })
  while (!from.closed) {
    await setTimeout(LOOK_MS)
    const before = bytes
    await setImmediate() // behind a look at what there is to read: time alone says nothing on a busy machine
    if (from.isPaused()) continue
    const now = performance.now()
    const isLate = now - ended > LEFT_BEHIND_MS
    if (bytes === before ? isLate || now - heard > SILENCE_MS : isLate && bytes > UNREAD_BYTES_MAX) return
  }
}

/** Ends as the agent ended: with its exit code, or by its signal. */
export function endLike({ code, signal }: AgentEnd): never {
  if (signal !== null) {
    // Node has some signals ignored or caught: a listener that comes and goes leaves what the system does.
    if (signal !== 'SIGKILL') process.once(signal, () => {}).removeAllListeners(signal)
    process.kill(process.pid, signal)
  }
  // At once, whoever still holds an end of a pipe.
  process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal])
}

/** What this process is told to do is the agent's to do, and only the agent's; `onEnding` when it is told to end after that. */
function passSignals(child: ChildProcess, onEnding: () => void): void {
  for (const name of SIGNALS) {
    process.removeAllListeners(name)
    process.on(name, () => {
      if (!child.kill(name) && (ENDING as readonly string[]).includes(name)) onEnding()
    })
  }
}

/** Bytes go on first, then they are told. Resolves when all have gone on. */
function pass(from: Readable, to: Writable, dir: Direction, recording: Recording): Promise<void> {
  from.pipe(to, { end: to !== process.stdout })
  from.on('data', (chunk: Uint8Array) => recording.passed(dir, chunk))
  from.on('close', () => recording.ended(dir))
  // A side that is gone is told to the other by its own pipe.
  to.on('error', () => from.destroy())
  return new Promise((resolve) => {
    from.once('close', () => {
      if (to === process.stdout) to.write('', () => resolve())
      else resolve()
    })
  })
}
