/**
 * The public face of a stream: its interface, and what its calls take and return.
 */
import type { Diagnostic } from '../base/error.js'
import type { AsrRecord, Header, StoredRecord } from '../record/record.js'

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

/** A head's name, or the record where the path ends; default primary. */
export type At = { head?: string; at?: undefined } | { at?: string; head?: undefined }

export interface AppendOptions {
  /** the last position seen (0: empty), else ASR_CONFLICT with `actual` */
  expected?: number
  /** written into records that name no head */
  head?: string
}

/** Places of all records of the call, duplicates included; `first` and `last` are 0 for an empty call. */
export interface Receipt {
  first: number
  last: number
  appended: number
  duplicates: number
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

export interface Progress {
  done: number
  total?: number
  unit: string
}

export interface LongCall {
  onProgress?: (progress: Progress) => void
  signal?: AbortSignal
}
