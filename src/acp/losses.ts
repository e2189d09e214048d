/**
 * What a recording of ACP can not hold, by the names of ASR-722, and what a replay does not carry (ASR-731).
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

/** What a replay leaves out beside the types of `NOT_REPLAYED`; names that are not the page's begin with its prefix. */
export const REPLAY_LOSS = {
  usage: LOSS.usage,
  timestamps: LOSS.timestamps,
  author: LOSS.messageAuthor,
  toolResultContent: LOSS.toolResultContent,
  revisionHistory: LOSS.revisionHistory,
  /** reasoning that is opaque, and signatures */
  reasoning: LOSS.reasoning,
  tombstone: 'tombstone',
  configChange: 'config_change',
  state: 'state',
  turnTriggers: 'turn_triggers',
  senders: 'senders',
  offPath: 'off_path',
  lineage: 'lineage',
  capture: 'capture',
  fileChange: 'file_change',
  /** the path begins at a record whose parent is not there */
  cut: `_${ACP_VENDOR}/cut`,
  /** lines of the path that were refused when it was imported */
  refusedLines: `_${ACP_VENDOR}/refused_lines`,
  /** records that can not be read */
  damage: `_${ACP_VENDOR}/damage`,
  /** a path below a root whose own path is not told (ASR-729) */
  redactedRoot: `_${ACP_VENDOR}/redacted_root`,
  /** ACP carries no extent (CORE-28) */
  compactionExtent: `_${ACP_VENDOR}/compaction_extent`,
  /** all but the last of entities that share one ACP id (CORE-29) */
  sharedId: `_${ACP_VENDOR}/shared_id`,
  /** results that close no call */
  unpairedResult: `_${ACP_VENDOR}/unpaired_result`,
  /** messages of roles but user and assistant */
  role: `_${ACP_VENDOR}/message_role`,
  audience: `_${ACP_VENDOR}/message_audience`,
  notice: `_${ACP_VENDOR}/notice`,
  interSession: `_${ACP_VENDOR}/inter_session`,
  /** parts of content that are no blocks of ACP, and fields that hold what ACP does not take */
  content: `_${ACP_VENDOR}/content`,
  /** `_meta` of a session that came without a title */
  infoMeta: `_${ACP_VENDOR}/session_info_meta`,
  /** exit codes that ACP does not take: negative ones, and those beyond 32 bits */
  exitCode: `_${ACP_VENDOR}/exit_code`,
  /** what was kept of a diff beside its changes and its patch, such as `_meta` */
  diffMeta: `_${ACP_VENDOR}/diff_meta`,
  titleHistory: `_${ACP_VENDOR}/title_history`,
  /** records of other formats, and of unknown types */
  unmapped: `_${ACP_VENDOR}/unmapped`,
} as const

/** The types whose records are not replayed, and are a category by their own name (ASR-731). */
export const NOT_REPLAYED: ReadonlySet<string> = new Set([
  'inference',
  'vcs',
  'workspace_state',
  'checkpoint',
  'gap',
  'declaration',
  'instructions',
  'config_change',
  'permission',
  'input_request',
  'hook',
  'memory_change',
  'delivery',
  'redaction',
  'subagent',
])
