/**
 * A stream as JSONL (CORE-2): the header in force, then a record a line. What was imported comes back byte for byte.
 */

import { Steps } from '../../base/steps.js'
import type { StreamCore } from '../core/stream-core.js'
import { RecordReader } from './record-reader.js'
import { salvagedLines } from './salvage.js'

const CHUNK_CHARACTERS = 64 * 1024

/** Lines as bytes, in chunks. With `salvage` gaps stand where something is missing, and nothing is thrown for it. */
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
  yield log.line(await log.entry(state.header.location))
  const reader = new RecordReader(core)
  for (let pos = 1; pos <= length; pos++) yield log.line(await reader.stored(pos))
}
