/**
 * A client and an agent of the SDK, with a recorder between them and without one: in memory, over stdio, over WebSocket.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from '@agentclientprotocol/sdk/experimental/node'
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server'
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk/experimental/v2/unstable'
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket, WebSocketServer } from 'ws'
import { recordingStream } from '../../src/acp/main.js'
import { openStore, type Store } from '../../src/main.js'
import { tempFolder } from '../support/temp.js'
import { scriptedAgent, scriptedClient, scriptedUpdates } from './sdk-peers.js'
import { ofType, recordsOf, startRecording } from './support.js'

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const CHILD = fileURLToPath(new URL('./sdk-agent-child.js', import.meta.url))

function memoryPair(): [Stream, Stream] {
  const there = new TransformStream()
  const back = new TransformStream()
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ]
}

async function plainly(): Promise<unknown[]> {
  const [client, agent] = memoryPair()
  scriptedAgent().connect(agent)
  return scriptedClient(client)
}

function childStream(child: ChildProcess): Stream {
  const output = Writable.toWeb(child.stdin as Writable) as WritableStream<Uint8Array>
  return ndJsonStream(output, Readable.toWeb(child.stdout as Readable) as ReadableStream<Uint8Array>)
}

/** What the session must hold whichever way it came. */
async function checkRecorded(store: Store): Promise<void> {
  const records = await recordsOf(await store.stream('s'))
  const types = new Set(records.map(({ type }) => type))
  for (const type of ['message', 'tool_call', 'tool_result', 'file_change', 'plan', 'terminal', 'compaction']) {
    assert.ok(types.has(type), `no ${type}`)
  }
  for (const type of ['state', 'usage_summary', 'session_info', 'config_change', 'subagent'])
    assert.ok(types.has(type), type)
  assert.is(records.find(({ messageId }) => messageId === 'prompt-1')?.origin, 'prompt')
  assert.is(ofType(records, 'permission').at(-1)?.decision, 'allow_once')
  assert.equal(ofType(records, 'input_request').at(-1)?.response, { a: 'b' })
  assert.is(records.at(-1)?.state, 'ended')
}

test('recordingStream: client and agent in memory see what they see without it, and it is recorded', async () => {
  const expected = await plainly()
  assert.ok(expected.length > scriptedUpdates().length)
  for (const side of ['client', 'agent'] as const) {
    const { recorder, store, problems } = await startRecording()
    const [client, agent] = memoryPair()
    const tap = (stream: Stream, at: typeof side): Stream =>
      at === side ? recordingStream(stream, recorder, { side }) : stream
    scriptedAgent().connect(tap(agent, 'agent'))
    assert.equal(await scriptedClient(tap(client, 'client')), expected)
    await recorder.stop()
    assert.equal(problems, [])
    await checkRecorded(store)
  }
})

test('asr record: client and agent over stdio see what they see without it, and it is recorded', async () => {
  const direct = spawn(process.execPath, [CHILD], { stdio: ['pipe', 'pipe', 'inherit'] })
  const expected = await scriptedClient(childStream(direct))
  direct.stdin?.end()
  const folder = tempFolder()
  const args = [MAIN, '--store', folder, 'record', '--', process.execPath, CHILD]
  const proxied = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  let stderr = ''
  proxied.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  assert.equal(await scriptedClient(childStream(proxied)), expected)
  proxied.stdin?.end()
  const code = await new Promise((resolve) => proxied.once('close', resolve))
  assert.is(code, 0)
  assert.match(stderr, /^asr: recorded \d+ records of 1 session from \d+ frames\n$/)
  const store = await openStore(folder, { readOnly: true })
  await checkRecorded(store)
  await store.close()
})

/** An agent behind a WebSocket, each accepted connection recorded. */
async function listening(
  connect: (stream: Stream) => unknown,
): Promise<{ url: string; http: Server; close(): Promise<void> }> {
  const acp = new AcpServer({ agent: { connect: (stream) => connect(stream as Stream) } })
  const sockets = new WebSocketServer({ noServer: true })
  const http = createServer(createNodeHttpHandler(acp))
  http.on('upgrade', createNodeWebSocketUpgradeHandler(acp, sockets))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/acp`
  const close = async (): Promise<void> => {
    await acp.close()
    sockets.close()
    http.closeAllConnections()
    http.close()
  }
  return { url, http, close }
}

test('recordingStream: as an AgentConnector over WebSocket, behind it an agent', async () => {
  const { recorder, store, problems } = await startRecording()
  const expected = await plainly()
  const server = await listening((stream) =>
    scriptedAgent().connect(recordingStream(stream, recorder, { side: 'agent' })),
  )
  const headers = { Authorization: 'Bearer do-not-store' }
  const stream = createWebSocketStream(server.url, { WebSocket: WebSocket as never, headers })
  assert.equal(await scriptedClient(stream), expected)
  await server.close()
  await recorder.stop()
  assert.equal(problems, [])
  await checkRecorded(store)
})

test.run()
