/**
 * The append-only, content-hashed log of one stream: appends are all or none, reads check the stored bytes.
 */
import { AsrError, isAsrError } from '../../base/error.js'
import type { MaybePromise } from '../../base/flow.js'
import { toHex } from '../../base/hash.js'
import { turns } from '../../base/turn.js'
import type { Json } from '../../record/record.js'
import type { Decoded, LogEntry, LogIdentity, LogPoint, RecordLog } from '../api.js'
import { LOG_START } from '../api.js'
import { BatchBuffer } from '../format/batch-buffer.js'
import { Codec, ENCODING_DEFLATED, ENCODING_TEXT } from '../format/codec.js'
import { type DictionaryPart, parsePart } from '../format/dictionary.js'
import { bodyHolds, FLAG_END, type Frame, KIND } from '../format/frame.js'
import type { LogStorage } from '../storage/storage.js'
import { FrameReader } from './frame-reader.js'
import { Framer } from './framer.js'
import { LogBytes } from './log-bytes.js'
import { LogWrites } from './log-writes.js'
import { cutLog } from './repair.js'
import { LogScanner, UNKNOWN_CHAIN } from './scanner.js'
import {
  endOf,
  listLogs,
  locate,
  offsetOf,
  SEGMENT_BYTES,
  type Segment,
  STAGING_FOLDER,
  saltOf,
  segmentFile,
  segmentOf,
} from './segment.js'
import { type SoundFrame, soundFrames } from './sound-frames.js'

/** A location in a segment is four bytes; the last append may carry an extension's one segment beyond this. */
const EXTENSION_BYTES_MAX = 2 ** 32 - 2 ** 28

export interface FileLogOptions {
  end?: LogPoint
  /** a segment is left for the next one when it has reached this size */
  segmentBytes?: number
  /** another process writes it, and may delete it */
  isOfAnother?: boolean
}

export class FileLog implements RecordLog {
  readonly codec = new Codec()
  private readonly salt: bigint
  private stored: LogBytes
  private readonly framer: Framer
  private readonly writes: LogWrites

  /** after the last frame; set by whoever scanned the log */
  end: LogPoint
  readonly isOfAnother: boolean
  private readonly segmentBytes: number

  constructor(
    private readonly storage: LogStorage,
    private folder: string,
    readonly identity: LogIdentity,
    readonly sessionId: string,
    readonly segments: Segment[],
    { end = LOG_START, segmentBytes = SEGMENT_BYTES, isOfAnother = false }: FileLogOptions = {},
  ) {
    this.end = end
    this.segmentBytes = segmentBytes
    this.isOfAnother = isOfAnother
    this.salt = saltOf(identity)
    this.stored = new LogBytes(storage, identity, sessionId, segments, isOfAnother)
    this.framer = new Framer(this.codec, identity, sessionId)
    this.writes = new LogWrites(storage, sessionId)
  }

  /** What others wrote from a location on may still have to be synced. */
  distrustSyncs(from: number): void {
    for (const segment of this.segments) if (segment.number >= segmentOf(from)) this.writes.distrust(segment)
  }

  /** Frames from a point on, in blocks. Dictionary frames are taken in on the way. */
  scan(from: LogPoint): LogScanner {
    const owner = { sessionId: this.sessionId, incarnation: this.identity.incarnation }
    return new LogScanner(this.stored, this.segments, this.salt, this.codec, from, owner)
  }

  /**
   * Every sound frame that is left of whole appends, wherever it lies. Files are looked at as they are now, also behind
   * where the log is taken to end.
   */
  async *leftEntries(): AsyncGenerator<SoundFrame> {
    let open: SoundFrame[] = []
    for await (const one of soundFrames(this.stored, await this.segmentsNow(), this.salt)) {
      open.push(one)
      if ((one.entry.flags & FLAG_END) === 0) continue
      // What follows the last end of an append was acknowledged to nobody.
      yield* open
      open = []
    }
  }

  /** The shapes that any sound frame says. */
  async learnAll(): Promise<void> {
    for await (const { entry: frame } of soundFrames(this.stored, await this.segmentsNow(), this.salt)) {
      const part = frame.kind === KIND.dictionary ? parsePart(frame.body) : undefined
      if (part !== undefined) this.codec.dictionary.adopt(part)
    }
  }

  /** The same files with a dictionary of its own: what is learnt from damaged ones is not to be written on with. */
  apart(): FileLog {
    const copy = new FileLog(this.storage, this.folder, this.identity, this.sessionId, this.segments, {
      end: this.end,
      isOfAnother: this.isOfAnother,
    })
    copy.stored = this.stored // what ends one ends the other
    copy.adoptState(this.state())
    return copy
  }

  private async segmentsNow(): Promise<Segment[]> {
    const logs = await listLogs(this.storage, this.folder)
    const segments = logs.find(({ identity }) => identity.incarnation === this.identity.incarnation)?.segments
    // To find nothing is not to be taken for a stream of which nothing is left.
    if (segments === undefined) throw await this.stored.missing(segmentFile(this.folder, this.identity, 0))
    return segments
  }

  /** The shapes that a frame needs, from dictionary frames after it, where one before it is lost. */
  explain(frame: Frame, location: number): MaybePromise<void> {
    return this.codec.knows(frame.shapes) ? undefined : this.learnShapes(frame, location)
  }

  private async learnShapes(frame: Frame, location: number): Promise<void> {
    const scanner = this.scan({
      location,
      last: location,
      pos: frame.pos - 1,
      chain: UNKNOWN_CHAIN,
      check: frame.previous,
    })
    while (!this.codec.knows(frame.shapes)) if ((await scanner.next()) === undefined) return
  }

  /**
   * A reader's look at what another process wrote since; takes the new sizes in. Whether anything lies behind the end: that
   * may be another thing than at the last look, and no larger, since a writer cuts off what another left unfinished.
   * @throws ASR_STREAM_NOT_FOUND when it was deleted, ASR_CORRUPT when a file is missing, ASR_LOST_TAIL when it is shorter than what was read
   */
  async hasGrown(): Promise<boolean> {
    const { segments, end, sessionId } = this
    // Those behind the end may be gone with the unfinished append that began them.
    while (segments[segments.length - 1].number > segmentOf(end.location)) segments.pop()
    const last = segments[segments.length - 1]
    const size = await this.storage.size(last.file)
    if (size === undefined) throw await this.stored.missing(last.file)
    if (locate(last.number, size) < end.location) {
      throw new AsrError('ASR_LOST_TAIL', `stream ${JSON.stringify(sessionId)}: the log became shorter`, {
        sessionId,
        pos: end.pos,
      })
    }
    last.size = size
    for (let number = last.number + 1; ; number++) {
      const file = segmentFile(this.folder, this.identity, number)
      const nextSize = await this.storage.size(file)
      if (nextSize === undefined) return endOf(segments) > end.location
      // What came to the segment before since its size was asked for stands before this one.
      const before = segments[segments.length - 1]
      before.size = (await this.storage.size(before.file)) ?? before.size
      segments.push({ number, file, size: nextSize })
    }
  }

  /** All of it is written to one segment. */
  extension(): FileLog {
    const number = this.segments[this.segments.length - 1].number + 1
    const token = toHex(crypto.getRandomValues(new Uint8Array(4)))
    const segment = { number, file: `${segmentFile(STAGING_FOLDER, this.identity, number)}.${token}`, size: 0 }
    const { storage, identity, sessionId, end } = this
    const options = { end, segmentBytes: Number.POSITIVE_INFINITY }
    const log = new FileLog(storage, STAGING_FOLDER, identity, sessionId, [segment], options)
    log.adoptState(this.state())
    return log
  }

  /**
   * Makes an extension the next segment, in one rename of what is on the disk by then: a process that dies, or a power cut,
   * leaves all of it or nothing.
   * @throws ASR_IN_DOUBT, ASR_POISONED, ASR_FENCED
   */
  async takeIn(extension: FileLog): Promise<void> {
    const [segment] = extension.segments
    const file = segmentFile(this.folder, this.identity, segment.number)
    await extension.sync()
    await this.sync() // else a power cut could take what stands before it
    await this.assertUntouched(file)
    try {
      await this.storage.rename(segment.file, file)
    } catch (error) {
      throw this.fail(error, 'a rename failed')
    }
    const taken = { ...segment, file }
    this.segments.push(taken)
    this.writes.distrust(taken)
    this.end = extension.end
    this.codec.forgetUnwritten()
  }

  /** @throws ASR_FENCED when the files are not as this log left them */
  private async assertUntouched(next: string): Promise<void> {
    const last = this.segments[this.segments.length - 1]
    const size = await this.storage.size(last.file)
    if (size !== last.size) throw this.writes.fenced(last.file, size, last.size)
    const behind = await this.storage.size(next)
    if (behind !== undefined) throw this.writes.fenced(next, behind, 0)
  }

  /** Moves the log's files to another folder; the first segment, without which there is no log, last. */
  async moveTo(folder: string): Promise<void> {
    for (const segment of [...this.segments].reverse()) {
      const file = segmentFile(folder, this.identity, segment.number)
      await this.storage.rename(segment.file, file)
      segment.file = file
      this.writes.distrust(segment)
    }
    this.folder = folder
  }

  /** Deletes the log's files; the first segment first. */
  async remove(): Promise<void> {
    for (const { file } of this.segments) await this.storage.remove(file)
  }

  /** Bytes of all segments. */
  get bytes(): number {
    return this.segments.reduce((sum, segment) => sum + segment.size, 0)
  }

  get isFull(): boolean {
    return this.bytes > EXTENSION_BYTES_MAX
  }

  get storedEnd(): number {
    return endOf(this.segments)
  }

  whereIs(location: number): string {
    return `at byte ${offsetOf(location)} of segment ${segmentOf(location)}`
  }

  async cut(location: number): Promise<void> {
    await cutLog(this.storage, this.segments, location)
  }

  /** Files that a power cut left empty after the log's end: what is written next belongs to where the log ends, not to them. */
  async dropEmpty(location: number, forReading: boolean): Promise<void> {
    const { segments } = this
    for (let last = segments.at(-1); last?.size === 0 && last.number > segmentOf(location); last = segments.at(-1)) {
      if (!forReading) await this.storage.remove(last.file)
      segments.pop()
    }
  }

  /** The dictionary, as far as frames hold it. */
  state(): Json {
    const { shapes, written } = this.codec.dictionary
    return { from: 0, shapes: shapes.slice(0, written) }
  }

  adoptState(state: Json): void {
    this.codec.dictionary.adopt(state as unknown as DictionaryPart)
  }

  retire(error: AsrError): void {
    this.stored.over = error
  }

  /**
   * Writes appends, each all or none, in one write; the location of each entry.
   * After a failed write or sync the log takes nothing more until it is opened again.
   * @throws ASR_IN_DOUBT (this write may or may not be there), ASR_POISONED, ASR_FENCED, ASR_NO_SPACE
   */
  append(appends: readonly LogEntry[][]): MaybePromise<number[]> {
    this.writes.assertSound()
    const segment = this.segmentForAppend()
    const batch = BatchBuffer.take()
    const mark = this.codec.dictionary.mark()
    const abandon = (error: unknown): never => {
      this.codec.dictionary.restore(mark) // what no frame holds is said again by the next one
      batch.release()
      throw error
    }
    try {
      const { end, locations } = this.framer.frame(batch, this.end, segment, appends)
      const finish = (): number[] => {
        this.end = end
        batch.release()
        return locations
      }
      const writing = this.writes.append(segment, batch.bytes())
      return writing instanceof Promise ? writing.then(finish, abandon) : finish()
    } catch (error) {
      return abandon(error)
    }
  }

  sync(): Promise<void> {
    return this.writes.sync()
  }

  /** Reads frames one after the other. */
  reader(): FrameReader {
    return new FrameReader((segment, offset, length) => {
      return this.stored.read(segmentFile(this.folder, this.identity, segment), offset, length)
    }, this.salt)
  }

  entry(location: number, pos?: number, reader = this.reader()): MaybePromise<Frame> {
    const held = reader.held(location)
    if (held !== undefined) return this.sound(held, pos)
    return reader.load(location).then(
      (frame) => this.sound(frame, pos),
      (error: unknown) => {
        throw isAsrError(error, 'ASR_CORRUPT') ? Object.assign(error, { pos }) : error
      },
    )
  }

  /** The frame, when it is that of the position and its bytes are what was written. @throws ASR_CORRUPT */
  sound(frame: Frame | undefined, pos: number | undefined): Frame {
    if (frame !== undefined && (pos === undefined || frame.pos === pos) && bodyHolds(frame)) return frame
    if (this.stored.over !== undefined) throw this.stored.over
    const message = `stream ${JSON.stringify(this.sessionId)}: the bytes of ${pos === undefined ? 'the header' : `position ${pos}`} are damaged`
    throw new AsrError('ASR_CORRUPT', message, { sessionId: this.sessionId, pos })
  }

  /** The value of a sound frame. @throws ASR_CORRUPT when the dictionary it needs is lost */
  decode(frame: Frame): Decoded {
    return this.decoding(frame, () => this.codec.decode(frame.encoding, frame.body, frame.shapes))
  }

  /** The line of JSON of a sound frame; what was imported as text comes back as it was. */
  line(frame: Frame): string {
    return this.decoding(frame, () => this.codec.line(frame.encoding, frame.body, frame.shapes))
  }

  keptLine(frame: Frame): string | undefined {
    return (frame.encoding & ~ENCODING_DEFLATED) === ENCODING_TEXT ? this.line(frame) : undefined
  }

  private decoding<T>(frame: Frame, decode: () => T): T {
    turns.spend(frame.bodyBytes)
    try {
      return decode()
    } catch (cause) {
      throw new AsrError(
        'ASR_CORRUPT',
        `stream ${JSON.stringify(this.sessionId)}: position ${frame.pos} does not decode`,
        {
          cause,
          sessionId: this.sessionId,
          pos: frame.pos,
        },
      )
    }
  }

  private segmentForAppend(): Segment {
    const last = this.segments[this.segments.length - 1]
    if (last !== undefined && last.size < this.segmentBytes) return last
    const number = last === undefined ? 0 : last.number + 1
    const segment = { number, file: segmentFile(this.folder, this.identity, number), size: 0 }
    this.segments.push(segment)
    return segment
  }

  abandon(cause: AsrError): void {
    this.writes.abandon(cause)
  }

  fail(error: unknown, what: string): AsrError {
    return this.writes.fail(error, what)
  }

  get isPoisoned(): boolean {
    return this.writes.isPoisoned
  }

  get syncFailed(): boolean {
    return this.writes.syncFailed
  }
}
