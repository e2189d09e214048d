/** The public exports. */
export { createReplayAgent } from './acp/agent/agent.js'
export type * from './acp/agent/api.js'
export type * from './acp/equivalence/api.js'
export { compareContextViews } from './acp/equivalence/compare.js'
export type { Direction } from './acp/frames.js'
export { type MessageStream, recordingStream, type TapOptions } from './acp/message-stream.js'
export type * from './acp/recorder/api.js'
export { createRecorder } from './acp/recorder/recorder.js'
export {
  type CapturedOptions,
  capturedUpdates,
  currentState,
  losses,
  type Replay,
  type ReplayLoss,
  type ReplayOptions,
  replay,
  type SessionUpdate,
  type SessionUpdateParams,
  type UpdateFrame,
  updateFrame,
  type WireGap,
  writeReplay,
} from './acp/replay/main.js'
export { AsrError, type Diagnostic, isAsrError, type Severity } from './base/error.js'
export type * from './log/api.js'
export { chainAfter, ENTRY_KIND, LOG_START, newIdentity } from './log/api.js'
export { MemoryPlace } from './log/memory/memory-place.js'
export type { LogStorage, StoredFile } from './log/storage/storage.js'
export { ExactNumber, exactJson, parseExact } from './record/exact.js'
export type { AsrRecord, Header, Json, StoredRecord } from './record/record.js'
export type * from './store/api.js'
export { memoryLocation, openStore } from './store/open.js'
export type * from './stream/api.js'
