/**
 * The public face of a store as an agent.
 */
import type { MessageStream } from '../message-stream.js'

export interface ReplayAgentOptions {
  /** what the agent says of itself */
  info?: { name: string; version: string; title?: string }
  /** session/fork copies a recorded session into a new stream; default true, and the store decides whether it takes one */
  allowFork?: boolean
  /** session/delete deletes a recorded session for good; default false */
  allowDelete?: boolean
}

/** What the SDK calls an agent connector: its transports serve it as they serve any agent. */
export interface ReplayAgent {
  connect<M>(stream: MessageStream<M>): ReplayConnection
}

export interface ReplayConnection {
  /** resolves when the connection is over, however it ended */
  readonly closed: Promise<void>
  close(): void
}
