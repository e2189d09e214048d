/**
 * A child that is killed, and what it had said until then.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Said {
  /** by stream: the last batch that was tried, and the last that was acknowledged; -1 for none */
  tried: Map<string, number>
  acknowledged: Map<string, number>
  /** all lines */
  lines: string[]
}

export class Victim {
  readonly said: Said = { tried: new Map(), acknowledged: new Map(), lines: [] }
  readonly #child: ChildProcess
  readonly #ended: Promise<string>
  readonly #waiting = new Map<string, () => void>()

  constructor(args: readonly (string | number)[], before: readonly string[] = []) {
    const script = fileURLToPath(new URL('child.js', import.meta.url))
    const [command, ...rest] = [...before, process.execPath, script, ...args.map(String)]
    this.#child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = createInterface({ input: this.#child.stdout! })
    lines.on('line', (line) => this.#hear(line))
    const read = new Promise<void>((resolve) => lines.once('close', () => resolve()))
    const exit = new Promise<string>((resolve) =>
      this.#child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`)),
    )
    this.#ended = Promise.all([exit, read]).then(([how]) => how)
  }

  #hear(line: string): void {
    this.said.lines.push(line)
    const [word, session, n] = line.split(' ')
    if (word === 'try') this.said.tried.set(session, Number(n))
    if (word === 'ack') this.said.acknowledged.set(session, Number(n))
    for (const [start, tell] of this.#waiting) if (line.startsWith(start)) tell()
  }

  /** Resolves when a line begins so, or when the child has ended. */
  async until(start: string): Promise<void> {
    if (this.said.lines.some((line) => line.startsWith(start))) return
    await Promise.race([this.#ended, new Promise<void>((resolve) => this.#waiting.set(start, resolve))])
  }

  /** kill -9; resolves with how it ended, all that it said being read. */
  async kill(): Promise<string> {
    this.#child.kill('SIGKILL')
    return this.#ended
  }

  end(): Promise<string> {
    return this.#ended
  }
}
