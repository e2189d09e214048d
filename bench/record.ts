/**
 * What recording costs: frames a second through the recorder, bytes for the content, time added on the way.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createRecorder, type RecorderOptions } from '../src/acp/main.js'
import { openStore } from '../src/main.js'
import { type Context, count, round, sized } from './figure.js'
import { oursAtMost, type Row } from './row.js'

const MAIN = fileURLToPath(new URL('../src/cli/main.js', import.meta.url))

/** 20,000 frames a second. */
const FRAME_US_MAX = 50

export async function record(context: Context): Promise<Row[]> {
  return [...(await chunks(context)), await growth(context), await added(context)]
}

function chunk(messageId: string, text: string): string {
  const update = { sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } }
  return JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update } })
}

const IDLE =
  '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle"}}}'

async function recorded(
  folder: string,
  lines: Iterable<string>,
  options: RecorderOptions,
): Promise<{ us: number; bytes: number }> {
  const store = await openStore(folder)
  const recorder = createRecorder(store, options)
  const start = performance.now()
  let frames = 0
  for (const text of lines) {
    recorder.observe({ dir: 'a2c', frame: JSON.parse(text), text, at: '2026-10-26T14:30:00.000Z' })
    if (++frames % 1000 === 0) await recorder.settled()
  }
  await recorder.stop()
  const us = ((performance.now() - start) * 1000) / frames
  let bytes = 0
  for await (const info of store.streams()) bytes += info.bytes
  await store.close()
  return { us, bytes }
}

function* messages(total: number, chunksEach: number): Iterable<string> {
  for (let n = 0; n < total; n++) {
    yield chunk(`m${Math.floor(n / chunksEach)}`, `word${n} `)
    if (n % chunksEach === chunksEach - 1) yield IDLE
  }
}

/** Parsing included, as a proxy does it. */
async function chunks(context: Context): Promise<Row[]> {
  const total = sized(context, 100_000, 5_000)
  const rows: Row[] = []
  for (const [keepWire, chunksEach] of [
    ['none', 10_000],
    ['redacted', 10_000],
    ['redacted', 50],
  ] as const) {
    const { us } = await recorded(join(context.temp, `chunks-${keepWire}-${chunksEach}`), messages(total, chunksEach), {
      keepWire,
    })
    const kept = keepWire === 'none' ? 'frames not kept' : 'frames kept'
    const work = `record ${count(total)} chunk frames, ${count(chunksEach)} a message, ${kept}`
    rows.push({ work, ours: { value: round(us), unit: 'us' }, target: oursAtMost(FRAME_US_MAX), note: 'per frame' })
  }
  return rows
}

/** One open message that is written again and again: the log stays below twice the content. */
async function growth(context: Context): Promise<Row> {
  const total = sized(context, 40_000, 4_000)
  let content = 0
  for (let n = 0; n < total; n++) content += `word${n} `.length
  const options = { keepWire: 'none', snapshotEvery: 1 } as const
  const { bytes } = await recorded(join(context.temp, 'growth'), messages(total, total), options)
  return {
    work: `log of ${count(total)} chunks of one message, a snapshot each millisecond`,
    ours: { value: bytes, unit: 'bytes' },
    target: oursAtMost(2 * content),
    note: `content ${count(content)} bytes`,
  }
}

const ECHO = ['-e', 'process.stdin.pipe(process.stdout)']
/** What a process in between costs that only passes bytes on. */
const RELAY = [
  '-e',
  `const { stdin, stdout, execPath } = process
  const agent = require('node:child_process').spawn(execPath, ${JSON.stringify(ECHO)}, { stdio: ['pipe', 'pipe', 'inherit'] })
  stdin.pipe(agent.stdin)
  agent.stdout.pipe(stdout)`,
]
const SLICE = 100

/** Round trips to an agent that echoes: directly, through a relay and through `asr record`, in turns. */
async function added(context: Context): Promise<Row> {
  const store = join(context.temp, 'proxy')
  const ways = [ECHO, RELAY, [MAIN, '--store', store, 'record', '--', process.execPath, ...ECHO]].map(
    (args) => new Trips(spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })),
  )
  // A process has its code compiled in its first thousands of trips, and waits for that.
  for (const way of ways) await way.run(sized(context, 5_000, 200))
  for (const way of ways) way.times.length = 0
  for (let slice = 0; slice < sized(context, 100, 4); slice++) for (const way of ways) await way.run(SLICE)
  for (const way of ways) await way.end()
  const [direct, relayed, recorded] = ways.map(({ times }) => p99(times))
  return {
    work: 'time added to a round trip by asr record, p99',
    ours: { value: round(Math.max(0, recorded - direct)), unit: 'ms' },
    peer: { name: 'plain relay', value: round(Math.max(0, relayed - direct)), unit: 'ms' },
    target: oursAtMost(1),
  }
}

class Trips {
  /** in milliseconds */
  readonly times: number[] = []
  private readonly lines: AsyncIterator<string>
  private count = 0

  constructor(private readonly child: ChildProcess) {
    this.lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  }

  async run(trips: number): Promise<void> {
    for (let end = this.count + trips; this.count < end; this.count++) {
      const line = this.count % SLICE === SLICE - 1 ? IDLE : chunk('m', `word${this.count} `)
      const start = performance.now()
      this.child.stdin?.write(`${line}\n`)
      await this.lines.next()
      this.times.push(performance.now() - start)
    }
  }

  async end(): Promise<void> {
    this.child.stdin?.end()
    await once(this.child, 'close')
  }
}

/** What one in a hundred exceeds. */
function p99(times: number[]): number {
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]
}
