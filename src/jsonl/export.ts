/**
 * A stream as JSONL (CORE-2): the header in force, then a record a line. What was imported comes back byte for byte.
 */
import { FLAG_END, type Frame, KIND } from '../log/frame.js'
import type { RecordLog } from '../log/record-log.js'
import type { SoundFrame } from '../log/salvage.js'
import { isAsrError } from '../record/error.js'
import { turns } from '../record/turn.js'
import { RecordReader } from '../store/record-reader.js'
import { Steps } from '../store/steps.js'
import type { StreamCore } from '../store/stream-core.js'

const CHUNK_CHARACTERS = 64 * 1024

/** Lines as bytes, in chunks. With `salvage` what is damaged is left out, and nothing is thrown for it. */
export function exportJsonl(core: StreamCore, options: { salvage?: true } = {}): AsyncIterable<Uint8Array> {
  return new Steps(chunksOf(core, options), () => core.assertOpen())
}

async function* chunksOf(core: StreamCore, options: { salvage?: true }): AsyncGenerator<Uint8Array> {
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
  const { log, state, length } = core
  yield log.line(await log.frame(state.header.location))
  const reader = new RecordReader(core)
  for (let pos = 1; pos <= length; pos++) yield log.line(await reader.frame(pos))
}

/** What is intact: the last sound header, else one made of what is known, then each sound record once, by position. */
async function* salvagedLines(core: StreamCore): AsyncGenerator<string> {
  const { log } = core
  const places = new Map<number, number>()
  let header: string | undefined
  let open: SoundFrame[] = []
  for await (const found of log.soundFrames()) {
    open.push(found)
    if ((found.frame.flags & FLAG_END) === 0) continue
    // What follows the last end of an append was acknowledged to nobody.
    for (const { frame, at } of open) {
      if (frame.kind === KIND.header) header = lineOf(log, frame) ?? header
      if (frame.kind === KIND.record && !places.has(frame.pos)) places.set(frame.pos, at)
    }
    open = []
  }
  yield header ?? JSON.stringify({ type: 'header', asr: '1', sessionId: core.sessionId })
  const reader = log.reader()
  for (const pos of [...places.keys()].sort((a, b) => a - b)) {
    if (turns.isOver()) await turns.next()
    const line = lineOf(log, await log.frame(places.get(pos) as number, pos, reader))
    if (line !== undefined) yield line
  }
}

/** The line of a frame; undefined when the shapes it needs are lost. */
function lineOf(log: RecordLog, frame: Frame): string | undefined {
  try {
    return log.line(frame)
  } catch (error) {
    if (isAsrError(error, 'ASR_CORRUPT')) return undefined
    throw error
  }
}
