/**
 * The agent's side of one connection: which request does what.
 */
import { agent, methods, PROTOCOL_VERSION, type Stream } from '@agentclientprotocol/sdk/experimental/v2/unstable'
import type { Store } from '../../store/api.js'
import type { MessageStream } from '../message-stream.js'
import type { ReplayAgentOptions, ReplayConnection } from './api.js'
import { readOnly } from './errors.js'
import { SessionList } from './list.js'
import { Sessions } from './sessions.js'

const { agent: asked } = methods

const INFO = { name: 'asr-store', title: 'Recorded sessions', version: '0' }

export function connectApp<M>(store: Store, options: ReplayAgentOptions, stream: MessageStream<M>): ReplayConnection {
  const { info = INFO, allowFork = true, allowDelete = false } = options
  const sessions = new Sessions(store)
  const list = new SessionList(store)
  const app = agent({ name: info.name })
    .onRequest(asked.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      info,
      capabilities: {
        session: { additionalDirectories: {}, ...(allowFork && { fork: {} }), ...(allowDelete && { delete: {} }) },
      },
    }))
    .onRequest(asked.session.list, ({ params }) => list.page(params))
    .onRequest(asked.session.resume, (context) => sessions.resume(context))
    .onRequest(asked.session.close, ({ params }) => sessions.close(params.sessionId))
    .onRequest(asked.session.fork, ({ params, signal }) => {
      if (!allowFork) throw readOnly('recorded sessions are not forked here')
      return sessions.fork(params, signal)
    })
    .onRequest(asked.session.delete, ({ params }) => {
      if (!allowDelete) throw readOnly('recorded sessions are not deleted here')
      return sessions.delete(params.sessionId)
    })
    .onRequest(asked.session.prompt, async ({ params }) => {
      await sessions.known(params.sessionId)
      throw readOnly('the session is a recording, and takes no prompts')
    })
    .onRequest(asked.session.setConfigOption, async ({ params }) => {
      await sessions.known(params.sessionId)
      throw readOnly('the session is a recording, and its options are those that were recorded')
    })
    .onRequest(asked.session.new, () => {
      throw readOnly('this agent replays recorded sessions, and begins none')
    })
    .onNotification(asked.session.cancel, () => {}) // nothing is under way that a turn could be
  return app.connect(stream as unknown as Stream)
}
