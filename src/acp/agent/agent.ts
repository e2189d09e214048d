/**
 * A store as an agent of ACP v2: its streams are sessions that any client can list, open and read.
 */
import type { Store } from '../../store/api.js'
import type { MessageStream } from '../message-stream.js'
import type { ReplayAgent, ReplayAgentOptions, ReplayConnection } from './api.js'

/**
 * An agent that replays what a store holds (ASR-724): initialize, session/list, session/resume, session/fork,
 * session/close and session/delete; whatever would need a live agent is refused as read-only.
 */
export function createReplayAgent(store: Store, options: ReplayAgentOptions = {}): ReplayAgent {
  return { connect: (stream) => connect(store, options, stream) }
}

/** The SDK is loaded with the first connection: who only reads or writes streams does not pay for it. */
function connect<M>(store: Store, options: ReplayAgentOptions, stream: MessageStream<M>): ReplayConnection {
  const closing = new AbortController()
  const connected = import('./app.js').then(({ connectApp }) => connectApp(store, options, stream))
  const closed = connected.then((connection) => {
    closing.signal.addEventListener('abort', () => connection.close())
    if (closing.signal.aborted) connection.close()
    return connection.closed
  })
  return { closed, close: () => closing.abort() }
}
