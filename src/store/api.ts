/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The public face of a store: its interface, and what its calls take and return.
 */

import type { Diagnostic, ErrorCode } from '../base/error.js'
import type { IndexLevel } from '../index/level.js'
import type { LogPlace, SideFiles } from '../log/api.js'
import type { LogStorage } from '../log/storage/storage.js'
import type { Header } from '../record/record.js'
import type { LongCall, Stream } from '../stream/api.js'

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

/** What a place of the caller's own comes with. */
interface LocationRest {
  /** any `AbstractLevel`, whatever its encodings, or what does the same */
  index: IndexLevel
  /** names the running of whatever holds the bytes: within one, what was written is not lost with a process */
  boot?: string
}

/** Where a store is: a folder, files of the caller's own, or a place that has logs in a form of its own. */
export type StoreLocation = string | ({ log: LogStorage } & LocationRest) | ({ place: LogPlace } & LocationRest)

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
  /** Files beside the streams, for what belongs to a session and is not a record, such as the frames that it was recorded from. */
  readonly sideFiles: SideFiles
  /** What opening had to say: torn tails cut, an index rebuilt, losses accepted. */
  readonly notices: readonly Diagnostic[]
  /** Waits for appends under way; idempotent. */
  close(): Promise<void>
  /** `close()`, for `await using`. There where the runtime has the symbol, as Node does. */
  [Symbol.asyncDispose](): Promise<void>
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
  damage?: { code: ErrorCode; message: string }
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

export type { SideFiles } from '../log/api.js'
