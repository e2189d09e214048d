/** The public exports of `asr-store/acp`: recorder, replayer, agent and comparison. */
export { createReplayAgent } from './agent/agent.js'
export type * from './agent/api.js'
export type * from './equivalence/api.js'
export { compareContextViews } from './equivalence/compare.js'
export type { Direction } from './frames.js'
export { type MessageStream, recordingStream, type TapOptions } from './message-stream.js'
export type * from './recorder/api.js'
export { createRecorder } from './recorder/recorder.js'
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
} from './replay/main.js'
