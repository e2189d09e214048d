/**
 * A stream as JSONL (CORE-2): the header in force, then a record a line. What was imported comes back byte for byte.
 */
import { KIND } from '../log/frame.js'
import { LOG_START } from '../log/scanner.js'
import { isAsrError } from '../record/error.js'
import { RecordReader } from '../store/record-reader.js'
import type { StreamCore } from '../store/stream-core.js'

const CHUNK_CHARACTERS = 64 * 1024

/** Lines as bytes, in chunks. With `salvage` what is damaged is left out, and nothing is thrown for it. */
export async function* exportJsonl(core: StreamCore, options: { salvage?: true } = {}): AsyncGenerator<Uint8Array> {
  core.assertOpen()
  await core.refresh()
  const lines = options.salvage ? salvagedLines(core) : soundLines(core)
  const encoder = new TextEncoder()
  let chunk = ''
  for await (const line of lines) {
    chunk += `${line}\n`
    if (chunk.length < CHUNK_CHARACTERS) continue
    yield encoder.encode(chunk)
    chunk = ''
  }
  if (chunk.length > 0) yield encoder.encode(chunk)
}

async function* soundLines(core: StreamCore): AsyncGenerator<string> {
  if (core.damage !== undefined) throw core.damage
  const { log, index, length } = core
  yield log.line(await log.frame(index.state.header.location))
  const reader = new RecordReader(core)
  for (let pos = 1; pos <= length; pos++) yield log.line(await reader.frame(pos))
}

/** What is intact: the last sound header, else one made of what is known, then each sound record. */
async function* salvagedLines(core: StreamCore): AsyncGenerator<string> {
  let header: string | undefined
  for await (const { kind, line } of soundFrames(core)) if (kind === KIND.header) header = line
  yield header ?? JSON.stringify({ type: 'header', asr: '1', sessionId: core.sessionId })
  for await (const { kind, line } of soundFrames(core)) if (kind === KIND.record) yield line
}

async function* soundFrames(core: StreamCore): AsyncGenerator<{ kind: number; line: string }> {
  const { log } = core
  const scanner = log.scan(LOG_START)
  for (let items = await scanner.next(); items !== undefined; items = await scanner.next()) {
    for (const { frame, at } of items) {
      if (frame === undefined || (frame.kind !== KIND.record && frame.kind !== KIND.header)) continue
      if (!log.codec.knows(frame.shapes)) await log.learnShapes(frame, at)
      try {
        yield { kind: frame.kind, line: log.line(frame) }
      } catch (error) {
        if (!isAsrError(error, 'ASR_CORRUPT')) throw error
      }
    }
  }
}
