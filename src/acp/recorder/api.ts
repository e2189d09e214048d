/**
 * The public face of the recorder.
 */
import type { Direction } from '../frames.js'
import type { WireStorage } from './wire.js'

/** What tells one connection from another; what it is does not matter. */
export type ConnectionKey = string | number

export interface ObservedFrame {
  /** client to agent, or agent to client */
  dir: Direction
  /** the JSON-RPC frame as parsed; a batch is an array. It may be left out where its text is given */
  frame?: unknown
  /**
   * the frame's text as it was on the wire, where it is at hand: numbers are then recorded in their own digits, while a parsed
   * frame has doubles (CORE-7). Text that is no JSON is counted as such
   */
  text?: string
  /** when it was seen: text of ISO 8601 with an offset, or milliseconds of the epoch; default now */
  at?: string | number
  /** default 0 */
  conn?: ConnectionKey
}

export type KeepWire = 'redacted' | 'verbatim' | 'none'

export interface RecorderOptions {
  /** the agent's registered short name or a reverse-DNS name, else one is derived from what it says of itself (ASR-703) */
  agentName?: string | ((info: { name: string; version?: string }) => string | undefined)
  /** the client relays a person's input: prompts get `author: human` (ASR-713) */
  clientIsPerson?: boolean
  /** properties of forms whose answers are never stored, besides those the schema marks (ASR-734) */
  secretFields?: readonly string[]
  /** whether the frames are kept beside the streams (ASR-723); default redacted */
  keepWire?: KeepWire
  /** where they are kept; default: in the store's own folder, where there is one */
  wireStorage?: WireStorage
  /** milliseconds after which open entities are written as they stand; default: not before the turn pauses */
  snapshotEvery?: number
  /** a session that is new to the agent but not to the store: go on in its stream (default), or leave it alone */
  knownSession?: 'continue' | 'skip'
  /** told of what could not be recorded; never thrown */
  onProblem?: (problem: RecorderProblem) => void
  /** milliseconds of the epoch, for frames that come without a time */
  now?: () => number
}

export type ProblemCode =
  /** the store did not take records; they are kept, and offered again with the next ones */
  | 'store_failed'
  /** one record was refused; a `gap` stands in its place */
  | 'record_refused'
  /** a session is not recorded any further: its stream was deleted, or can not be written for good */
  | 'session_lost'
  /** a session of this id is in the store already, and was left alone */
  | 'session_known'
  /** frames can not be kept now: they wait, as far as there is room, and are written when they can be; or they were not kept to the end */
  | 'wire_failed'
  /** the connection speaks another version of the protocol and is not recorded */
  | 'protocol_version'
  /** times of frames are in another unit than milliseconds or without an offset, or can not be read; once a kind */
  | 'time_read'
  /** a frame could not be dealt with */
  | 'frame_failed'

export interface RecorderProblem {
  code: ProblemCode
  message: string
  sessionId?: string
  cause?: unknown
}

export interface RecorderSummary {
  /** frames observed; a batch is one */
  frames: number
  /** frames, or messages of a batch, that are no JSON-RPC */
  notJsonRpc: number
  /** records written */
  records: number
  sessions: string[]
  problems: number
}

export interface Recorder {
  /** Takes a frame, in the order of the wire. Returns at once, and never throws. */
  observe(frame: ObservedFrame): void
  /** A connection is gone: what was open on it is written as it stands. Its key may come again for another one. */
  disconnected(conn?: ConnectionKey): void
  /** Once all that was observed is dealt with, and what is to be written is written or has failed. */
  settled(): Promise<void>
  /** Writes all that is open; what is observed later is ignored. Idempotent. */
  stop(): Promise<RecorderSummary>
  readonly summary: RecorderSummary
}
