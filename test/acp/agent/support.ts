/**
 * A client of the SDK and the agent of a store, connected in memory.
 */
import * as acp from '@agentclientprotocol/sdk/experimental/v2/unstable'
import { createReplayAgent } from '../../../src/acp/agent/agent.js'
import type { ReplayAgentOptions } from '../../../src/acp/agent/api.js'
import type { Store } from '../../../src/main.js'

export const { agent: asked } = acp.methods

export interface Client {
  agent: acp.ClientContext
  /** the updates so far */
  updates: acp.UpdateSessionNotification[]
}

export function memoryPair(): [acp.Stream, acp.Stream] {
  const there = new TransformStream()
  const back = new TransformStream()
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ]
}

/** Runs a client on a stream, initialized, and ends the connection. */
export async function asClient<T>(stream: acp.Stream, run: (client: Client) => Promise<T>): Promise<T> {
  const updates: acp.UpdateSessionNotification[] = []
  return acp
    .client({ name: 'test' })
    .onNotification(acp.methods.client.session.update, ({ params }) => {
      updates.push(params)
    })
    .connectWith(stream, async (agent) => {
      const info = { name: 'test', version: '1' }
      await agent.request(asked.initialize, { protocolVersion: acp.PROTOCOL_VERSION, info })
      return run({ agent, updates })
    })
}

/** Runs a client of the store. */
export async function withClient<T>(
  store: Store,
  run: (client: Client) => Promise<T>,
  options: ReplayAgentOptions = {},
): Promise<T> {
  const [client, agent] = memoryPair()
  const connection = createReplayAgent(store, options).connect(agent)
  try {
    return await asClient(client, run)
  } finally {
    connection.close()
    await connection.closed
  }
}

/** The code, message and data of the error that a request must be answered with. */
export async function refused(request: Promise<unknown>): Promise<{ code: number; message: string; data?: unknown }> {
  let answer: unknown
  try {
    answer = await request
  } catch (error) {
    if (!(error instanceof acp.RequestError)) throw error
    return { code: error.code, message: error.message, data: error.data }
  }
  throw new Error(`answered: ${JSON.stringify(answer)}`)
}

export const START = { replayFrom: { type: 'start' as const }, cwd: '/w' }
