/**
 * The log of one stream in memory: the second `RecordLog`, which has neither frames nor files.
 */
import { AsrError } from '../../base/error.js'
import { turns } from '../../base/turn.js'
import type { Json } from '../../record/record.js'
import {
  type Decoded,
  type EntryReader,
  type Extension,
  type FoundEntry,
  LOG_START,
  type LogEntry,
  type LogIdentity,
  type LogPoint,
  type OpenOptions,
  type RecordLog,
  type StoredEntry,
} from '../api.js'
import { LogFailure } from '../storage/log-failure.js'
import {
  bytesOf,
  entriesAfter,
  entriesBefore,
  type KeptLog,
  locationAfter,
  type MemoryEntry,
  pointAfter,
  shorten,
} from './kept-log.js'
import { MemoryScan } from './memory-scan.js'

/** What is kept aside of a log that was cut. */
export type PutAside = (kept: KeptLog, entries: readonly MemoryEntry[]) => void

export class MemoryLog implements RecordLog {
  end: LogPoint = LOG_START
  readonly isOfAnother: boolean
  /** how many entries were seen; of a log that is written here, all */
  private seen: number
  private seenBytes: number
  private readonly failure: LogFailure
  /** what reads end with once the log is deleted */
  private readonly life: { over?: AsrError }

  constructor(
    readonly kept: KeptLog,
    storedEnd: number,
    private readonly putAside: PutAside,
    { isOfAnother, life = {} }: OpenOptions & { life?: { over?: AsrError } },
  ) {
    this.isOfAnother = isOfAnother
    this.life = life
    this.failure = new LogFailure(kept.sessionId)
    const { entries, bytes } = kept
    this.seen = Math.min(entries.length, entriesBefore(storedEnd))
    this.seenBytes = this.seen === entries.length ? bytes : bytesOf(entries.slice(0, this.seen))
  }

  get identity(): LogIdentity {
    return this.kept.identity
  }

  get sessionId(): string {
    return this.kept.sessionId
  }

  get bytes(): number {
    return this.seenBytes
  }

  get storedEnd(): number {
    return locationAfter(this.seen)
  }

  get isPoisoned(): boolean {
    return this.failure.isPoisoned
  }

  /** Memory has no syncs that could fail. */
  get syncFailed(): boolean {
    return false
  }

  append(appends: readonly LogEntry[][]): number[] {
    this.failure.assertSound()
    this.assertUntouched()
    const added = entriesAfter(this.end, appends)
    this.add(added)
    if (added.length > 0 && this.kept.stage === 'making') this.kept.stage = this.kept.begins
    return added.map(({ location }) => location)
  }

  private add(added: readonly MemoryEntry[]): void {
    for (const entry of added) this.kept.entries.push(entry)
    this.kept.bytes += bytesOf(added)
    this.look()
    this.end = pointAfter(this.kept.entries.at(-1))
  }

  /** @throws ASR_FENCED when others wrote to the log, or cut or deleted it */
  private assertUntouched(): void {
    const { entries, stage, sessionId } = this.kept
    const isGone = stage === 'retired' || stage === 'gone'
    if (!isGone && entries.length === this.seen && this.end.location === this.storedEnd) return
    throw this.failure.fence(
      `the log of stream ${JSON.stringify(sessionId)} has ${entries.length} entries instead of ${this.seen}: somebody else wrote to it`,
    )
  }

  async sync(): Promise<void> {
    this.failure.assertSound()
  }

  /** Nothing here survives its process, synced or not. */
  distrustSyncs(): void {}

  abandon(cause: AsrError): void {
    this.failure.abandon(cause)
  }

  fail(error: unknown, what: string): AsrError {
    return this.failure.fail(error, what)
  }

  retire(error: AsrError): void {
    this.life.over = error
  }

  entry(location: number, pos?: number): MemoryEntry {
    return this.sound(this.at(location), pos)
  }

  sound(entry: StoredEntry | undefined, pos: number | undefined): MemoryEntry {
    if (entry !== undefined && (pos === undefined || entry.pos === pos)) return entry as MemoryEntry
    throw this.isGone ? this.gone() : this.damaged(pos === undefined ? 'the header' : `position ${pos}`, pos)
  }

  reader(): EntryReader {
    return { held: (location) => this.at(location) }
  }

  /** Made of the line each time: what the caller does to the value changes nothing here. */
  decode(entry: StoredEntry): Decoded {
    turns.spend(entry.bodyBytes)
    return JSON.parse((entry as MemoryEntry).line) as Decoded
  }

  line(entry: StoredEntry): string {
    turns.spend(entry.bodyBytes)
    return (entry as MemoryEntry).line
  }

  keptLine(entry: StoredEntry): string | undefined {
    return (entry as MemoryEntry).isText ? this.line(entry) : undefined
  }

  whereIs(location: number): string {
    return `at entry ${location}`
  }

  scan(from: LogPoint): MemoryScan {
    return new MemoryScan(this.kept.entries, () => this.seen, from)
  }

  /** Each entry explains itself. */
  explain(): void {}

  async learnAll(): Promise<void> {}

  async *leftEntries(): AsyncGenerator<FoundEntry> {
    for (const entry of [...this.kept.entries]) {
      if (turns.isOver()) await turns.next()
      yield { at: entry.location, entry }
    }
  }

  async hasGrown(): Promise<boolean> {
    if (this.isGone) throw this.gone()
    this.look()
    if (this.storedEnd < this.end.location) {
      const { sessionId, end } = this
      const message = `stream ${JSON.stringify(sessionId)}: the log became shorter`
      throw new AsrError('ASR_LOST_TAIL', message, { sessionId, pos: end.pos })
    }
    return this.storedEnd > this.end.location
  }

  async cut(location: number): Promise<void> {
    const cut = shorten(this.kept, entriesBefore(location))
    if (cut.length > 0) this.putAside(this.kept, cut)
    this.look()
  }

  /** An append leaves nothing empty. */
  async dropEmpty(): Promise<void> {}

  apart(): MemoryLog {
    const { kept, storedEnd, putAside, isOfAnother, life } = this
    const copy = new MemoryLog(kept, storedEnd, putAside, { isOfAnother, life })
    copy.end = this.end
    return copy
  }

  state(): Json {
    return null
  }

  adoptState(): void {}

  extension(): MemoryExtension {
    return new MemoryExtension(this.end)
  }

  async takeIn(extension: MemoryExtension): Promise<void> {
    this.failure.assertSound()
    this.assertUntouched()
    if (extension.from.check !== this.end.check) throw this.failure.fence('the extension is of another end of the log')
    this.add(extension.entries)
  }

  /** Takes in how much there is now. */
  private look(): void {
    this.seen = this.kept.entries.length
    this.seenBytes = this.kept.bytes
  }

  private at(location: number): MemoryEntry | undefined {
    return location <= this.seen ? this.kept.entries[location - 1] : undefined
  }

  private get isGone(): boolean {
    const { stage } = this.kept
    return this.life.over !== undefined || stage === 'retired' || stage === 'gone'
  }

  private gone(): AsrError {
    const { sessionId, isOfAnother } = this
    if (this.life.over !== undefined) return this.life.over
    if (!isOfAnother) return this.damaged('the log', undefined)
    return new AsrError('ASR_STREAM_NOT_FOUND', `stream ${JSON.stringify(sessionId)} was deleted`, { sessionId })
  }

  private damaged(what: string, pos: number | undefined): AsrError {
    const { sessionId } = this
    return new AsrError('ASR_CORRUPT', `stream ${JSON.stringify(sessionId)}: ${what} is not there`, { sessionId, pos })
  }
}

/** Entries that wait to be a part of the log. */
export class MemoryExtension implements Extension {
  readonly entries: MemoryEntry[] = []
  readonly isPoisoned = false
  readonly isFull = false
  bytes = 0

  constructor(readonly from: LogPoint) {}

  append(appends: readonly LogEntry[][]): number[] {
    const added = entriesAfter(this.entries.length === 0 ? this.from : pointAfter(this.entries.at(-1)), appends)
    for (const entry of added) this.entries.push(entry)
    this.bytes += bytesOf(added)
    return added.map(({ location }) => location)
  }

  async remove(): Promise<void> {
    this.entries.length = 0
  }
}
