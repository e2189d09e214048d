/**
 * Permissions, elicitations, and what must not be stored.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CWD, ofType, outline, recordAll, recordsFrom, recordsOf, said, Talk, talk, textBlock } from '../support.js'

const OPTIONS = [
  { optionId: 'y', name: 'Yes', kind: 'allow_once' },
  { optionId: 'n', name: 'No', kind: '_never' },
]

function asking(frames: Talk, subject?: object): number {
  const params = { sessionId: 's', title: 'May I?', description: 'D', options: OPTIONS, ...(subject && { subject }) }
  return frames.request('a2c', 'session/request_permission', params)
}

function form(frames: Talk, properties: object, fields: object = {}): number {
  const requestedSchema = { type: 'object', properties }
  return frames.request('a2c', 'elicitation/create', {
    sessionId: 's',
    mode: 'form',
    message: 'Q?',
    requestedSchema,
    ...fields,
  })
}

test('ASR-716: a permission has a derived id, its options, its subject and what was decided', async () => {
  const frames = talk()
  frames.respond('c2a', asking(frames, { type: 'command', command: 'ls' }), {
    outcome: { outcome: 'selected', optionId: 'n' },
  })
  assert.equal(said((await recordsFrom(frames))[0]), {
    type: 'permission',
    requestId: '0:0',
    idSource: 'derived',
    title: 'May I?',
    description: 'D',
    subject: { command: 'ls' },
    options: OPTIONS,
    status: 'resolved',
    decision: '_never',
    selectedOptionId: 'n',
  })
})

test('ASR-716, M12: other outcomes', async () => {
  const outcome = async (settle: (frames: Talk, id: number) => unknown) => {
    const frames = talk()
    settle(frames, asking(frames))
    const { status, decision, selectedOptionId, native } = (await recordsFrom(frames))[0]
    return [status, decision, selectedOptionId, native.record]
  }
  const answer = (given: object) => outcome((frames, id) => frames.respond('c2a', id, { outcome: given }))
  assert.equal(await answer({ outcome: 'cancelled' }), ['resolved', 'cancelled', undefined, undefined])
  assert.equal(await answer({ outcome: 'selected', optionId: '?' }), ['resolved', undefined, '?', undefined])
  assert.equal(await answer({ outcome: '_later' }), [
    'resolved',
    undefined,
    undefined,
    { outcome: { outcome: '_later' } },
  ])
  assert.equal(await outcome((frames, id) => frames.refuse('c2a', id, -32800)), [
    'unresolved',
    undefined,
    undefined,
    { error: { code: -32800, message: 'no' } },
  ])
  assert.equal(await outcome(() => undefined), ['unresolved', undefined, undefined, undefined])
})

test('M12: what a subject says beyond its place is kept', async () => {
  const subject = { type: 'command', command: 'ls', cwd: '/x', toolCallId: 't' }
  const frames = talk()
  asking(frames, subject)
  asking(frames, { type: '_odd', x: 1 })
  const [command, odd] = await recordsFrom(frames)
  assert.equal([command.subject, command.native.record], [{ command: 'ls' }, { subject }])
  assert.equal([odd.subject, odd.native.record], [undefined, { subject: { type: '_odd', x: 1 } }])
})

test("M3: the call in a permission's subject is folded like an update, so its diff is not lost", async () => {
  const content = [{ type: 'diff', changes: [{ operation: 'add', path: `${CWD}/new.ts` }] }]
  const frames = talk().call('t', { title: 'Edit' })
  const id = asking(frames, { type: 'tool_call', toolCall: { toolCallId: 't', kind: 'edit', content } })
  frames.state('requires_action').respond('c2a', id, { outcome: { outcome: 'selected', optionId: 'y' } })
  const records = await recordsFrom(frames.call('t', { status: 'completed' }))
  assert.equal(outline(records), [
    'tool_call t',
    'tool_result t partial',
    'file_change t proposed',
    'permission 0:0 partial',
    'state requires_action',
    '~permission 0:0 resolved',
    '~tool_result t completed',
    '~file_change t applied',
  ])
  assert.equal(records[3].subject, { callId: 't' })
  assert.equal([records[0].title, records[0].kind], ['Edit', 'edit'])
})

test('ASR-716: connections are numbered from 0 in the order in which they see the session', async () => {
  const frames = talk()
  asking(frames)
  frames
    .on('other')
    .initialize()
    .resume(() => {})
  asking(frames)
  asking(frames)
  const permissions = ofType(await recordsFrom(frames), 'permission')
  assert.equal(
    permissions.filter(({ supersedes }) => supersedes === undefined).map(({ requestId }) => requestId),
    ['0:0', '1:0', '1:1'],
  )
})

test('ASR-716: a recorder that goes on counts on from the highest number of the stream', async () => {
  const first = talk()
  first.respond('c2a', asking(first), { outcome: { outcome: 'cancelled' } })
  const { store, location } = await recordAll(first.frames)
  await store.close()
  const second = new Talk('again').initialize().resume(() => {})
  asking(second)
  const again = await recordAll(second.frames, {}, location)
  const permissions = ofType(await recordsOf(await again.store.stream('s')), 'permission')
  assert.equal(
    permissions.map(({ requestId }) => requestId),
    ['0:0', '1:0'],
  )
})

test('M21: requests that share an id are two entities, and the ids of both sides are apart', async () => {
  const frames = talk()
  const send = (id: number) =>
    frames.raw('a2c', {
      jsonrpc: '2.0',
      id,
      method: 'session/request_permission',
      params: { sessionId: 's', title: `${id}`, options: [] },
    })
  send(1).respond('c2a', 1, { outcome: { outcome: 'cancelled' } })
  send(1)
    .respond('a2c', 1, { messageId: 'none asked' })
    .respond('c2a', 1, { outcome: { outcome: 'selected', optionId: 'q' } })
  const { store } = await recordAll(frames.frames)
  const stream = await store.stream('s')
  assert.equal(outline(await recordsOf(stream)), ['permission 0:1 resolved', 'permission 0:1 resolved'])
  assert.is((await stream.entity('permission', '0:1')).length, 2)
})

test('ASR-734, ASR-702: elicitations and their answers', async () => {
  const frames = talk()
  frames.respond('c2a', form(frames, { branch: { type: 'string' } }, { toolCallId: 't' }), {
    action: 'accept',
    content: { branch: 'main' },
  })
  frames.respond('c2a', form(frames, {}), { action: 'decline' })
  frames.respond('c2a', form(frames, {}), { action: 'cancel' })
  const url = { sessionId: 's', mode: 'url', elicitationId: 'el', url: 'https://x/login', message: 'Sign in' }
  frames.respond('c2a', frames.request('a2c', 'elicitation/create', url), {
    action: 'accept',
    content: { code: 'secret' },
  })
  frames.notify('a2c', 'elicitation/complete', { elicitationId: 'el' })
  const records = await recordsFrom(frames)
  assert.equal(outline(records), [
    'input_request 0:0 answered',
    'input_request 0:1 declined',
    'input_request 0:2 cancelled',
    'input_request el answered',
    'org.agent-session.acp/elicitation_complete',
  ])
  assert.equal(said(records[0]), {
    type: 'input_request',
    requestId: '0:0',
    idSource: 'derived',
    callId: 't',
    mode: 'form',
    message: 'Q?',
    requestedSchema: { type: 'object', properties: { branch: { type: 'string' } } },
    status: 'answered',
    response: { branch: 'main' },
  })
  assert.equal([records[3].url, records[3].response], ['https://x/login', undefined])
  assert.equal(records[4].native.record.params, { elicitationId: 'el' })
})

test('ASR-705: an answered elicitation is written at once, one without an answer at the end as unresolved', async () => {
  const frames = talk()
  const id = form(frames, {})
  frames.state('requires_action').respond('c2a', id, { action: 'accept' })
  form(frames, {})
  assert.equal(outline(await recordsFrom(frames.close())), [
    'input_request 0:0 partial',
    'state requires_action',
    '~input_request 0:0 answered',
    'input_request 0:1 unresolved',
    'state ended',
  ])
})

test('ASR-734: an elicitation of no session is not recorded', async () => {
  const frames = talk()
  frames.respond('c2a', frames.request('a2c', 'elicitation/create', { requestId: 0, mode: 'form', message: 'Q' }), {
    action: 'accept',
  })
  assert.equal(await recordsFrom(frames), [])
})

const SECRET = 'hunter2-do-not-store'

function secretive(): Talk {
  const server = { type: 'stdio', name: 'tools', command: SECRET, args: [SECRET], env: [{ name: 'K', value: SECRET }] }
  const http = { type: 'http', name: 'web', url: `https://${SECRET}`, headers: [{ name: 'A', value: SECRET }] }
  const mcpServers = [server, http]
  const frames = new Talk().initialize().newSession('s', { mcpServers })
  frames.resume(() => {}, 's', {}, { mcpServers }).fork('f', 's', { mcpServers })
  const properties = {
    name: { type: 'string' },
    pw: { type: 'string', format: 'password' },
    once: { type: 'string', writeOnly: true },
    token: { type: 'string' },
    inner: { type: 'object', properties: { deep: { type: 'string', format: 'password' } } },
  }
  const content = { name: 'ann', pw: SECRET, once: SECRET, token: SECRET, inner: { deep: SECRET, open: 1 } }
  frames.respond('c2a', form(frames, properties), { action: 'accept', content })
  frames.request('c2a', 'auth/login', { methodId: 'key', _meta: { key: SECRET } })
  frames.request('c2a', 'providers/set', {
    providerId: 'p',
    apiType: 'x',
    baseUrl: `https://${SECRET}`,
    headers: { A: SECRET },
  })
  frames.request('c2a', '_own/setup', {
    sessionId: 's',
    list: [{ headers: { A: SECRET } }],
    mcpServers: { x: { env: SECRET } },
  })
  frames.update({ sessionUpdate: '_servers', mcpServers })
  frames.raw('c2a', undefined, `{"method":"session/new","params":{"mcpServers":[{"args":["${SECRET}"]}`)
  frames.raw('c2a', { params: { mcpServers } })
  frames.respond('c2a', 99, { action: 'accept', content: { pw: SECRET } })
  return frames.say('m', 'kept words')
}

async function everyByte(
  location: Awaited<ReturnType<typeof recordAll>>['location'],
): Promise<{ text: string; files: string[] }> {
  let text = ''
  const files: string[] = []
  for (const folder of ['', 'streams', 'native', 'index']) {
    for (const { name, size } of location.log.list(folder)) {
      files.push(name)
      text += Buffer.from(location.log.read(name, 0, size)).toString('latin1')
    }
  }
  return { text, files }
}

test('ASR-712, ASR-734, ASR-283: no MCP configuration, secret answer or header reaches the store or the native files', async () => {
  const { location, store } = await recordAll(secretive().frames, { secretFields: ['token'] })
  const { text, files } = await everyByte(location)
  assert.is(files.filter((name) => name.startsWith('native/')).length, 3)
  assert.ok(text.includes('kept words'))
  assert.not.ok(text.includes(SECRET))
  const [request] = ofType(await recordsOf(await store.stream('s')), 'input_request')
  assert.equal(request.response, { name: 'ann', inner: { open: 1 } })
  assert.equal(request.capture, { response: { state: 'redacted' } })
  const lines = text.split('\n').filter((line) => line.includes('"method":"session/new"') && line.startsWith('{"at"'))
  assert.equal(JSON.parse(lines[0]).frame.params.mcpServers, [
    { type: 'stdio', name: 'tools' },
    { type: 'http', name: 'web' },
  ])
})

test('ASR-712: the words of the conversation are not touched, and verbatim keeps the frames as they were', async () => {
  const { location, store } = await recordAll(secretive().frames, { keepWire: 'verbatim', secretFields: ['token'] })
  const { text } = await everyByte(location)
  assert.ok(text.includes(SECRET))
  for (const record of await recordsOf(await store.stream('s'))) assert.not.match(JSON.stringify(record), SECRET)
  const input = { url: 'https://x', headers: { Accept: 'text/html' } }
  assert.equal((await recordsFrom(talk().call('t', { rawInput: input })))[0].input, input)
  assert.equal((await recordsFrom(talk().say('m', 'mcpServers headers')))[0].content, [textBlock('mcpServers headers')])
})

test.run()
