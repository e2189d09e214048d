/** The public exports. */
export { memoryLocation, openStore } from './jsonl/open.js'
export type { LogStorage, StoredFile } from './log/storage.js'
export { AsrError, type Diagnostic, isAsrError, type Severity } from './record/error.js'
export type { AsrRecord, Header, Json, StoredRecord } from './record/record.js'
export type * from './store/api.js'
