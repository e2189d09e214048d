/**
 * Logs with bytes that no append makes, their checks and chain as sound as those of any other.
 */

import { check32, hashPair, hashText } from '../../src/base/hash.js'
import { parseSegmentFile, saltOf } from '../../src/log/files/segment.js'
import { ENCODING_TEXT } from '../../src/log/format/codec.js'
import { FRAME_HEAD_BYTES, type Frame, KIND, writeHead } from '../../src/log/format/frame.js'
import { canonicalText } from '../../src/record/canonical.js'
import { framesIn } from './damage.js'

export interface Forged extends Frame {
  /** what the head says of the body's length, when that is not so */
  claimed?: number
}

/** The log with its frames changed, and all that follows from them worked out anew. */
export function forged(file: string, bytes: Uint8Array, change: (frame: Forged) => void): Uint8Array {
  const salt = saltOf(parseSegmentFile(file)!.log)
  const parts: Uint8Array[] = []
  let [previous, chain] = [0, 0n]
  for (const whole of framesIn(file, bytes)) {
    const frame: Forged = { ...whole, hash: whole.hash, chain: whole.chain, body: whole.body.slice() }
    change(frame)
    if (frame.kind === KIND.record) chain = hashPair(chain, frame.hash)
    const part = new Uint8Array(FRAME_HEAD_BYTES + frame.body.length)
    const head = {
      ...frame,
      chain,
      previous,
      bodyBytes: frame.claimed ?? frame.body.length,
      bodyCheck: check32(frame.body),
    }
    previous = writeHead(part, 0, head, frame.kind === KIND.segment ? 0n : salt)
    part.set(frame.body, FRAME_HEAD_BYTES)
    parts.push(part)
  }
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** Gives a frame another body, as text; with the content hash of that, where it has one. */
export function setText(frame: Forged, body: unknown): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  frame.body = new TextEncoder().encode(text)
  frame.encoding = ENCODING_TEXT
  try {
    frame.hash = hashText(canonicalText(JSON.parse(text)))
  } catch {
    // no JSON, or nested deeper than any record: the hash stays that of the record before
  }
}
