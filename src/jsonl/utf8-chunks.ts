/**
 * Chunks of text and bytes, cut anywhere, as pieces of UTF-8 bytes.
 */
import { GrowableBytes } from '../base/growable-bytes.js'

/** Larger chunks are taken in pieces, so that what is made of one piece stays small. */
const PIECE_BYTES = 256 * 1024
/** A UTF-16 unit is at most three bytes of UTF-8. */
const PIECE_UNITS = Math.floor(PIECE_BYTES / 3)

const LONE_SURROGATE = /\p{Surrogate}/u
/** Stands in for a lone surrogate, which UTF-8 cannot hold: no decoder takes it, so just its line is refused. */
const INVALID = Uint8Array.of(0xff)

const encoder = new TextEncoder()

export class Utf8Chunks {
  /** The high surrogate that ended the text so far; its other half may begin the next chunk. */
  #high = ''

  /** What is left when no more text follows. */
  end(): Uint8Array {
    const left = this.#high === '' ? INVALID.subarray(0, 0) : INVALID
    this.#high = ''
    return left
  }

  *pieces(chunk: string | Uint8Array): Generator<Uint8Array> {
    if (typeof chunk === 'string') {
      for (let at = 0; at < chunk.length; at += PIECE_UNITS) yield this.#encode(chunk.slice(at, at + PIECE_UNITS))
    } else if (!isBytes(chunk)) {
      throw new TypeError('importJsonl: each of `chunks` has to be a string or bytes')
    } else if (chunk.length > 0) {
      yield this.end()
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES)
    }
  }

  #encode(piece: string): Uint8Array {
    const text = this.#high + piece
    const last = text.charCodeAt(text.length - 1)
    this.#high = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : ''
    return encode(this.#high === '' ? text : text.slice(0, -1))
  }
}

/** Whether a chunk is bytes, of whatever realm. */
function isBytes(chunk: unknown): boolean {
  return chunk instanceof Uint8Array || Object.prototype.toString.call(chunk) === '[object Uint8Array]'
}

function encode(text: string): Uint8Array {
  if (!LONE_SURROGATE.test(text)) return encoder.encode(text)
  const bytes = new GrowableBytes()
  for (const [index, part] of text.split(LONE_SURROGATE).entries()) {
    if (index > 0) bytes.append(INVALID)
    bytes.append(encoder.encode(part))
  }
  return bytes.view()
}
