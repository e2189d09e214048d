/** What of replaying is public. */
export type * from './api.js'
export { currentState, losses, replay } from './replay.js'
export { type CapturedOptions, capturedUpdates, type WireGap } from './wire.js'
export { type UpdateFrame, updateFrame, writeReplay } from './write.js'
