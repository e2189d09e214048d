/**
 * The one error class of the engine. Codes are stable within a major version, messages are not.
 * A plain `TypeError` means a call that no caller should make.
 */
export const ERROR_CODES = [
  'ASR_STREAM_EXISTS',
  'ASR_STREAM_NOT_FOUND',
  'ASR_NOT_FOUND',
  'ASR_CONFLICT',
  'ASR_ID_CONFLICT',
  'ASR_DIVERGED',
  'ASR_PARENT_UNKNOWN',
  'ASR_HEAD_TARGET',
  'ASR_TARGET_UNKNOWN',
  'ASR_SUPERSEDES_UNKNOWN',
  'ASR_SUPERSEDES_MISMATCH',
  'ASR_BAD_RECORD',
  'ASR_BAD_VALUE',
  'ASR_TOO_LARGE',
  'ASR_TOO_DEEP',
  'ASR_CURSOR_FUTURE',
  'ASR_LOCKED',
  'ASR_FENCED',
  'ASR_READ_ONLY',
  'ASR_CLOSED',
  'ASR_IN_DOUBT',
  'ASR_POISONED',
  'ASR_NO_SPACE',
  'ASR_IO',
  'ASR_CORRUPT',
  'ASR_LOST_TAIL',
  'ASR_FORMAT',
  'ASR_ABORTED',
] as const

/** What an import can say of a line that it does not store. */
export const REFUSED_CODES = [
  'bad_json',
  'not_object',
  'bad_utf8',
  'torn_tail',
  'too_deep',
  'too_large',
  'bad_field',
  'id_conflict',
  'no_header',
  'session_mismatch',
] as const

/** What an import, a view or `verify` can say of a record that is stored. */
export const KEPT_CODES = [
  'orphan_parent',
  'forward_parent',
  'supersedes_unknown',
  'supersedes_mismatch',
  'target_unknown',
  'head_target',
  'seq_not_rising',
  'number_rounded',
  'compaction_bad_extent',
  'superseded_twice',
  'asr_version',
] as const

/** What opening did or found by itself, told in `store.notices`; the last one is said by `verify`. */
export const NOTICE_CODES = [
  'torn_tail',
  'unfinished_stream',
  'lost_suffix',
  'loss_accepted',
  'index_rebuilt',
  'index_not_written',
  'index_in_memory',
  'format_rewritten',
  'permissions_tightened',
  'frame_damaged',
  'lost_stream',
  'index_damaged',
] as const

export type RefusedCode = (typeof REFUSED_CODES)[number]
export type KeptCode = (typeof KEPT_CODES)[number]
export type NoticeCode = (typeof NOTICE_CODES)[number]

/** What an import can say of a line, whether it is stored or not. */
export type LineCode = RefusedCode | KeptCode

/**
 * What a call can be rejected with: an `ASR_` code; or, from `importJsonl` alone, what the file is refused for: `no_header`,
 * `session_mismatch`, and with `strict` the code of the first diagnostic.
 */
export type ErrorCode = (typeof ERROR_CODES)[number] | LineCode

/** What a report or a notice can say: of a line or a record, of the store, or, from `verify`, why a stream cannot be read. */
export type DiagnosticCode = ErrorCode | NoticeCode

export interface ErrorDetails {
  cause?: unknown
  /** the session the failure is about */
  sessionId?: string
  /** the record the failure is about */
  recordId?: string
  /** the position the failure is about: for `ASR_CORRUPT` and `ASR_LOST_TAIL` the first bad one */
  pos?: number
  /** `ASR_CONFLICT`: the last position of the stream as it is */
  actual?: number
  /** `ASR_LOCKED`: who holds the store */
  holder?: string
  /** a refused import: what was found until then */
  diagnostics?: Diagnostic[]
}

/** Every failure of the engine: a stable `code`, a message naming stream, record or line, a `cause` where there is one. */
export class AsrError extends Error {
  readonly code: ErrorCode
  declare readonly sessionId?: string
  declare readonly recordId?: string
  declare readonly pos?: number
  declare readonly actual?: number
  declare readonly holder?: string
  declare readonly diagnostics?: Diagnostic[]

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { cause, ...rest } = details
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'AsrError'
    this.code = code
    Object.assign(this, rest)
  }
}

/** Told by shape, so that it also holds for an error from another copy of this package. */
export function isAsrError(error: unknown, code?: ErrorCode): error is AsrError {
  if (!(error instanceof Error) || error.name !== 'AsrError') return false
  return code === undefined || (error as AsrError).code === code
}

/** How much a finding weighs: a refused line, a stored record with a flaw, damaged bytes, a remark. */
export type Severity = 'refused' | 'kept' | 'damage' | 'note'

export interface Diagnostic {
  code: DiagnosticCode
  message: string
  line?: number
  recordId?: string
  severity: Severity
}
