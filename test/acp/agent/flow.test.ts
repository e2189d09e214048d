/**
 * A replay goes as fast as the client takes it, and ends with what the client ends.
 */
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk/experimental/v2/unstable'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createReplayAgent } from '../../../src/acp/agent/agent.js'
import type { ReplayConnection } from '../../../src/acp/agent/api.js'
import type { Store } from '../../../src/main.js'
import { message } from '../../support/records.js'
import { streamOf } from '../../support/stores.js'
import { asked, START, withClient } from './support.js'

const RECORDS = 300

interface Frame {
  id?: number
  result?: unknown
  error?: { code: number }
}

interface Waiting {
  frame: Frame
  done: (error?: Error) => void
}

/** The client's end, taken by hand: each frame is taken when it is asked for. */
class SlowClient {
  readonly connection: ReplayConnection
  /** frames that the agent has begun to write */
  written = 0
  private readonly requests: WritableStreamDefaultWriter<AnyMessage>
  private readonly waiting: Waiting[] = []
  private wake: () => void = () => {}

  constructor(store: Store) {
    const there = new TransformStream<AnyMessage, AnyMessage>()
    this.requests = there.writable.getWriter()
    const writable = new WritableStream<AnyMessage>({
      write: (frame) => {
        this.written++
        return new Promise<void>((resolve, reject) => {
          this.waiting.push({ frame: frame as unknown as Frame, done: (error) => (error ? reject(error) : resolve()) })
          this.wake()
        })
      },
    })
    this.connection = createReplayAgent(store).connect({ readable: there.readable, writable } as Stream)
  }

  async send(frame: object): Promise<void> {
    await this.requests.write({ jsonrpc: '2.0', ...frame } as AnyMessage)
  }

  /** Once a frame waits to be taken. */
  async held(): Promise<void> {
    while (this.waiting.length === 0) {
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  async take(count = 1): Promise<Frame[]> {
    const frames: Frame[] = []
    while (frames.length < count) {
      await this.held()
      const { frame, done } = this.waiting.shift() as Waiting
      frames.push(frame)
      done()
    }
    return frames
  }

  /** All frames up to the answers of these requests, which may come in any order. */
  async takeAnswers(...ids: number[]): Promise<Map<number, Frame>> {
    const answers = new Map<number, Frame>()
    while (ids.some((id) => !answers.has(id))) {
      const [frame] = await this.take()
      if (frame.id !== undefined) answers.set(frame.id, frame)
    }
    return answers
  }

  fail(): void {
    this.waiting.shift()?.done(new Error('gone'))
  }

  end(): Promise<void> {
    return this.requests.close()
  }
}

async function resuming(): Promise<{ client: SlowClient; store: Store }> {
  const { store } = await streamOf()
  const stream = await store.stream('s')
  await stream.append(Array.from({ length: RECORDS }, (_, n) => message(`m${n}`, { messageId: `m${n}` })))
  const client = new SlowClient(store)
  const info = { name: 'slow', version: '1' }
  await client.send({ id: 1, method: asked.initialize, params: { protocolVersion: 2, info } })
  await client.take()
  await client.send({ id: 2, method: asked.session.resume, params: { sessionId: 's', ...START } })
  return { client, store }
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))

/** A new client gets all of it. */
async function checkWhole(store: Store): Promise<void> {
  await withClient(store, async ({ agent, updates }) => {
    await agent.request(asked.session.resume, { sessionId: 's', ...START })
    assert.is(updates.length, RECORDS + 1)
  })
}

test('backpressure: the agent writes one update and waits until it is taken', async () => {
  const { client } = await resuming()
  await client.take(5)
  await client.held()
  await settle()
  assert.is(client.written, 1 + 5 + 1)
  const rest = await client.take(RECORDS + 2 - 5)
  assert.equal(rest.at(-1), { jsonrpc: '2.0', id: 2, result: {} })
  client.connection.close()
  await client.connection.closed
})

test('a client that is gone in the middle of a replay ends it, and hurts nobody else', async () => {
  for (const leave of [(client: SlowClient) => client.fail(), (client: SlowClient) => client.end()]) {
    const { client, store } = await resuming()
    await client.take(5)
    await client.held()
    await leave(client)
    await client.connection.closed
    const { written } = client
    await settle()
    assert.is(client.written, written)
    await checkWhole(store)
  }
})

test('session/close ends a replay of the session: the resume is answered as cancelled', async () => {
  const { client, store } = await resuming()
  await client.take(5)
  await client.send({ id: 3, method: asked.session.close, params: { sessionId: 's' } })
  const answers = await client.takeAnswers(2, 3)
  assert.equal([answers.get(2)?.error?.code, answers.get(3)?.result], [-32800, {}])
  assert.ok(client.written < RECORDS)
  client.connection.close()
  await checkWhole(store)
})

test('$/cancel_request ends a replay', async () => {
  const { client } = await resuming()
  await client.take(5)
  await client.send({ method: '$/cancel_request', params: { requestId: 2 } })
  const answers = await client.takeAnswers(2)
  assert.is(answers.get(2)?.error?.code, -32800)
  assert.ok(client.written < RECORDS)
  client.connection.close()
})

test('ASR-725: of requests for one session at once, each has its replay to itself, and its answer right behind it', async () => {
  const { client } = await resuming()
  for (const id of [3, 4, 5]) {
    const replayFrom = id === 4 ? {} : START
    await client.send({ id, method: asked.session.resume, params: { sessionId: 's', cwd: '/w', ...replayFrom } })
  }
  const told = new Map<number, number>()
  let updates = 0
  while (told.size < 4) {
    const [{ id }] = await client.take()
    if (id === undefined) updates++
    else {
      told.set(id, updates)
      updates = 0
    }
  }
  // The SDK hands on what it is asked in the order in which it has read it, a short question first.
  const whole = RECORDS + 1
  assert.equal(Object.fromEntries(told), { 2: whole, 3: whole, 4: 1, 5: whole })
  client.connection.close()
  await client.connection.closed
})

test('session/close ends the replays that wait, too; what is asked behind it is told', async () => {
  const { client } = await resuming()
  await client.send({ id: 3, method: asked.session.resume, params: { sessionId: 's', ...START } })
  await client.take(5)
  await client.send({ id: 4, method: asked.session.close, params: { sessionId: 's' } })
  await client.send({ id: 5, method: asked.session.resume, params: { sessionId: 's', ...START } })
  const answers = await client.takeAnswers(2, 3, 4, 5)
  assert.equal([answers.get(2)?.error?.code, answers.get(3)?.error?.code], [-32800, -32800])
  assert.equal([answers.get(4)?.result, answers.get(5)?.result], [{}, {}])
  client.connection.close()
  await client.connection.closed
})

test('a connection that is closed before the SDK is there is closed', async () => {
  const { store } = await streamOf()
  const client = new SlowClient(store)
  client.connection.close()
  await client.connection.closed
  assert.is(client.written, 0)
})

test.run()
