/** The public exports of `asr-store`: the engine. What speaks ACP is `src/acp/main.ts`. */
export {
  AsrError,
  type Diagnostic,
  type DiagnosticCode,
  type ErrorCode,
  isAsrError,
  type NoticeCode,
  type Severity,
} from './base/error.js'
export type * from './log/api.js'
export { chainAfter, ENTRY_KIND, LOG_START, newIdentity } from './log/api.js'
export { MemoryPlace } from './log/memory/memory-place.js'
export type { LogStorage, StoredFile } from './log/storage/storage.js'
export { ExactNumber, exactJson, parseExact } from './record/exact.js'
export type { AsrRecord, Header, Json, StoredRecord } from './record/record.js'
export type * from './store/api.js'
export { memoryLocation, openStore } from './store/open.js'
export type * from './stream/api.js'
