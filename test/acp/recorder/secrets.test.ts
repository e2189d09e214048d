import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { messagesIn } from '../../../src/acp/frames.js'
import type { KeepWire, ObservedFrame } from '../../../src/acp/main.js'
import type { MemoryLocation } from '../../support/stores.js'
import { UPDATE_KINDS, updateArbitrary } from '../generator.js'
import { CWD, ofType, recordAll, recordsOf, Talk, talk, textBlock } from '../support.js'

const SECRET = 'hunter2'

const SERVERS = [
  { type: 'stdio', name: 'tools', command: SECRET, args: [SECRET], env: [{ name: 'T', value: SECRET }] },
  { type: 'http', name: 'web', url: `https://${SECRET}`, headers: [{ name: 'Authorization', value: SECRET }] },
]

const HIDING = fc.constantFrom(
  { mcpServers: SERVERS },
  { options: { mcpServers: { tools: SERVERS[0] }, env: { T: SECRET } } },
  { mcp_servers: SERVERS, Headers: { Authorization: SECRET } },
  { http_headers: { Authorization: SECRET } },
)

/** The value with configuration in the `_meta` of each object, and beside its fields where `beside` says so. */
function hiding(value: unknown, secret: object, beside: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => hiding(item, secret, beside))
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([key, given]) => {
    return [key, key.startsWith('raw') || key === '_meta' ? given : hiding(given, secret, beside)]
  })
  return { ...Object.fromEntries(fields), ...(beside && secret), _meta: { vendor: secret } }
}

async function everything(location: MemoryLocation): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for (const folder of ['streams', 'native']) {
    for (const { name } of await location.log.list(folder)) {
      const file = name.startsWith(folder) ? name : `${folder}/${name}`
      text += decoder.decode(await location.log.read(file, 0, (await location.log.size(file)) ?? 0))
    }
  }
  return text
}

async function demandNone(
  frames: readonly ObservedFrame[],
  secretFields: string[] = [],
  keepWire?: KeepWire,
): Promise<string> {
  const { location } = await recordAll(frames, { secretFields, keepWire })
  const text = await everything(location)
  const at = text.indexOf(SECRET)
  assert.is(at, -1, text.slice(Math.max(0, at - 200), at + 50))
  return text
}

test('ASR-712: MCP configuration in any update of the schema, at any depth, alone or in a batch, is not stored', async () => {
  for (const kind of UPDATE_KINDS) {
    const property = fc.asyncProperty(updateArbitrary(kind), HIDING, fc.boolean(), async (update, secret, beside) => {
      const told = talk().update(
        hiding(update, secret, beside) as typeof update & { sessionUpdate: string },
        's',
        secret,
      )
      const [first, ...rest] = told.frames.slice(-1)
      const batch = { ...first, frame: messagesIn([first.frame]) }
      await demandNone([...told.frames.slice(0, -1), batch, ...rest, ...told.state('idle').frames.slice(-1)])
    })
    await fc.assert(property, { numRuns: 12, seed: 7 })
  }
})

test('ASR-712: requests, answers and errors that tell of MCP configuration are kept without it', async () => {
  for (const method of ['session/new', 'session/resume', 'session/fork']) {
    const told = talk()
    const params = { sessionId: 's', cwd: CWD, mcpServers: SERVERS, _meta: { vendor: { mcpServers: SERVERS } } }
    const failed = told.request('c2a', method, params)
    const error = { code: -32602, message: `can not start ${SECRET}`, data: SERVERS }
    told.raw('a2c', { jsonrpc: '2.0', id: failed, error })
    const plain = told.request('c2a', method, params)
    told.raw('a2c', { jsonrpc: '2.0', id: plain, error: { ...error, message: 'no such folder' } })
    const done = told.request('c2a', method, params)
    told.respond('a2c', done, { sessionId: 'other', mcpServers: SERVERS, _meta: { mcpServers: SERVERS } })
    const text = await demandNone(told.frames)
    if (method === 'session/new') {
      // Of a session that there never was, not even what it was refused for.
      assert.match(text, /"method":"session\/new","bytes":\{"error":\d+\}/)
    } else {
      assert.match(text, '"error":{"code":-32602}')
      assert.match(text, '"error":{"code":-32602,"message":"no such folder"}')
    }
    assert.match(text, '"mcpServers":[{"type":"stdio","name":"tools"},{"type":"http","name":"web"}]')
  }
})

test('ASR-712: permissions and notifications tell no MCP configuration, the input of a tool is kept', async () => {
  const secret = { mcpServers: SERVERS }
  const told = talk()
  const toolCall = { toolCallId: 't', rawInput: { env: 'prod' }, _meta: secret }
  const options = [{ optionId: 'y', name: 'Yes', kind: 'allow_once', _meta: secret }]
  const subject = { type: 'tool_call', toolCall }
  told.respond(
    'c2a',
    told.request('a2c', 'session/request_permission', { sessionId: 's', options, subject, _meta: secret }),
    {
      outcome: { outcome: '_odd', ...secret },
    },
  )
  const refused = told.request('a2c', 'session/request_permission', {
    sessionId: 's',
    options,
    subject: { type: '_x', ...secret },
  })
  told.raw('c2a', { jsonrpc: '2.0', id: refused, error: { code: 1, message: 'no', data: secret } })
  told.notify('c2a', '_x/servers', { sessionId: 's', ...secret }).notify('a2c', '_x/servers', secret)
  const prompt = told.request('c2a', 'session/prompt', { sessionId: 's', prompt: [textBlock('go')], _meta: secret })
  told.respond('a2c', prompt, { messageId: 'p', _meta: secret }).state('idle')
  await demandNone(told.frames)
  const records = await recordsOf(await (await recordAll(told.frames)).store.stream('s'))
  assert.equal(ofType(records, 'tool_call')[0].input, { env: 'prod' })
  assert.equal(ofType(records, 'permission')[1].native.record.error, {
    code: 1,
    message: 'no',
    data: {
      mcpServers: [
        { type: 'stdio', name: 'tools' },
        { type: 'http', name: 'web' },
      ],
    },
  })
})

test('ASR-283, ASR-734: no secret answer is stored, whatever it comes in', async () => {
  const properties = {
    word: { type: 'string', format: 'password' },
    words: { type: 'array', items: { type: 'string', format: 'password' } },
    either: { anyOf: [{ type: 'string', writeOnly: true }, { type: 'null' }] },
    env: { type: 'string' },
    token: { type: 'string' },
  }
  const params = { sessionId: 's', mode: 'form', message: 'Q', requestedSchema: { type: 'object', properties } }
  const content = { word: SECRET, words: [SECRET], either: SECRET, token: SECRET, env: 'prod' }
  const told = talk()
  const ask = (): number => told.request('a2c', 'elicitation/create', params)
  told.respond('c2a', ask(), { action: 'accept', content })
  told.respond('c2a', ask(), { action: 'accept', content: SECRET }).respond('c2a', ask(), { action: '_odd', content })
  told.respond('c2a', ask(), { action: 'decline', content }).respond('c2a', 'never asked', { result: { content } })
  told.raw('c2a', { jsonrpc: '2.0', id: ask(), error: { code: 1, message: 'bad', data: { content } } })
  told.raw('c2a', [{ jsonrpc: '2.0', id: ask(), result: { action: 'accept', content } }])
  told.raw('c2a', [[{ jsonrpc: '2.0', id: ask(), result: { action: 'accept', content } }]])
  told.raw('c2a', { jsonrpc: '2.0', id: {}, result: { action: 'accept', content } })
  told.raw('c2a', undefined, `{"jsonrpc":"2.0","id":9,"result":{"action":"accept","content":{"word":"${SECRET}`)
  await demandNone(told.frames, ['token'])
  const { store, summary } = await recordAll(told.frames, { secretFields: ['token'] })
  const [first, ...others] = ofType(await recordsOf(await store.stream('s')), 'input_request')
  assert.equal(first.response, { env: 'prod' })
  assert.equal(first.capture, { response: { state: 'redacted' } })
  assert.equal(first.requestedSchema.properties, properties)
  assert.equal(others[4].response, { env: 'prod' })
  assert.is(summary.notJsonRpc, 3)
})

/** Each way in which something of ASP can pass: asked, answered, told, in a batch, to a session, and not as it should be. */
function stateTalk(sessionId: string | undefined, version: number): ObservedFrame[] {
  const state = { sessions: [{ id: 'a', updates: [SECRET, textBlock(SECRET)] }], tools: [{ env: { T: SECRET } }] }
  const params = { ...(sessionId !== undefined && { sessionId }), state }
  const told = new Talk().initialize(undefined, version).newSession()
  told.respond('a2c', told.request('c2a', '_asp/state/export', params), { state })
  told.respond('c2a', told.request('a2c', '_asp/state/import', params), { state, content: SECRET })
  const failed = told.request('c2a', '_asp/state/import', params)
  told.raw('a2c', { jsonrpc: '2.0', id: failed, error: { code: 1, message: SECRET, data: state } })
  told.notify('a2c', '_asp/state/changed', params)
  const batched = { jsonrpc: '2.0', id: 'b', method: '_asp/state/export', params }
  told.raw('c2a', [batched, { ...batched, id: 'c' }])
  told.raw('a2c', [{ jsonrpc: '2.0', id: 'b', result: { state } }])
  told.raw('a2c', { jsonrpc: '2.0', id: 'c', result: { state } }, JSON.stringify({ id: 'c', result: { state } }))
  told.raw('c2a', { ...batched, id: {} }).raw('c2a', [[batched]])
  return told.raw('c2a', undefined, JSON.stringify(batched).slice(0, -1)).state('idle').frames
}

test('ASR-723: of a message of ASP only its method, its id and its sizes are kept', async () => {
  for (const keepWire of ['redacted', 'verbatim'] as const) {
    for (const version of [2, 1]) {
      for (const sessionId of [undefined, 's', 'elsewhere']) {
        const text = await demandNone(stateTalk(sessionId, version), [], keepWire)
        // Of a session that nothing is recorded of, no frames are kept.
        if (sessionId === 'elsewhere' && version === 2) continue
        // Nor of a connection that is not recorded, unless all are.
        if (version === 1 && keepWire !== 'verbatim') {
          assert.not.match(text, '_asp')
          continue
        }
        assert.match(text, /"frame":\{"id":2,"method":"_asp\/state\/export","bytes":\{"params":\d+\}\}/)
        assert.match(text, /"frame":\{"id":2,"method":"_asp\/state\/export","bytes":\{"result":\d+\}\}/)
        assert.match(text, /"frame":\{"method":"_asp\/state\/changed","bytes":\{"params":\d+\}\}/)
      }
    }
  }
})

test('ASR-723: of an answer to what was asked before the recorder came, only its size is kept', async () => {
  const frames = talk().respond('a2c', 99, { state: SECRET, env: SECRET }).frames
  assert.match(await demandNone(frames), /"frame":\{"id":99,"bytes":\{"result":\d+\}\}/)
})

test('ASR-723: of what is no JSON-RPC only its length is kept, unless all is', async () => {
  const frames = new Talk().raw('a2c', undefined, `Agent 1.2 said ${SECRET}`).raw('a2c', { hello: [SECRET] }).frames
  assert.match(await demandNone(frames), /"dir":"a2c","length":22\}\n.*"dir":"a2c","length":21\}\n/)
  const { location } = await recordAll(frames, { keepWire: 'verbatim' })
  const text = await everything(location)
  assert.match(text, `"text":"Agent 1.2 said ${SECRET}"`)
  assert.match(text, `"frame":{"hello":["${SECRET}"]}`)
})

test.run()
