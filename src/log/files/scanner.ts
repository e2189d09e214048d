/**
 * Reads a log forward, tells torn from damaged, and finds its way again behind a damaged spot.
 *
 * Only bytes behind the last sound frame can be a torn tail. A bad spot with a sound frame behind it is damage: it is
 * named, and reading goes on. Frames are handed out up to the last complete append.
 */
import { AsrError } from '../../base/error.js'
import { hashPair } from '../../base/hash.js'
import { turns } from '../../base/turn.js'
import type { Damage, LogPoint, LogScan, ScanEnd } from '../api.js'
import type { Codec } from '../format/codec.js'
import { type DictionaryPart, parsePart } from '../format/dictionary.js'
import {
  bodyHolds,
  FLAG_END,
  FRAME_HEAD_BYTES,
  type Frame,
  type FrameKind,
  findMagic,
  KIND,
  readFrame,
} from '../format/frame.js'
import type { LogStorage } from '../storage/storage.js'
import { LOG_FORMAT, locate, offsetOf, parseSegmentBody, type Segment, type SegmentBody, segmentOf } from './segment.js'

/** Small, so that what is made of a block does not outlive a collection of the young. */
const BLOCK_BYTES = 256 * 1024

/** No chain value: the next record's chain is believed instead of worked out. */
export const UNKNOWN_CHAIN = -1n

/** A frame with its location. */
interface Found {
  at: number
  entry: Frame
}

type Item = Found | Damage

/** Whose log is scanned: a segment of another one does not pass. */
export type LogOwner = Pick<SegmentBody, 'sessionId' | 'incarnation'>

interface Window {
  segment: Segment
  /** offset of the window's first byte in the segment */
  start: number
  bytes: Uint8Array
}

export class LogScanner implements LogScan {
  private point: LogPoint
  private complete: LogPoint
  private readonly pending: Item[] = []
  private readonly parts: DictionaryPart[] = []
  private isBeginning = true
  private window: Window | undefined

  constructor(
    private readonly storage: Pick<LogStorage, 'read'>,
    private readonly segments: readonly Segment[],
    private readonly salt: bigint,
    private readonly codec: Codec,
    from: LogPoint,
    private readonly owner?: LogOwner,
  ) {
    this.point = from
    this.complete = from
  }

  /** The items of the next block, or undefined at the end. An array may be empty. */
  async next(): Promise<Item[] | undefined> {
    const ready: Item[] = []
    const started = this.point.location
    while (this.point.location - started < BLOCK_BYTES) {
      if (turns.isOver()) await turns.next()
      const step = this.step() ?? (await this.refill())
      if (step === 'end') {
        for (const item of this.damagedTail()) ready.push(item)
        return ready.length > 0 ? ready : undefined
      }
      if (step === 'again') continue
      const item = this.isOfAnother(step) ? this.lostWith(step) : step
      if (item.entry === undefined || (item.entry.flags & FLAG_END) === 0) {
        this.pending.push(item)
        continue
      }
      for (const before of this.pending.splice(0)) ready.push(before)
      ready.push(item)
      // Not before its append is complete: the shapes of one that is cut off are none.
      for (const part of this.parts.splice(0)) this.codec.dictionary.adopt(part)
      this.complete = this.point
    }
    return ready
  }

  /** Of an append that never ended: what leads to a lost record. It is damage, though what is behind it is torn. */
  private damagedTail(): Item[] {
    const lost = this.pending.findLastIndex((item) => item.entry === undefined && item.lastPos >= item.firstPos)
    return this.pending.splice(0, lost + 1)
  }

  end(): ScanEnd {
    const { location } = this.complete
    let tornBytes = 0
    for (const segment of this.segments) {
      if (segment.number === segmentOf(location)) tornBytes += segment.size - offsetOf(location)
      if (segment.number > segmentOf(location)) tornBytes += segment.size
    }
    return { point: this.complete, tornBytes, isBeginning: this.isBeginning }
  }

  /** The next frame from the window; undefined when the window does not hold it soundly. */
  private step(): Found | undefined {
    const { window } = this
    if (window === undefined || window.segment.number !== segmentOf(this.point.location)) return undefined
    const frame = readFrame(window.bytes, offsetOf(this.point.location) - window.start, this.salt)
    if (frame === undefined || !this.isSound(frame) || !this.follows(frame)) return undefined
    const part = frame.kind === KIND.dictionary ? parsePart(frame.body) : undefined
    if (part !== undefined) this.parts.push(part)
    return this.take(frame, this.point.location)
  }

  private follows(frame: Frame): boolean {
    if (frame.previous !== this.point.check) return false
    if (frame.kind === KIND.segment && offsetOf(this.point.location) > 0) return false
    if (frame.kind !== KIND.record) return frame.pos === this.point.pos
    if (frame.pos !== this.point.pos + 1) return false
    return this.point.chain === UNKNOWN_CHAIN || frame.chain === hashPair(this.point.chain, frame.hash)
  }

  private take(entry: Frame, at: number): Found {
    const found = { at, entry }
    this.point = this.pointAfter(found)
    return found
  }

  pointAfter({ at, entry }: Found): LogPoint {
    const { bodyBytes, pos, chain, check } = entry
    return { location: at + FRAME_HEAD_BYTES + bodyBytes, last: at, pos, chain, check }
  }

  /** Whether a segment was moved here from another log. @throws ASR_FORMAT when it was written by a newer version */
  private isOfAnother({ entry }: Item): boolean {
    if (entry?.kind !== KIND.segment || this.owner === undefined) return false
    const { sessionId, incarnation } = this.owner
    const body = parseSegmentBody(entry.body)
    if (body !== undefined && body.format > LOG_FORMAT) {
      const message = `stream ${JSON.stringify(sessionId)}: its log has format ${body.format}, not ${LOG_FORMAT}`
      throw new AsrError('ASR_FORMAT', message, { sessionId })
    }
    return body?.sessionId !== sessionId || body.incarnation !== incarnation
  }

  private lostWith({ at, entry }: Item): Damage {
    return { at, to: at, firstPos: (entry as Frame).pos + 1, lastPos: Number.POSITIVE_INFINITY }
  }

  /** Gets the bytes that `step` lacks, or deals with a bad spot. */
  private async refill(): Promise<Damage | 'again' | 'end'> {
    const { location } = this.point
    const segment = this.segments.find((one) => one.number === segmentOf(location))
    if (segment === undefined) return this.damageBefore(await this.findFrom(location))
    const offset = offsetOf(location)
    if (offset >= segment.size) {
      const next = this.segments.find((one) => one.number > segment.number)
      if (next === undefined) return 'end'
      if (next.number > segment.number + 1) return this.damageBefore(await this.findFrom(locate(next.number, 0)))
      this.point = { ...this.point, location: locate(next.number, 0) }
      return 'again'
    }
    const frame = await this.load(segment, offset)
    // By the bytes that were there: a writer may have cut the file since its size was asked for.
    const isHeadCut = frame === undefined && (this.window as Window).bytes.length < FRAME_HEAD_BYTES
    const isSound = frame !== undefined && this.isSound(frame)
    if (isSound && this.follows(frame)) return 'again'
    // A sound frame that does not follow may be the next one there is. A sound head with a bad body says how far to
    // skip; nothing inside the body can pass for a frame.
    const isWhole = frame !== undefined && frame.body.length === frame.bodyBytes
    const size = isWhole ? FRAME_HEAD_BYTES + frame.bodyBytes : 1
    const behind = isSound && this.isNews(frame) ? location : location + size
    const found = await this.findFrom(behind)
    if (found === undefined) {
      this.isBeginning = isHeadCut || (frame !== undefined && frame.body.length < frame.bodyBytes)
    }
    const isAlone = frame !== undefined && found?.at === behind && found.entry.previous === frame.check
    return this.damageBefore(found, isAlone ? frame.kind : undefined)
  }

  private isSound(frame: Frame): boolean {
    if (!bodyHolds(frame)) return false
    if (frame.kind === KIND.segment) return parseSegmentBody(frame.body) !== undefined
    return frame.kind !== KIND.dictionary || parsePart(frame.body) !== undefined
  }

  private damageBefore(found: Found | undefined, kind?: FrameKind): Damage | 'end' {
    if (found === undefined) return 'end'
    const { entry: frame, at } = found
    const lastPos = frame.kind === KIND.record ? frame.pos - 1 : frame.pos
    const firstPos = this.point.pos + 1
    // What a dictionary or segment frame says, others say again.
    const isScar = lastPos < firstPos && (kind === KIND.dictionary || kind === KIND.segment)
    const damage: Damage = { at: this.point.location, to: at, firstPos, lastPos, isScar }
    this.point = {
      location: at,
      last: this.point.location,
      pos: lastPos,
      chain: this.chainBefore(frame),
      check: frame.previous,
    }
    return damage
  }

  /** The chain before a frame found again: known only when no record is missing; else its own is taken on trust. */
  private chainBefore(frame: Frame): bigint {
    if (frame.kind !== KIND.record) return frame.chain
    return hashPair(this.point.chain, frame.hash) === frame.chain ? this.point.chain : UNKNOWN_CHAIN
  }

  /** Reads a window that begins at the frame and holds it whole. */
  private async load(segment: Segment, offset: number): Promise<Frame | undefined> {
    let length = BLOCK_BYTES
    for (;;) {
      const bytes = await this.storage.read(segment.file, offset, Math.min(length, segment.size - offset))
      this.window = { segment, start: offset, bytes }
      const frame = readFrame(bytes, 0, this.salt)
      if (frame === undefined || frame.body.length === frame.bodyBytes) return frame
      if (bytes.length < length || offset + FRAME_HEAD_BYTES + frame.bodyBytes > segment.size) return frame
      length = FRAME_HEAD_BYTES + frame.bodyBytes
    }
  }

  /** The first frame at or behind a location that is sound and whose successor links to it. */
  private async findFrom(location: number): Promise<Found | undefined> {
    for (const segment of this.segments) {
      if (segment.number < segmentOf(location)) continue
      let offset = segment.number === segmentOf(location) ? offsetOf(location) : 0
      while (offset < segment.size) {
        const bytes = await this.storage.read(segment.file, offset, Math.min(BLOCK_BYTES, segment.size - offset))
        for (let at = findMagic(bytes, 0); at !== -1; at = findMagic(bytes, at + 1)) {
          if (turns.isOver()) await turns.next()
          const headIsWhole = at + FRAME_HEAD_BYTES <= bytes.length
          if (headIsWhole && readFrame(bytes, at, this.salt) === undefined) continue
          const frame = await this.soundAt(segment, offset + at)
          if (frame !== undefined) return { at: locate(segment.number, offset + at), entry: frame }
        }
        if (bytes.length < FRAME_HEAD_BYTES) break
        turns.spend(bytes.length >>> 4) // looked through, and no more
        if (turns.isOver()) await turns.next()
        offset += bytes.length - FRAME_HEAD_BYTES + 1 // a head may lie across two blocks
      }
    }
    return undefined
  }

  private isNews({ kind, pos }: Frame): boolean {
    return kind === KIND.record ? pos > this.point.pos : pos >= this.point.pos
  }

  private async soundAt(segment: Segment, offset: number): Promise<Frame | undefined> {
    const frame = await this.load(segment, offset)
    if (frame === undefined || !this.isSound(frame)) return undefined
    if (!this.isNews(frame) || (frame.kind === KIND.segment && offset > 0)) return undefined
    const next = offset + FRAME_HEAD_BYTES + frame.bodyBytes
    if (next >= segment.size) return frame
    const head = await this.storage.read(segment.file, next, FRAME_HEAD_BYTES)
    const after = readFrame(head, 0, this.salt)
    // The successor's own head may be damaged as well; then the frame stands by its two checks.
    return after === undefined || after.previous === frame.check ? frame : undefined
  }
}
