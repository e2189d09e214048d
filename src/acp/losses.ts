/**
 * What a recording of ACP can not hold, by the names of ASR-722.
 */
import { ACP_VENDOR } from './revision.js'

export const LOSS = {
  toolResultContent: 'tool_result.content',
  messageAuthor: 'message.author',
  inference: 'inference',
  usage: 'usage',
  timestamps: 'timestamps',
  reasoning: 'reasoning',
  toolStatusTransitions: `_${ACP_VENDOR}/tool_status_transitions`,
  revisionHistory: 'revision_history',
} as const

export type Loss = (typeof LOSS)[keyof typeof LOSS]

/** The losses of every recording. */
export const LOSSES_ALWAYS: readonly Loss[] = [LOSS.messageAuthor, LOSS.inference, LOSS.usage, LOSS.timestamps]

/** The losses that a stream has from its first record of a type on. */
export const LOSSES_BY_TYPE: ReadonlyMap<string, Loss> = new Map([
  ['tool_call', LOSS.toolStatusTransitions],
  ['tool_result', LOSS.toolResultContent],
])
