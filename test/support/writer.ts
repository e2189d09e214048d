/**
 * Starts a writer in another process, and kills it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Writer {
  process: ChildProcess
  /** the last position it was promised */
  acknowledged: number
  /** resolves when the line was told, or rejects when the process ends before */
  told(line: string): Promise<void>
  /** kill -9, resolved when the process is gone and its output is read */
  kill(): Promise<void>
}

export function startWriter(folder: string, session: string, count: number): Writer {
  const script = fileURLToPath(new URL('writer-child.js', import.meta.url))
  const child = spawn(process.execPath, [script, folder, session, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = new Set<string>()
  const waiting = new Map<string, () => void>()
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const writer: Writer = {
    process: child,
    acknowledged: 0,
    async told(line) {
      if (lines.has(line)) return
      const heard = new Promise<boolean>((resolve) => waiting.set(line, () => resolve(true)))
      if (!(await Promise.race([heard, ended.then(() => false)]))) throw new Error(`the writer ended before "${line}"`)
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
  createInterface({ input: child.stdout! }).on('line', (line) => {
    lines.add(line)
    if (/^\d+$/.test(line)) writer.acknowledged = Number(line)
    waiting.get(line)?.()
  })
  return writer
}
