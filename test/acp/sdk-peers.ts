/**
 * An agent and a client of the SDK that go through a conversation with every kind of update, and say what they saw.
 */
import * as acp from '@agentclientprotocol/sdk/experimental/v2/unstable'
import fc from 'fast-check'
import { UPDATE_KINDS, updateArbitrary } from './generator.js'

const { agent: asAgent, client: asClient } = acp.methods

const SCHEMA_CASES = { numRuns: 4, seed: 42 }

/** Updates of every kind, the same ones each time; the child is told of before it speaks. */
export function scriptedUpdates(): acp.SessionUpdate[] {
  const child = { sessionUpdate: 'subagent_update', sessionId: 'kid', title: 'Kid' } as acp.SessionUpdate
  const all = UPDATE_KINDS.flatMap((kind) => fc.sample(updateArbitrary(kind), SCHEMA_CASES))
  const changes = [{ operation: 'modify', path: '/home/u/proj/a.ts' }]
  const edit = { sessionUpdate: 'tool_call_update', toolCallId: 'edit', content: [{ type: 'diff', changes }] }
  return [child, ...all, { ...edit, status: 'completed' }] as acp.SessionUpdate[]
}

/** Answers each prompt with all updates, a permission request and a question, and ends the turn. */
export function scriptedAgent() {
  return acp
    .agent({ name: 'scripted' })
    .onRequest(asAgent.initialize, () => ({
      protocolVersion: acp.PROTOCOL_VERSION,
      info: { name: 'Scripted Agent', version: '1.0.0' },
      capabilities: { session: {} },
    }))
    .onRequest(asAgent.session.new, () => ({ sessionId: 's' }))
    .onRequest(asAgent.session.resume, async ({ params, client }) => {
      const update: acp.SessionUpdate = { sessionUpdate: 'state_update', state: 'idle' }
      await client.notify(asClient.session.update, { sessionId: params.sessionId, update })
      return {}
    })
    .onRequest(asAgent.session.close, () => {})
    .onRequest(asAgent.session.prompt, ({ params, client }) => {
      setTimeout(() => turn(client, params.sessionId), 0)
      return { messageId: 'prompt-1' }
    })
}

async function turn(client: acp.AgentContext, sessionId: string): Promise<void> {
  for (const update of scriptedUpdates()) await client.notify(asClient.session.update, { sessionId, update })
  const options = [{ optionId: 'y', name: 'Yes', kind: 'allow_once' as const }]
  await client.request(asClient.session.requestPermission, { sessionId, title: 'May I?', options })
  const question = { sessionId, mode: 'form' as const, message: 'Q?', requestedSchema: { type: 'object' as const } }
  await client.request(asClient.elicitation.create, question)
  const update: acp.SessionUpdate = { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' }
  await client.notify(asClient.session.update, { sessionId, update })
}

/** All that the client saw, in order: results, updates, and what it was asked. */
export async function scriptedClient(stream: acp.Stream): Promise<unknown[]> {
  const seen: unknown[] = []
  let idle = 0
  let done: () => void = () => {}
  const finished = new Promise<void>((resolve) => {
    done = resolve
  })
  await acp
    .client({ name: 'scripted' })
    .onNotification(asClient.session.update, ({ params }) => {
      seen.push(params)
      const { update } = params
      if (update.sessionUpdate !== 'state_update' || update.state !== 'idle') return
      if ((update as { stopReason?: string }).stopReason === 'end_turn') idle++
      if (idle > 0 && seen.some((one) => (one as { asked?: boolean }).asked)) done()
    })
    .onRequest(asClient.session.requestPermission, ({ params }) => {
      seen.push(params)
      return { outcome: { outcome: 'selected', optionId: 'y' } }
    })
    .onRequest(asClient.elicitation.create, ({ params }) => {
      seen.push({ asked: true, params })
      return { action: 'accept', content: { a: 'b' } }
    })
    .connectWith(stream, async (agent) => {
      const info = { name: 'test', version: '1' }
      seen.push(
        await agent.request(asAgent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, info, capabilities: {} }),
      )
      const session = await agent.request(asAgent.session.new, { cwd: '/home/u/proj' })
      const { sessionId } = session
      seen.push(
        session,
        await agent.request(asAgent.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'go' }] }),
      )
      await finished
      seen.push(await agent.request(asAgent.session.close, { sessionId }))
      const unknown = await agent.request('_test/unknown', {}).catch((error: { code?: number }) => error.code)
      seen.push(unknown)
    })
  return seen
}
