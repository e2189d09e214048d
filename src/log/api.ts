/**
 * What the engine asks of logs, whatever holds them: a `LogPlace` has the logs of a store, a `RecordLog` is that of one stream.
 * Nothing here says where bytes are or in what form, or that there are files. `asr-store/conformance` holds both to their promises.
 */
import type { AsrError } from '../base/error.js'
import type { MaybePromise } from '../base/flow.js'
import { hashPair, name128, toHex } from '../base/hash.js'
import type { Json } from '../record/record.js'

/** What an entry of a log is. */
export const ENTRY_KIND = { header: 2, record: 3 } as const
export type EntryKind = (typeof ENTRY_KIND)[keyof typeof ENTRY_KIND]

/** The implied parent of this record was resolved right after a refused line (CORE-12). */
export const FLAG_GAP = 2
/** The record's parent was not there (CORE-12). */
export const FLAG_ORPHAN = 4

/**
 * What distinguishes one log from all others, in hexadecimal digits: 128 bits of the session id's hash, and 64 random bits from
 * when it was made.
 */
export interface LogIdentity {
  name: string
  incarnation: string
}

/** The identity of a log that is made now. */
export function newIdentity(sessionId: string): LogIdentity {
  return { name: name128(sessionId), incarnation: toHex(crypto.getRandomValues(new Uint8Array(8))) }
}

/** The chain up to and with an entry: each record adds its hash to it (CORE-9). */
export function chainAfter(chain: bigint, { kind, hash }: Pick<LogEntry, 'kind' | 'hash'>): bigint {
  return kind === ENTRY_KIND.record ? hashPair(chain, hash) : chain
}

/** A record or header on its way into a log. */
export interface LogEntry {
  kind: EntryKind
  value: unknown
  /** whether the value is what JSON gives back, so that any encoding of JSON's values keeps it */
  plain: boolean
  /** the line to keep as it is */
  text?: string
  flags: number
  pos: number
  parent: number
  hash: bigint
  /** length of the canonical text, as a measure */
  size: number
}

/** What a log says of an entry that it holds; the value is decoded by the log itself. */
export interface StoredEntry {
  /** of entries that are only the log's own, none of `ENTRY_KIND` */
  readonly kind: number
  readonly flags: number
  /** a record's own position; of a header the last position before it */
  readonly pos: number
  /** position of the resolved parent, 0 for a root */
  readonly parent: number
  readonly hash: bigint
  /** the chain up to and with this record (CORE-9) */
  readonly chain: bigint
  /** bytes that its value takes in the log */
  readonly bodyBytes: number
}

/** The value of a header or record. */
export type Decoded = { [key: string]: Json }

/**
 * Where a log stands: after some entry. Locations are whole numbers above 0 that rise with the entries: entries before a point
 * have lesser ones than it, those after it the same or greater ones. What they mean is the log's own affair, and so are `last`
 * and `check`, by which it recognizes the point.
 */
export interface LogPoint {
  location: number
  last: number
  pos: number
  chain: bigint
  check: number
}

/** The point before the first entry of a log. */
export const LOG_START: LogPoint = { location: 0, last: 0, pos: 0, chain: 0n, check: 0 }

/** A spot of a log that is not what was written there. */
export interface Damage {
  at: number
  to: number
  /** the lost positions; none when `lastPos` is less, infinite when nobody knows how many */
  firstPos: number
  lastPos: number
  /** no record or header is lost with it */
  isScar?: boolean
  entry?: undefined
}

/** An entry with its location. */
export interface FoundEntry {
  at: number
  entry: StoredEntry
}

export type ScanItem = FoundEntry | Damage

export interface ScanEnd {
  /** after the last complete append */
  point: LogPoint
  /** bytes after it that are not a complete append */
  tornBytes: number
  /** whether they can be the beginning of what a writer was about to write, as a dying process leaves it */
  isBeginning: boolean
}

/** A scan forward, in blocks, up to the last complete append. */
export interface LogScan {
  /** The items of the next block, or undefined at the end. An array may be empty. */
  next(): Promise<ScanItem[] | undefined>
  /** Where the scan stands; at the end, where the log ends. */
  end(): ScanEnd
  /** the point after an entry that was found */
  pointAfter(found: FoundEntry): LogPoint
}

/** Reads entries one after the other; it keeps what was read together with them. */
export interface EntryReader {
  /** The entry at a location, from what was read last; undefined when it is not in that. */
  held(location: number): StoredEntry | undefined
}

/** A log that lies in a place, opened or not. */
export interface FoundLog {
  readonly identity: LogIdentity
  /** its size */
  readonly bytes: number
  /** the location after all that is there, whether it counts or not */
  readonly storedEnd: number
}

/** What a log looks like at this moment, whatever becomes of it. */
export function asItIs({ identity, bytes, storedEnd }: FoundLog): FoundLog {
  return { identity, bytes, storedEnd }
}

/** The append-only, content-hashed log of one stream: appends are all or none, reads check what is stored (CORE-9, CORE-10). */
export interface RecordLog extends FoundLog {
  readonly sessionId: string
  /** another process writes it, and may delete it */
  readonly isOfAnother: boolean
  /** after the last entry that counts; set by whoever scanned the log */
  end: LogPoint

  /**
   * Writes appends, each all or none, in one write; the location of each entry. After a write or sync that failed the log takes
   * nothing more until it is opened again.
   * @throws ASR_IN_DOUBT (this write may or may not be there), ASR_POISONED, ASR_FENCED, ASR_NO_SPACE
   */
  append(appends: readonly LogEntry[][]): MaybePromise<number[]>
  /** After this everything appended survives a power cut. @throws ASR_IN_DOUBT, ASR_POISONED */
  sync(): Promise<void>
  /** What others wrote from a location on may still have to be synced. */
  distrustSyncs(from: number): void
  /** a write or sync failed: the log has to be opened again */
  readonly isPoisoned: boolean
  /** it was a sync: what can be read may never have reached the disk */
  readonly syncFailed: boolean
  /** Takes nothing more until the log is opened again: what was written last may be there or not. */
  abandon(cause: AsrError): void
  /** The same; the ASR_IN_DOUBT for the call that failed. */
  fail(error: unknown, what: string): AsrError
  /** The log is about to be deleted by this process: reads that are under way end with the error. */
  retire(error: AsrError): void

  /** The entry at a location; of a record, at its position. @throws ASR_CORRUPT when it is not what was written there */
  entry(location: number, pos?: number, reader?: EntryReader): MaybePromise<StoredEntry>
  /** The entry, when it is that of the position and is what was written. @throws ASR_CORRUPT */
  sound(entry: StoredEntry | undefined, pos: number | undefined): StoredEntry
  reader(): EntryReader
  /** The value of a sound entry. @throws ASR_CORRUPT when what explains it is lost */
  decode(entry: StoredEntry): Decoded
  /** The line of JSON of a sound entry; what came as text is given back as it was. @throws as `decode` */
  line(entry: StoredEntry): string
  /** That line, when it was kept as text. */
  keptLine(entry: StoredEntry): string | undefined

  /** A location in words, for messages. */
  whereIs(location: number): string

  scan(from: LogPoint): LogScan
  /** Has what explains an entry at a location looked for after it, where what stood before it is lost. */
  explain(entry: StoredEntry, location: number): MaybePromise<void>
  /** A reader's look at what another process wrote since. @throws ASR_STREAM_NOT_FOUND, ASR_CORRUPT, ASR_LOST_TAIL when it is shorter */
  hasGrown(): Promise<boolean>
  /** Ends the log at a location for good; what was there from it on is kept aside. */
  cut(location: number): Promise<void>
  /** Drops what is there of the log after a location when that is empty; only from sight where `forReading`. */
  dropEmpty(location: number, forReading: boolean): Promise<void>

  /** Every sound entry of whole appends that is left, wherever it lies. */
  leftEntries(): AsyncIterable<FoundEntry>
  /** Learns what explains any entry, from all that is left. */
  learnAll(): Promise<void>
  /** The same log for reading alone: what is learnt from damage is not written on with. */
  apart(): RecordLog

  /** What an index keeps of the log so that entries can be read without reading the log from its start. */
  state(): Json
  adoptState(state: Json): void

  /** A log to be written after this one, no part of it until `takeIn`. */
  extension(): Extension
  /**
   * Makes an extension a part of the log: a process that dies, or a power cut, leaves all of it or nothing.
   * @throws ASR_IN_DOUBT, ASR_POISONED, ASR_FENCED
   */
  takeIn(extension: Extension): Promise<void>
}

/** Appends that will be one. */
export type Extension = Pick<RecordLog, 'append' | 'bytes' | 'isPoisoned'> & {
  /** it can take no more */
  readonly isFull: boolean
  /** Removes what was written of it. */
  remove(): Promise<void>
}

/** Files beside the logs, for what belongs to a session and is not a record; one named by `sideFile` goes with its stream. */
export interface SideFiles {
  /** Adds bytes at the file's end, creating it when it is absent; its size afterwards. */
  append(name: string, bytes: Uint8Array): MaybePromise<number>
  /** At most `length` bytes from `offset`; fewer only where the file ends. Rejects when the file is absent. */
  read(name: string, offset: number, length: number): MaybePromise<Uint8Array>
  /** Undefined when the file is absent. */
  size(name: string): MaybePromise<number | undefined>
  remove(name: string): MaybePromise<void>
}

export interface CreateOptions {
  /** nobody sees the log before it is published */
  staged: boolean
}

export interface OpenOptions {
  /** another process writes the log, and may delete it */
  isOfAnother: boolean
}

/** A place with the logs of a store. */
export interface LogPlace<Found extends FoundLog = FoundLog> {
  /** The published logs, of one name or all. */
  list(name?: string): Promise<Found[]>
  /** The incarnations of all logs, also of those on their way in or out. */
  incarnations(): Promise<Set<string>>
  /** The session whose log it is, as the log says itself; undefined when nothing of it says so. */
  sessionOf(found: Found): Promise<string | undefined>
  /** Whether a log that was there has been deleted since, or is being deleted. */
  isDeleted(found: Found): Promise<boolean>
  /** Why a log does not bear what somebody has seen of it, in words; undefined when it does. */
  doubtOf(found: Found, point: LogPoint): Promise<string | undefined>

  open(found: Found, sessionId: string, options: OpenOptions): RecordLog
  /** A log in the making: it is there once its first append is. */
  create(sessionId: string, options: CreateOptions): RecordLog
  /** Makes a staged log one that is listed. */
  publish(log: RecordLog): Promise<void>
  /** Removes a log that was never published. */
  discard(log: RecordLog): Promise<void>
  /** The log as it ends at a location: cut there, or only seen so where `forReading`. */
  endAt(found: Found, location: number, forReading: boolean): Promise<Found>
  /** Puts a log aside whose making was never finished; what it is called in a message. */
  putAside(found: Found): Promise<string>
  /** Writes a log again from a location on, from what reads give, so that a sync passes over none of it. */
  rewrite(found: Found, from: number): Promise<void>

  /** Takes all logs of a name out of sight, with what lies beside them: what follows is completed by the next opening. */
  retire(logs: readonly Found[]): Promise<void>
  /** All that there is under a name: every making of its log. */
  makings(name: string): Promise<Found[]>
  /** Removes a retired log for good. */
  erase(found: Found): Promise<void>
  /** Logs that were on their way in or out when the store was last closed. */
  leftovers(): Promise<{ found: Found; isRetired: boolean }[]>
  /** Takes back what was half done with a leftover, but for the log itself. */
  takeBack(leftover: { found: Found; isRetired: boolean }): Promise<void>
  /** Removes what else is left half done. */
  sweep(): Promise<void>

  readonly side: SideFiles
  close(): MaybePromise<void>
}
