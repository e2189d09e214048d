/**
 * Runs the built command as a user does: as a process of its own, against a store in a temporary folder.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const ENGINE = new URL('../../src/main.js', import.meta.url).href

export interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  input?: string | Uint8Array
  env?: NodeJS.ProcessEnv
}

/** Starts `asr` with pipes and without any setting of the environment that tests run in. */
export function start(args: string[], env: NodeJS.ProcessEnv = {}, nodeOptions: string[] = []): ChildProcess {
  const { PATH, HOME } = process.env
  return spawn(process.execPath, [...nodeOptions, MAIN, ...args], { env: { PATH, HOME, ...env }, stdio: 'pipe' })
}

export async function run(args: string[], options: RunOptions = {}): Promise<Outcome> {
  const child = start(args, options.env)
  child.stdin?.on('error', () => {})
  child.stdin?.end(options.input ?? '')
  return outcome(child)
}

export function outcome(child: ChildProcess): Promise<Outcome> {
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

/** Resolves when a stream of the child has said the text. */
export function said(child: ChildProcess, text: string, from: 'stdout' | 'stderr' = 'stdout'): Promise<void> {
  return new Promise((resolve, reject) => {
    let all = ''
    child[from]?.on('data', (chunk: Buffer | string) => {
      all += String(chunk)
      if (all.includes(text)) resolve()
    })
    child.once('close', () => reject(new Error(`ended before it said ${text}: ${all}`)))
  })
}

const folders: string[] = []

/** A folder that is gone when the tests end. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'asr-cli-'))
  folders.push(made)
  return made
}

process.on('exit', () => {
  for (const made of folders) rmSync(made, { recursive: true, force: true })
})

/** A file in a folder of its own. */
export function file(name: string, content: string | Uint8Array): string {
  const path = join(folder(), name)
  writeFileSync(path, content)
  return path
}

export function jsonl(values: object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('')
}

export const HEADER = { type: 'header', asr: '1', sessionId: 's1', agent: { name: 'com.example.agent', version: '2' } }

/** A stream with all that commands tell apart: a title, a revision, a call open, one failed, a second branch, a compaction. */
export const RECORDS = [
  { type: 'session_info', seq: 1, id: 'r1', ts: '2026-01-01T00:00:00.000Z', title: 'A title' },
  {
    type: 'message',
    seq: 2,
    id: 'r2',
    ts: '2026-01-01T00:00:01.000Z',
    messageId: 'm1',
    role: 'user',
    content: text('hello'),
  },
  { type: 'tool_call', seq: 3, id: 'r3', callId: 'c1', name: 'bash', input: { command: 'ls' } },
  { type: 'tool_result', seq: 4, id: 'r4', callId: 'c1', status: 'failed', content: text('no') },
  { type: 'message', seq: 5, id: 'r5', messageId: 'm2', role: 'assistant', content: text('first try') },
  {
    type: 'message',
    seq: 6,
    id: 'r6',
    supersedes: 'r5',
    messageId: 'm2',
    role: 'assistant',
    content: text('second try'),
  },
  {
    type: 'compaction',
    seq: 7,
    id: 'r7',
    compactionId: 'k1',
    status: 'completed',
    summary: 'so far',
    replaces: { throughId: 'r4' },
  },
  {
    type: 'tool_call',
    seq: 8,
    id: 'r8',
    ts: '2026-01-01T01:00:00.000Z',
    callId: 'c2',
    name: 'bash',
    input: { command: 'pwd' },
  },
  {
    type: 'message',
    seq: 9,
    id: 'r9',
    parentId: 'r2',
    head: 'side',
    messageId: 'm3',
    role: 'user',
    content: text('aside'),
  },
]

export function text(words: string): { type: string; text: string }[] {
  return [{ type: 'text', text: words }]
}

export const STREAM = jsonl([HEADER, ...RECORDS])

/** The folder of a store that holds the stream s1. */
export async function filledStore(content: string = STREAM): Promise<string> {
  const store = join(folder(), 'store')
  const { code, stderr } = await run(['import', '--store', store, '-'], { input: content })
  if (code !== 0) throw new Error(`the import failed: ${stderr}`)
  return store
}

/** A process that holds the store to write; it appends each line of JSON it is sent to s1 and answers `appended`. */
export async function holder(store: string): Promise<ChildProcess> {
  const program = `
    import { createInterface } from 'node:readline'
    const { openStore } = await import(${JSON.stringify(ENGINE)})
    const store = await openStore(${JSON.stringify(store)})
    const stream = await store.stream('s1')
    process.stdout.write('holding\\n')
    for await (const line of createInterface({ input: process.stdin })) {
      await stream.append(JSON.parse(line))
      process.stdout.write('appended\\n')
    }
    await store.close()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  await said(child, 'holding')
  return child
}

/** Ends what `holder` or `start` began, and waits for it. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = new Promise((resolve) => child.once('close', resolve))
  child.stdin?.end()
  await closed
}
