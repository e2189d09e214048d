/**
 * A session that was captured, recorded, and served again: a second client sees what the first one saw, but for the
 * declared losses.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { ndJsonStream } from '@agentclientprotocol/sdk/experimental/v2/unstable'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createRecorder, type ObservedFrame } from '../../src/acp/main.js'
import { openStore } from '../../src/main.js'
import { ClientView, type Fields, type Held } from '../acp/agent/client-view.js'
import { asClient, asked, memoryPair, START } from '../acp/agent/support.js'
import { projectRoot } from '../project/load-script.js'
import { captureOf, framesOf } from '../support/corpora.js'
import { ended, folder, start } from './helper.js'

const OUR_OWN = join(projectRoot, 'test/acp/fixtures/sdk-example-agent.jsonl')

/** What a client of the SDK is handed of updates: the frames as its parsing leaves them. */
async function asParsed(frames: readonly ObservedFrame[]): Promise<{ sessionId: string; update: Fields }[]> {
  const [client, agent] = memoryPair()
  const writer = agent.writable.getWriter()
  const reader = agent.readable.getReader()
  const initialized = reader.read().then(({ value }) => {
    const result = { protocolVersion: 2, info: { name: 'captured', version: '1' } }
    return writer.write({ jsonrpc: '2.0', id: (value as { id: number }).id, result })
  })
  return asClient(client, async ({ updates }) => {
    await initialized
    for (const { frame } of frames) await writer.write(frame as never)
    await new Promise((done) => setTimeout(done, 20))
    return updates as unknown as { sessionId: string; update: Fields }[]
  })
}

const isUpdate = ({ dir, frame }: ObservedFrame): boolean =>
  dir === 'a2c' && (frame as Fields).method === 'session/update'

/** The views of the clients that were there, by session, in the order of the frames. */
async function firstViews(frames: readonly ObservedFrame[]): Promise<Map<string, ClientView>> {
  const parsed = (await asParsed(frames.filter(isUpdate)))[Symbol.iterator]()
  const views = new Map<string, ClientView>()
  const viewOf = (sessionId: unknown): ClientView => {
    const view = views.get(String(sessionId)) ?? new ClientView()
    views.set(String(sessionId), view)
    return view
  }
  const prompts = new Map<string, Fields>()
  for (const { dir, frame, conn } of frames) {
    const { method, id, params, result } = frame as { [field: string]: Fields & string }
    if (isUpdate({ dir, frame })) {
      const { sessionId, update } = parsed.next().value as { sessionId: string; update: Fields }
      viewOf(sessionId).take(update)
    } else if (method === 'session/prompt') prompts.set(`${conn} ${id}`, params)
    else if (dir === 'a2c' && result?.messageId !== undefined) {
      const prompt = prompts.get(`${conn} ${id}`)
      viewOf(prompt?.sessionId).prompted(String(result.messageId), prompt?.prompt)
    } else if (method === 'session/request_permission') {
      const { subject } = params as { subject?: { toolCall?: Fields } }
      if (subject?.toolCall !== undefined) viewOf(params.sessionId).takeCall(subject.toolCall)
    }
  }
  return views
}

/** What the recording declares not to hold: thoughts are text alone. */
function butForLosses({ kind, id, says }: Held): Held {
  if (kind !== 'agent_thought') return { kind, id, says }
  const content = (says.content ?? []) as Fields[]
  const text = content.map((block) => block.text ?? '').join('')
  return { kind, id, says: text === '' ? {} : { content: [{ type: 'text', text }] } }
}

async function servedView(store: string, sessionId: string): Promise<ClientView> {
  const child = start(['--store', store, 'serve'])
  const output = Writable.toWeb(child.stdin as Writable) as WritableStream<Uint8Array>
  const stream = ndJsonStream(output, Readable.toWeb(child.stdout as Readable) as ReadableStream<Uint8Array>)
  const view = new ClientView()
  await asClient(stream, async ({ agent, updates }) => {
    await agent.request(asked.session.resume, { sessionId, ...START })
    for (const { update } of updates) view.take(update as unknown as Fields)
  })
  await ended(child)
  return view
}

async function holds(frames: readonly ObservedFrame[], sessions: number): Promise<void> {
  const location = folder()
  const store = await openStore(location)
  const recorder = createRecorder(store)
  for (const frame of frames) recorder.observe(frame)
  const recorded = (await recorder.stop()).sessions
  await store.close()
  assert.is(recorded.length, sessions)
  const views = await firstViews(frames)
  for (const sessionId of recorded) {
    const first = views.get(sessionId) ?? new ClientView()
    const second = await servedView(location, sessionId)
    assert.equal(second.entities, first.entities.map(butForLosses), sessionId)
    assert.equal(second.current.title, first.current.title)
    assert.equal(second.current.usage, first.current.usage)
    if (first.current.state !== undefined) assert.equal(second.current.state, first.current.state)
  }
}

const CAPTURES = { 'demo-all-kinds': 3, 'claude-agent-acp-0.98.0': 3, 'sdk-example-agent': 1 }
for (const [name, sessions] of Object.entries(CAPTURES)) {
  for (const corpus of captureOf(`${name}.alpha9`)) {
    corpus.test(`ASR-732: what a client saw of ${corpus.title} is what a client of asr serve sees`, () =>
      holds(framesOf(corpus.bytes()), sessions),
    )
  }
}

test('ASR-732: what a client saw of our own capture is what a client of asr serve sees', () =>
  holds(framesOf(readFileSync(OUR_OWN)), 1))

test.run()
