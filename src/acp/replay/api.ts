/**
 * Replaying a stream as ACP: the types of the public face.
 */
export interface ReplayOptions {
  /** the path of this head; default primary */
  head?: string
  /** the path that ends at this record */
  at?: string
  /** the wire protocol version; there is no other (ASR-700) */
  protocol?: 2
}

/** The params of a `session/update` notification. */
export interface SessionUpdateParams {
  sessionId: string
  update: SessionUpdate
}

export interface SessionUpdate {
  readonly sessionUpdate: string
  readonly [field: string]: unknown
}

/** Something that the stream holds and a replay does not carry (ASR-731). */
export interface ReplayLoss {
  /** the category: a name of the mapping page, or one that begins with `_` */
  loss: string
  /** how many records (of `content`, parts; of `redacted_root`, paths) */
  count: number
  /** the first record it was met at */
  recordId: string | null
}

/** Each iteration tells the whole path, from the start, as it stood when the replay was first asked. */
export interface Replay extends AsyncIterable<SessionUpdateParams> {
  /** What the replay leaves out. Once it was iterated to its end this is at hand, else the stream is read for it. */
  losses(): Promise<ReplayLoss[]>
}
