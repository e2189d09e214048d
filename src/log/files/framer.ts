/**
 * Appends as frames: each entry encoded, chained to what stands before it, and led by the shapes it needs.
 */
import { check32 } from '../../base/hash.js'
import { chainAfter, type LogEntry, type LogIdentity, type LogPoint } from '../api.js'
import type { BatchBuffer } from '../format/batch-buffer.js'
import { type Codec, ENCODING_TEXT } from '../format/codec.js'
import type { DictionaryPart } from '../format/dictionary.js'
import { FLAG_END, FRAME_HEAD_BYTES, type FrameHead, type FrameKind, KIND } from '../format/frame.js'
import { LOG_FORMAT, locate, type Segment, type SegmentBody, saltOf } from './segment.js'

/** The whole dictionary is written again after this many bytes, so that one damaged frame costs no record. */
const WHOLE_DICTIONARY_BYTES = 1024 * 1024

export class Framer {
  private readonly salt: bigint
  private sinceWhole = 0

  constructor(
    private readonly codec: Codec,
    private readonly identity: LogIdentity,
    private readonly sessionId: string,
  ) {
    this.salt = saltOf(identity)
  }

  /** Adds appends to what is written next to a segment, behind `before`; the point behind them, and where each entry lies. */
  frame(
    batch: BatchBuffer,
    before: LogPoint,
    segment: Segment,
    appends: readonly LogEntry[][],
  ): { end: LogPoint; locations: number[] } {
    const { pos, chain, check, last } = before
    let end: LogPoint = { location: locate(segment.number, segment.size), last, pos, chain, check }
    if (segment.size === 0) end = this.beginSegment(batch, end, segment)
    const locations: number[] = []
    for (const entries of appends) {
      for (let i = 0; i < entries.length; i++) {
        const flags = entries[i].flags | (i === entries.length - 1 ? FLAG_END : 0)
        end = this.addEntry(batch, end, entries[i], flags, locations)
      }
    }
    return { end, locations }
  }

  private beginSegment(batch: BatchBuffer, point: LogPoint, segment: Segment): LogPoint {
    const body: SegmentBody = {
      format: LOG_FORMAT,
      sessionId: this.sessionId,
      incarnation: this.identity.incarnation,
      segment: segment.number,
    }
    const begun = this.addJson(batch, point, KIND.segment, body)
    const { dictionary } = this.codec
    return dictionary.written > 0 ? this.addDictionary(batch, begun, dictionary.wholePart()) : begun
  }

  private addEntry(batch: BatchBuffer, point: LogPoint, entry: LogEntry, flags: number, locations: number[]): LogPoint {
    const { dictionary } = this.codec
    const { encoding, bytes, shapes } = this.codec.encode(entry.value, entry.plain, entry.text)
    let before = point
    if (dictionary.shapes.length > dictionary.written) {
      before = this.addDictionary(batch, point, dictionary.nextPart())
      dictionary.markWritten()
    } else if (this.sinceWhole > WHOLE_DICTIONARY_BYTES && dictionary.written > 0) {
      before = this.addDictionary(batch, point, dictionary.wholePart())
    }
    locations.push(before.location)
    const { kind, pos, parent, hash } = entry
    const chain = chainAfter(before.chain, entry)
    const head = {
      kind,
      flags,
      encoding,
      shapes,
      bodyBytes: bytes.length,
      pos,
      parent,
      hash,
      chain,
      previous: before.check,
      bodyCheck: check32(bytes),
    }
    return this.addFrame(batch, before.location, head, bytes)
  }

  private addDictionary(batch: BatchBuffer, point: LogPoint, part: DictionaryPart): LogPoint {
    if (part.from === 0) this.sinceWhole = 0
    return this.addJson(batch, point, KIND.dictionary, part)
  }

  private addJson(batch: BatchBuffer, point: LogPoint, kind: FrameKind, value: unknown): LogPoint {
    const bytes = new TextEncoder().encode(JSON.stringify(value))
    const { pos, chain, check: previous, location } = point
    const rest = { flags: 0, encoding: ENCODING_TEXT, shapes: 0, parent: 0, hash: 0n }
    const head = { ...rest, kind, bodyBytes: bytes.length, pos, chain, previous, bodyCheck: check32(bytes) }
    return this.addFrame(batch, location, head, bytes)
  }

  private addFrame(batch: BatchBuffer, location: number, head: FrameHead, body: Uint8Array): LogPoint {
    const check = batch.addFrame(head, body, head.kind === KIND.segment ? 0n : this.salt)
    const size = FRAME_HEAD_BYTES + body.length
    this.sinceWhole += size
    return { location: location + size, last: location, pos: head.pos, chain: head.chain, check }
  }
}
