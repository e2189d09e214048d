/**
 * The public face of the library: the interfaces of a store, a stream and what they return.
 */
import type { AbstractLevel } from 'abstract-level'
import type { LogStorage } from '../log/storage.js'
import type { Diagnostic } from '../record/error.js'
import type { AsrRecord, Header, StoredRecord } from '../record/record.js'

export interface StoreOptions {
  /** make the store when the folder is empty or absent (default true); never over anything else */
  create?: boolean
  /** no lock, no repair, no write; works beside a live writer */
  readOnly?: boolean
  /** an append resolves when it survives the process (default) or a power cut */
  durability?: 'process' | 'disk'
  /** go on after ASR_LOST_TAIL or ASR_CORRUPT: the stream ends where it is sound */
  acceptLoss?: boolean
}

export type StoreLocation =
  | string
  | {
      log: LogStorage
      // biome-ignore lint/suspicious/noExplicitAny: any level serves, whatever its encodings
      index: AbstractLevel<any, any, any>
      /** names the running of whatever holds the bytes: within one, what was written is not lost with a process */
      boot?: string
    }

export interface Progress {
  done: number
  total?: number
  unit: string
}

export interface LongCall {
  onProgress?: (progress: Progress) => void
  signal?: AbortSignal
}

export interface Store {
  /** @throws ASR_STREAM_EXISTS, ASR_BAD_RECORD, ASR_BAD_VALUE */
  createStream(header: Header): Promise<Stream>
  /**
   * The stream of a session. To a reader that found it damaged, or ending before damage: anew, once its files have changed.
   * @throws ASR_STREAM_NOT_FOUND
   */
  stream(sessionId: string): Promise<Stream>
  /** Every stream, by the order of their session ids; none is opened for it. */
  streams(): AsyncIterable<StreamInfo>
  importJsonl(
    chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
    options?: ImportOptions,
  ): Promise<ImportReport>
  verify(options?: { sessionId?: string } & LongCall): Promise<VerifyReport>
  rebuildIndex(options?: { sessionId?: string } & LongCall): Promise<void>
  deleteStream(sessionId: string): Promise<void>
  /** What opening had to say: torn tails cut, an index rebuilt, losses accepted. */
  readonly notices: readonly Diagnostic[]
  /** Waits for appends under way; idempotent. */
  close(): Promise<void>
}

export interface StreamInfo {
  sessionId: string
  records: number
  lastSeq: number
  /** the `ts` of the last record, in log order, that has one as text */
  updatedAt: string | null
  /** the last `session_info.title` on primary's path */
  title: string | null
  agent: { name: string; version: string } | null
  /** size of the stream's log */
  bytes: number
  /** why the stream does not open whole, if so (CORE-10); then `records` counts what is sound before that */
  damage?: { code: string; message: string }
}

/** A head's name, or the record where the path ends; default primary. */
export type At = { head?: string; at?: undefined } | { at?: string; head?: undefined }

export interface AppendOptions {
  /** the last position seen (0: empty), else ASR_CONFLICT with `actual` */
  expected?: number
  /** written into records that name no head */
  head?: string
}

export interface Stream {
  readonly sessionId: string
  /** number of records: positions are 1…length */
  readonly length: number
  header(): Promise<Header>
  reviseHeader(patch: Record<string, unknown>): Promise<Header>
  /** Adds records, all or none, as they are at the time of the call (CORE-4 … CORE-21). */
  append(records: AsrRecord | AsrRecord[], options?: AppendOptions): Promise<Receipt>
  get(recordId: string): Promise<StoredRecord | undefined>
  /**
   * The JSON text of a record as it is stored and exported, or, without an id, of the header in force; undefined when there
   * is no such record. `parseExact` reads it without rounding numbers (CORE-7).
   */
  text(recordId?: string): Promise<string | undefined>
  /** Where a record stands, or undefined. */
  position(recordId: string): Promise<number | undefined>
  hash(recordId: string): Promise<string>
  digest(): Promise<string>
  records(options?: RangeOptions): AsyncIterable<StoredRecord>
  follow(options?: { after?: number; signal?: AbortSignal }): AsyncIterable<Followed>
  entity(type: string, entityId: string, options?: At & { anywhere?: true }): Promise<Entity[]>
  heads(): Promise<Head[]>
  leaves(): Promise<Leaf[]>
  setHead(name: string, recordId: string | null): Promise<Receipt>
  activePath(at?: At): Promise<Path>
  contextView(at?: At): Promise<ContextView>
  exportJsonl(options?: { salvage?: true }): AsyncIterable<Uint8Array>
}

/** Positions, inclusive. */
export interface RangeOptions {
  from?: number
  to?: number
  reverse?: boolean
  types?: string[]
}

export type Followed = { pos: number; record: StoredRecord } | { caughtUp: true }

export interface Head {
  name: string
  recordId: string
  pos: number
}

export interface Leaf {
  recordId: string
  pos: number
  heads: string[]
}

/** Places of all records of the call, duplicates included; `first` and `last` are 0 for an empty call. */
export interface Receipt {
  first: number
  last: number
  appended: number
  duplicates: number
}

export interface Entity {
  first: StoredRecord
  /** null: dead (CORE-19) */
  inForce: StoredRecord | null
  revisions: StoredRecord[]
}

/** The path begins at a record whose parent was not there (CORE-12). */
export interface Cut {
  recordId: string
  missingParentId: string
}

export interface Path {
  length: number
  cut: Cut | null
  gaps: string[]
  ids(): AsyncIterable<string>
  records(): AsyncIterable<StoredRecord>
  /** Each live entity once, at its position, in force; without tombstones. */
  resolved(): AsyncIterable<StoredRecord>
}

export interface ContextView {
  /** the head's name; null when the view was asked for at a record */
  head: string | null
  compaction: StoredRecord | null
  openCalls: string[]
  danglingResults: string[]
  cut: Cut | null
  gaps: string[]
  diagnostics: Diagnostic[]
  /** number of entries */
  length: number
  /** the compaction first */
  entries(): AsyncIterable<StoredRecord>
}

export interface ImportOptions extends LongCall {
  /** the session of a file without a header */
  sessionId?: string
  /** refuse the file, and write nothing, at any diagnostic */
  strict?: boolean
}

export interface ImportReport {
  sessionId: string
  /** the stream's records afterwards */
  records: number
  appended: number
  duplicates: number
  diagnostics: Diagnostic[]
}

export interface VerifyReport {
  /** no `damage` */
  ok: boolean
  streams: { sessionId: string; records: number; ok: boolean; problems: Diagnostic[] }[]
}
