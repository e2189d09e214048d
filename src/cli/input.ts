/**
 * The bytes of a file to import: from disk or stdin, unpacked when they are gzip, whatever the name says.
 */
import { open } from 'node:fs/promises'
import { addAbortSignal, pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AsrError } from '../base/error.js'

export interface Input {
  /** bytes on disk, where that is known */
  size?: number
  chunks: AsyncIterable<Uint8Array>
}

export interface InputOptions {
  signal: AbortSignal
  /** bytes read so far, as they are on disk */
  onRead?: (bytes: number) => void
}

const CHUNK = 256 * 1024

/** Opens a file, or stdin for `-`. @throws ASR_IO */
export async function openInput(file: string, options: InputOptions): Promise<Input> {
  if (file === '-') return { chunks: decoded('stdin', process.stdin, options) }
  try {
    const handle = await open(file, 'r')
    const stat = await handle.stat()
    if (stat.isDirectory()) {
      await handle.close()
      throw new Error('it is a folder')
    }
    const source = handle.createReadStream({ highWaterMark: CHUNK })
    return { size: stat.isFile() ? stat.size : undefined, chunks: decoded(file, source, options) }
  } catch (error) {
    throw unreadable(file, error)
  }
}

function unreadable(file: string, error: unknown): AsrError {
  const reason = error instanceof Error ? error.message : String(error)
  return new AsrError('ASR_IO', `cannot read ${file}: ${reason}`, { cause: error })
}

async function* decoded(file: string, source: Readable, options: InputOptions): AsyncIterable<Uint8Array> {
  addAbortSignal(options.signal, source)
  try {
    yield* unpacked(counted(source, options.onRead))
  } catch (error) {
    throw unreadable(file, error)
  }
}

async function* counted(
  source: AsyncIterable<Uint8Array>,
  onRead?: (bytes: number) => void,
): AsyncIterable<Uint8Array> {
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    onRead?.(bytes)
    yield chunk
  }
}

/** Gunzips what begins with gzip's two magic bytes; all else passes as it is. */
export async function* unpacked(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]()
  let start: Uint8Array = new Uint8Array(0)
  while (start.length < 2) {
    const next = await chunks.next()
    if (next.done) break
    start = start.length === 0 ? next.value : Buffer.concat([start, next.value])
  }
  const all = resumed(start, chunks)
  if (start[0] !== 0x1f || start[1] !== 0x8b) {
    yield* all
    return
  }
  // A failure of the source or of the data ends the gunzip stream, and so the loop, with that failure.
  yield* pipeline(Readable.from(all, { objectMode: false }), createGunzip({ chunkSize: CHUNK }), () => {})
}

async function* resumed(start: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  if (start.length > 0) yield start
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}
