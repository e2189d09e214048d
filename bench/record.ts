/**
 * What recording costs: frames a second through the recorder, bytes for the content, time added on the way.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createRecorder, openStore, type RecorderOptions } from '../src/main.js'
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

/** Round trips through `asr record` to an agent that echoes, and without it. */
async function added(context: Context): Promise<Row> {
  const trips = sized(context, 3_000, 200)
  const echo = ['-e', 'process.stdin.pipe(process.stdout)']
  const direct = await p99(spawn(process.execPath, echo), trips)
  const store = join(context.temp, 'proxy')
  const args = [MAIN, '--store', store, 'record', '--', process.execPath, ...echo]
  const proxied = await p99(spawn(process.execPath, args), trips)
  return {
    work: 'time added to a round trip by asr record, p99',
    ours: { value: round(Math.max(0, proxied - direct)), unit: 'ms' },
    target: oursAtMost(1),
    note: `${round(direct)} ms without it`,
  }
}

/** The time of a round trip that one in a hundred exceeds, in milliseconds. */
async function p99(child: ChildProcess, trips: number): Promise<number> {
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  const times: number[] = []
  for (let trip = 0; trip < trips; trip++) {
    const start = performance.now()
    child.stdin?.write(`${trip % 100 === 99 ? IDLE : chunk('m', `word${trip} `)}\n`)
    await lines.next()
    times.push(performance.now() - start)
  }
  child.stdin?.end()
  await once(child, 'close')
  // The first trips wait for processes to start.
  const sorted = times.slice(Math.ceil(trips / 10)).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)]
}
