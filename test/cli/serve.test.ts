/**
 * `asr serve` as a process of its own, over stdio and over WebSocket.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { Readable, Writable } from 'node:stream'
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk/experimental/v2/unstable'
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import { asClient, asked, refused, START } from '../acp/agent/support.js'
import { ended, filledStore, folder, HEADER, holder, jsonl, outcome, run, start, text } from './helper.js'

/** A store that no test writes to. */
const STORE = await filledStore()

const INITIALIZE = { id: 0, method: 'initialize', params: { protocolVersion: 2, info: { name: 't', version: '1' } } }
const RESUME = { id: 1, method: 'session/resume', params: { sessionId: 's1', ...START } }

function frames(...given: object[]): string {
  return jsonl(given.map((frame) => ({ jsonrpc: '2.0', ...frame })))
}

function stdio(child: ChildProcess): Stream {
  const output = Writable.toWeb(child.stdin as Writable) as WritableStream<Uint8Array>
  return ndJsonStream(output, Readable.toWeb(child.stdout as Readable) as ReadableStream<Uint8Array>)
}

interface Listening {
  child: ChildProcess
  url: string
  port: number
  end: ReturnType<typeof outcome>
}

async function listening(store: string, ...options: string[]): Promise<Listening> {
  const child = start(['--store', store, 'serve', '--listen', '0', ...options])
  const end = outcome(child)
  let told = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on('data', (chunk: string) => {
      told += chunk
      const match = /listening on (ws:\S+)/.exec(told)
      if (match !== null) resolve(match[1])
    })
    end.then(({ stderr }) => reject(new Error(`it does not listen: ${stderr}`)), reject)
  })
  return { child, url, port: Number(new URL(url).port), end }
}

async function stopped({ child, end }: Listening): Promise<void> {
  child.kill('SIGTERM')
  assert.is((await end).code, 0)
}

function webSocket(url: string, headers: Record<string, string> = {}): Stream {
  return createWebSocketStream(url, { WebSocket: WebSocket as never, headers })
}

/** What comes of an attempt to connect: open, or the status it is refused with. */
async function knock(url: string, headers: Record<string, string> = {}): Promise<number | 'open'> {
  const socket = new WebSocket(url, { headers })
  return new Promise((resolve, reject) => {
    socket.on('open', () => {
      socket.terminate()
      resolve('open')
    })
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0))
    socket.on('error', reject)
  })
}

test('asr serve answers a client over stdio, and nothing else is on its stdout', async () => {
  const child = start(['--store', STORE, 'serve'])
  let stderr = ''
  child.stderr?.on('data', (text: Buffer) => {
    stderr += text
  })
  await asClient(stdio(child), async ({ agent, updates }) => {
    const { sessions } = await agent.request(asked.session.list, {})
    assert.equal(
      sessions.map(({ sessionId, title }) => [sessionId, title]),
      [['s1', 'A title']],
    )
    await agent.request(asked.session.resume, { sessionId: 's1', ...START })
    assert.equal(
      updates.map(({ update }) => update.sessionUpdate),
      [
        'user_message',
        'tool_call_update',
        'agent_message',
        'compaction_update',
        'tool_call_update',
        'session_info_update',
        'state_update',
      ],
    )
    assert.is((await refused(agent.request(asked.session.prompt, { sessionId: 's1', prompt: [] }))).code, -32600)
  })
  await ended(child)
  assert.equal([child.exitCode, stderr], [0, ''])
})

test('asr serve gives all answers to what is piped in, although the pipe has ended', async () => {
  const { code, stdout } = await run(['--store', STORE, 'serve'], { input: frames(INITIALIZE, RESUME) })
  const answers = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.is(code, 0)
  assert.equal(answers[0].result.info.name, 'asr-store')
  assert.equal([answers.at(-1).id, answers.at(-2).params.update.sessionUpdate], [1, 'state_update'])
})

test('asr serve answers what is no JSON and no request, and goes on', async () => {
  const other = { id: 5, method: '_x/y' }
  const input = `nonsense\n[]\n${frames(INITIALIZE, other)}`
  const { code, stdout } = await run(['--store', STORE, 'serve'], { input })
  const answers = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.is(code, 0)
  const told = answers.map(({ id, error, result }) => [id, error?.code ?? result.protocolVersion])
  assert.equal(told, [
    [null, -32700],
    [null, -32600],
    [0, 2],
    [5, -32601],
  ])
})

test('asr serve ends well when the client is gone, and at SIGTERM and SIGINT', async () => {
  for (const stop of [
    (child: ChildProcess) => child.stdout?.destroy(),
    (child: ChildProcess) => child.kill('SIGTERM'),
    (child: ChildProcess) => child.kill('SIGINT'),
  ]) {
    const child = start(['--store', STORE, 'serve'])
    child.stdin?.on('error', () => {})
    child.stdin?.write(frames(INITIALIZE))
    await once(child.stdout as Readable, 'data')
    stop(child)
    child.stdin?.write(frames(RESUME))
    const [code] = await once(child, 'exit')
    assert.is(code, 0)
  }
})

test('asr serve ends at SIGTERM also when a client has stopped reading', async () => {
  const messages = Array.from({ length: 100 }, (_, n) => ({
    type: 'message',
    messageId: `m${n}`,
    role: 'user',
    content: text('x'.repeat(10_000)),
  }))
  const store = await filledStore(jsonl([HEADER, ...messages]))
  const child = start(['--store', store, 'serve'])
  child.stdin?.write(frames(INITIALIZE, RESUME))
  await once(child.stdout as Readable, 'readable')
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  assert.is(code, 0)
  const server = await listening(store)
  const socket = new WebSocket(server.url)
  await once(socket, 'open')
  socket.send(frames(INITIALIZE))
  await once(socket, 'message')
  socket.pause()
  socket.send(frames(RESUME))
  await stopped(server)
  socket.terminate()
})

test('asr serve reads beside a live writer, and what is appended meanwhile is served', async () => {
  const store = await filledStore()
  const writer = await holder(store)
  const child = start(['--store', store, 'serve'])
  await asClient(stdio(child), async ({ agent, updates }) => {
    await agent.request(asked.session.resume, { sessionId: 's1', ...START })
    const before = updates.splice(0).length
    writer.stdin?.write('{"type":"message","messageId":"new","role":"user","content":[]}\n')
    await once(writer.stdout as Readable, 'data')
    await agent.request(asked.session.resume, { sessionId: 's1', ...START })
    assert.is(updates.length, before + 1)
  })
  await ended(child)
  await ended(writer)
})

test('asr serve --allow-fork and --allow-delete write; without them nothing is written', async () => {
  const store = await filledStore()
  const act = async (...options: string[]): Promise<unknown[]> => {
    const child = start(['--store', store, 'serve', ...options])
    const codes = await asClient(stdio(child), async ({ agent }) => {
      const fork = agent.request(asked.session.fork, { sessionId: 's1', cwd: '/w' })
      const code = (request: Promise<unknown>): Promise<unknown> =>
        request.then(
          () => 'done',
          (error: { code: number }) => error.code,
        )
      return [await code(fork), await code(agent.request(asked.session.delete, { sessionId: 's1' }))]
    })
    await ended(child)
    return codes
  }
  assert.equal(await act(), [-32600, -32600])
  assert.equal(await act('--allow-fork'), ['done', -32600])
  assert.equal(await act('--allow-delete'), [-32600, 'done'])
  const listed = JSON.parse((await run(['--store', store, 'ls', '--json'])).stdout)
  assert.is(listed.length, 1)
  assert.not.equal(listed[0].sessionId, 's1')
})

test('asr serve --allow-delete needs the lock; a store that is not there is not made', async () => {
  const store = await filledStore()
  const writer = await holder(store)
  assert.is((await run(['--store', store, 'serve', '--allow-delete'])).code, 3)
  await ended(writer)
  assert.is((await run(['--store', `${folder()}/none`, 'serve'])).code, 1)
})

test('asr serve --listen serves several clients over WebSocket at once', async () => {
  const server = await listening(STORE)
  assert.match(server.url, /^ws:\/\/127\.0\.0\.1:\d+\/acp$/)
  const seen = await Promise.all(
    Array.from({ length: 4 }, () =>
      asClient(webSocket(server.url), async ({ agent, updates }) => {
        await agent.request(asked.session.resume, { sessionId: 's1', ...START })
        return updates
      }),
    ),
  )
  for (const updates of seen) assert.equal(updates, seen[0])
  assert.is(seen[0].length, 7)
  await stopped(server)
})

test('asr serve --listen refuses web pages of any origin but those that are allowed, and other paths', async () => {
  const server = await listening(STORE, '--allow-origin', 'https://ok.example')
  const path = server.url
  assert.is(await knock(path), 'open')
  assert.is(await knock(path, { Origin: 'https://ok.example' }), 'open')
  for (const origin of [
    'https://evil.example',
    'null',
    '',
    `http://127.0.0.1:${server.port}`,
    'https://ok.example.evil',
  ]) {
    assert.is(await knock(path, { Origin: origin }), 403, origin)
  }
  assert.is(await knock(path.replace('/acp', '/')), 404)
  const status = await new Promise((resolve) => {
    request({ host: '127.0.0.1', port: server.port, path: '/acp' }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).end()
  })
  assert.is(status, 426)
  await stopped(server)
})

test('asr serve --listen: connections that drop or talk nonsense hurt no other', async () => {
  const server = await listening(STORE)
  const dropped = new WebSocket(server.url)
  await once(dropped, 'open')
  dropped.send(JSON.stringify({ jsonrpc: '2.0', ...INITIALIZE }))
  await once(dropped, 'message')
  dropped.send(JSON.stringify({ jsonrpc: '2.0', ...RESUME }))
  dropped.terminate()
  const rude = connect(server.port, '127.0.0.1')
  rude.on('error', () => {}).resume()
  rude.write('GET /acp HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n')
  await once(rude, 'close')
  const noise = new WebSocket(server.url)
  await once(noise, 'open')
  noise.send('no json')
  noise.send(JSON.stringify({ jsonrpc: '2.0', ...RESUME }))
  await once(noise, 'close')
  await asClient(webSocket(server.url), async ({ agent, updates }) => {
    await agent.request(asked.session.resume, { sessionId: 's1', ...START })
    assert.is(updates.length, 7)
  })
  await stopped(server)
})

test('asr serve --listen closes its connections when it is told to end', async () => {
  const server = await listening(STORE)
  const socket = new WebSocket(server.url)
  await once(socket, 'open')
  socket.send(JSON.stringify({ jsonrpc: '2.0', ...INITIALIZE }))
  await once(socket, 'message')
  const closed = once(socket, 'close')
  await stopped(server)
  await closed
})

test('asr serve --listen takes a free port of this machine; other addresses only when asked for', async () => {
  for (const address of ['0.0.0.0:0', '[::]:0', 'example.com:80']) {
    const { code, stderr } = await run(['--store', STORE, 'serve', '--listen', address])
    assert.is(code, 2, address)
    assert.match(stderr, '--allow-remote')
  }
  for (const address of ['', 'x', '65536', '127.0.0.1', '::1:0', '1:2:3', '-1']) {
    assert.is((await run(['--store', STORE, 'serve', '--listen', address])).code, 2, address)
  }
  assert.is((await run(['--store', STORE, 'serve', '--allow-remote'])).code, 2)
  assert.is((await run(['--store', STORE, 'serve', '--allow-origin', 'https://x'])).code, 2)
  const remote = await listening(STORE, '--listen', '0.0.0.0:0', '--allow-remote')
  assert.match(remote.url, /^ws:\/\/0\.0\.0\.0:\d+\/acp$/)
  const taken = await run(['--store', STORE, 'serve', '--listen', String(remote.port), '--allow-remote'])
  await stopped(remote)
  assert.is(taken.code, 1)
  assert.match(taken.stderr, 'EADDRINUSE')
})

test.run()
