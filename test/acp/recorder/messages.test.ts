/**
 * Messages, prompts, thoughts, notices, plans, terminals, and what is a record an update.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AsrRecord, StoredRecord, Stream } from '../../../src/main.js'
import {
  CWD,
  ofType,
  outline,
  recordAll,
  recordsFrom,
  recordsOf,
  said,
  Talk,
  talk,
  textBlock,
  type Update,
  words,
} from '../support.js'

test('ASR-713: a prompt is a user message with the id of its response, and its echo is the same entity', async () => {
  const echo = { sessionUpdate: 'user_message', messageId: 'u1', content: [textBlock('hello')] }
  const asked = (): [Talk, number] => {
    const frames = talk()
    return [frames, frames.request('c2a', 'session/prompt', { sessionId: 's', prompt: [textBlock('hello')] })]
  }
  const expected = {
    type: 'message',
    messageId: 'u1',
    role: 'user',
    origin: 'prompt',
    content: [textBlock('hello')],
    assembly: 'folded',
  }
  const [before, first] = asked()
  const [after, second] = asked()
  const [silent, third] = asked()
  before.update(echo).respond('a2c', first, { messageId: 'u1' }).state('idle')
  after.respond('a2c', second, { messageId: 'u1' }).update(echo).state('idle')
  silent.respond('a2c', third, { messageId: 'u1' }).state('idle')
  for (const frames of [before, after, silent]) {
    const records = await recordsFrom(frames)
    assert.equal(outline(records), ['message u1', 'state idle'])
    assert.equal(said(records[0]), expected)
  }
})

test('ASR-713: the author is human only where the client is known to relay a person', async () => {
  const [plain] = await recordsFrom(talk().prompt('u', 'x'))
  const [person] = await recordsFrom(talk().prompt('u', 'x'), { clientIsPerson: true })
  assert.is(plain.author, undefined)
  assert.is(person.author, 'human')
})

test('ASR-708, ASR-713: the _meta of a prompt is on its message, behind it what the agent told of it, secrets out', async () => {
  const servers = [{ type: 'stdio', name: 'tools', command: 'x', env: [{ name: 'T', value: 'y' }] }]
  const _meta = {
    asp: { interrupts: 'u0' },
    a: 1,
    b: 1,
    gone: null,
    traceparent: '00-1',
    vendor: { mcpServers: servers },
  }
  const echo: Update = { sessionUpdate: 'user_message', messageId: 'u', _meta: { b: 2, c: 3 } }
  for (const order of ['before', 'behind', 'later', 'never']) {
    const frames = talk()
    const id = frames.request('c2a', 'session/prompt', { sessionId: 's', prompt: [textBlock('hello')], _meta })
    if (order === 'before') frames.update(echo)
    frames.respond('a2c', id, { messageId: 'u' })
    if (order === 'later') frames.state('idle')
    if (order === 'behind' || order === 'later') frames.update(echo)
    const message = ofType(await recordsFrom(frames.state('idle')), 'message').at(-1)
    const told = order === 'never' ? {} : { b: 2, c: 3 }
    const vendor = { mcpServers: [{ type: 'stdio', name: 'tools' }] }
    assert.equal(message?._meta, { asp: { interrupts: 'u0' }, a: 1, b: 1, traceparent: '00-1', vendor, ...told }, order)
  }
})

test('ASR-713: an echo in chunks is not added to the prompt', async () => {
  const frames = talk().prompt('u', 'hello')
  frames.update({ sessionUpdate: 'user_message_chunk', messageId: 'u', content: textBlock('hello') })
  assert.is(words((await recordsFrom(frames))[0]), 'hello')
})

test('a prompt that was refused is no record', async () => {
  const frames = talk()
  frames.refuse('a2c', frames.request('c2a', 'session/prompt', { sessionId: 's', prompt: [textBlock('x')] }), -32800)
  assert.equal(outline(await recordsFrom(frames.state('idle'))), ['state idle'])
})

test('M1, M25: one id in three spaces is three messages, none of which mixes thought and text', async () => {
  const user = { sessionUpdate: 'user_message', messageId: 'x', content: [textBlock('u')] }
  const records = await recordsFrom(
    talk().update(user).think('x', 't').say('x', 'a').think('x', 'T').say('x', 'A').state('idle'),
  )
  assert.equal(
    records.slice(0, 3).map(({ role, content }) => [role, content]),
    [
      ['user', [textBlock('u')]],
      ['assistant', [{ type: 'reasoning', text: 'tT' }]],
      ['assistant', [textBlock('aA')]],
    ],
  )
})

test('M1: after the turn, a revision finds the message of its own space', async () => {
  const frames = talk().think('x', 't').say('x', 'a').state('idle').think('x', 'T').say('x', 'A').state('idle')
  const records = await recordsFrom(frames)
  assert.equal(outline(records), ['message x', 'message x', 'state idle', '~message x', '~message x', 'state idle'])
  assert.equal(records[3].content, [{ type: 'reasoning', text: 'tT' }])
  assert.is(records[3].supersedes, records[0].id)
  assert.equal(records[4].content, [textBlock('aA')])
})

test('ASR-704: assembly says whether content came from chunks', async () => {
  const records = await recordsFrom(
    talk()
      .say('a', 'x')
      .update({ sessionUpdate: 'agent_message', messageId: 'b', content: [textBlock('y')] }),
  )
  assert.equal(
    records.map(({ assembly }) => assembly),
    ['chunks', 'folded'],
  )
})

test('ASR-722: a thought is one reasoning part of its text, and what is no text is a declared loss', async () => {
  const content = [textBlock('a'), { type: 'image', data: '', mimeType: 'image/png' }, textBlock('b')]
  const [thought] = await recordsFrom(talk().update({ sessionUpdate: 'agent_thought', messageId: 't', content }))
  assert.equal(thought.content, [{ type: 'reasoning', text: 'ab' }])
})

test('M10: a notice is a message of the harness for the user, with an id that is said to be derived', async () => {
  const notice = { sessionUpdate: 'notice', severity: 'warning', title: 'T', description: 'D', _meta: { a: 1 } }
  const [one, two] = await recordsFrom(
    talk()
      .update(notice)
      .update({ ...notice, description: null }),
  )
  const { messageId, ...rest } = said(one)
  assert.equal(rest, {
    type: 'message',
    idSource: 'derived',
    role: 'system',
    author: 'harness',
    origin: 'notice',
    audience: 'user',
    content: [textBlock('T\nD')],
    _meta: { a: 1 },
    record: notice,
  })
  assert.equal(two.content, [textBlock('T')])
  assert.is.not(two.messageId, messageId)
})

test('M8: each kind of plan keeps its field, and a kind that is not known keeps all of it', async () => {
  const plans = [
    { type: 'items', planId: 'a', entries: [{ content: 'x' }] },
    { type: 'markdown', planId: 'b', content: '# x' },
    { type: 'file', planId: 'c', uri: 'file:///x' },
    { type: '_own', planId: 'd', steps: 3 },
  ]
  const frames = talk()
  for (const plan of plans) frames.update({ sessionUpdate: 'plan_update', plan })
  const records = await recordsFrom(frames)
  assert.equal(
    records.map(({ planType, entries, content, uri, native }) => [
      planType,
      entries ?? content ?? uri ?? native.record,
    ]),
    [
      ['items', [{ content: 'x' }]],
      ['markdown', '# x'],
      ['file', 'file:///x'],
      ['_own', { plan: plans[3] }],
    ],
  )
})

test('ASR-705: a plan that is told again after it was written is superseded, and one that is told again the same is not', async () => {
  const plan = (status: string) => ({
    sessionUpdate: 'plan_update',
    plan: { type: 'items', planId: 'p', entries: [{ content: 'x', status }] },
  })
  const frames = talk().update(plan('a')).state('idle').update(plan('a')).state('idle').update(plan('b')).state('idle')
  assert.equal(outline(await recordsFrom(frames)), ['plan p', 'state idle', 'state idle', '~plan p', 'state idle'])
})

test('a terminal is its bytes, its folder below a root, and how it ended', async () => {
  const terminal = (fields: object) => ({ sessionUpdate: 'terminal_update', terminalId: 't', ...fields })
  const [record] = await recordsFrom(
    talk()
      .update(terminal({ command: 'ls', cwd: `${CWD}/src` }))
      .update({ sessionUpdate: 'terminal_output_chunk', terminalId: 't', data: 'b2sgMSDi' })
      .update({ sessionUpdate: 'terminal_output_chunk', terminalId: 't', data: 'gJM=' })
      .update(terminal({ exitStatus: { exitCode: 0, signal: null } })),
  )
  assert.equal(said(record), {
    type: 'terminal',
    terminalId: 't',
    command: 'ls',
    cwd: { root: 'root0', path: 'src' },
    status: 'exited',
    exitCode: 0,
    output: { blob: Buffer.from('ok 1 –').toString('base64') },
    assembly: 'chunks',
  })
})

test('ASR-720: usage is of the context window', async () => {
  const [usage, free] = await recordsFrom(
    talk()
      .update({ sessionUpdate: 'usage_update', used: 5, size: 9, cost: { amount: 0.1, currency: 'USD', source: 'x' } })
      .update({ sessionUpdate: 'usage_update', used: 6, size: 9, cost: null }),
  )
  assert.equal(said(usage), {
    type: 'usage_summary',
    scope: 'session',
    cumulative: true,
    includesChildren: null,
    contextWindow: { used: 5, size: 9 },
    cost: { amount: 0.1, currency: 'USD' },
  })
  assert.is(free.cost, undefined)
})

test('ASR-720: usage that is told again as it was is one record, in a turn, between turns, and after a restart', async () => {
  const usage = (used: number, more: object = {}): Update => ({ sessionUpdate: 'usage_update', used, size: 9, ...more })
  const frames = talk().update(usage(1)).update(usage(1)).state('running').update(usage(1)).update(usage(2))
  frames
    .state('idle')
    .update(usage(2))
    .update(usage(1))
    .update(usage(1, { _meta: { k: 1 } }))
    .update(usage(1))
  const { store, location } = await recordAll(frames.frames)
  const used = (records: AsrRecord[]): number[] =>
    ofType(records as StoredRecord[], 'usage_summary').map(({ contextWindow }) => contextWindow.used)
  assert.equal(used(await recordsOf(await store.stream('s'))), [1, 2, 1, 1, 1])
  await store.close()
  const later = new Talk()
    .initialize()
    .resume(() => {})
    .update(usage(1))
    .update(usage(3))
    .resume((told) => told.update(usage(3)))
  const again = await recordAll(later.update(usage(3)).frames, {}, location)
  assert.equal(used(await recordsOf(await again.store.stream('s'))), [1, 2, 1, 1, 1, 3])
})

test('ASR-708: _meta of a session that comes without a title is folded by key into what is recorded of it', async () => {
  const info = (fields: object): Update => ({ sessionUpdate: 'session_info_update', ...fields })
  const frames = talk().update(info({ _meta: { a: 1, b: 1 } }))
  for (let n = 0; n < 50; n++) frames.update(info({ _meta: { a: n } }))
  frames.update(info({ title: 'A', _meta: { c: 1 } })).state('running')
  for (let n = 0; n < 50; n++) frames.update(info({ _meta: { a: n, b: null } })).say('m', 'x')
  frames
    .update(info({ title: 'A', _meta: { d: 1 } }))
    .state('idle')
    .update(info({ _meta: { e: 1 } }))
    .update(info({ updatedAt: 'x' }))
  const { store, location } = await recordAll(
    frames
      .update(info({ _meta: { e: 2 } }))
      .state('running')
      .state('idle').frames,
  )
  const infos = async (stream: Stream) =>
    ofType(await recordsOf(stream), 'session_info').map(({ title, _meta, supersedes }) => [
      title,
      _meta,
      supersedes !== undefined,
    ])
  const stream = await store.stream('s')
  assert.equal(await infos(stream), [
    [undefined, { a: 1, b: 1 }, false],
    ['A', { a: 49, b: 1, c: 1 }, false],
    ['A', { c: 1, a: 49, d: 1 }, true],
    ['A', { c: 1, a: 49, d: 1, e: 2 }, true],
  ])
  await store.close()
  const late = new Talk()
    .initialize()
    .resume((told) => told.update(info({ title: 'A' })))
    .update(info({ _meta: { e: null, f: 1 } }))
  const again = await recordAll(late.update(info({ title: 'B' })).frames, {}, location)
  assert.equal((await infos(await again.store.stream('s'))).slice(4), [['B', { c: 1, a: 49, d: 1, f: 1 }, false]])
})

test('M26: a title is recorded, null where it was cleared; a time alone is no record', async () => {
  const info = (fields: object) => ({ sessionUpdate: 'session_info_update', ...fields })
  const records = await recordsFrom(
    talk()
      .update(info({ title: 'A', updatedAt: 'x' }))
      .update(info({ updatedAt: 'y' }))
      .update(info({ title: null })),
  )
  assert.equal(records.map(said), [
    { type: 'session_info', title: 'A' },
    { type: 'session_info', title: null },
  ])
})

test('M14, M26: states are copied, and usage told with one is kept with the update', async () => {
  const idle = {
    sessionUpdate: 'state_update',
    state: 'idle',
    stopReason: 'error',
    error: { code: 1 },
    usage: { totalTokens: 1 },
  }
  const records = await recordsFrom(talk().state('unknown').update(idle))
  assert.equal(records.map(said), [
    { type: 'state', state: 'unknown' },
    { type: 'state', state: 'idle', stopReason: 'error', error: { code: 1 }, record: idle },
  ])
})

test('M13: options are recorded when they are told, from responses only when they changed', async () => {
  const option = (value: string) => [
    { configId: 'm', category: 'model', type: 'select', currentValue: value, options: [] },
    { configId: 'o', category: 'mode', type: 'select', currentValue: 'code', options: [] },
  ]
  const frames = new Talk().initialize().newSession('s', {}, { configOptions: option('a') })
  const set = (value: string) =>
    frames.respond(
      'a2c',
      frames.request('c2a', 'session/set_config_option', { sessionId: 's', configId: 'm', value }),
      {
        configOptions: option(value),
      },
    )
  set('a')
  set('b')
  frames.update({ sessionUpdate: 'config_option_update', configOptions: option('b') })
  const records = await recordsFrom(frames)
  assert.equal(
    records.map(({ type, model, mode }) => [type, model, mode]),
    ['a', 'b', 'b'].map((id) => ['config_change', { id }, 'code']),
  )
  assert.equal(records[0].options, option('a'))
})

test('ASR-735, M2, M11: a message between sessions is an entity where it was received, and an audit record elsewhere', async () => {
  const message = (fields: object) => ({ sessionUpdate: 'session_message', messageId: 'x', ...fields })
  const sides = { senderSessionId: 's', recipientSessionId: 'r' }
  const frames = new Talk().initialize().newSession('s').newSession('r')
  frames.update(message({ ...sides, content: [textBlock('Find')] }), 'r')
  frames.update({ sessionUpdate: 'session_message_chunk', messageId: 'x', content: textBlock(' it.') }, 'r')
  frames.say('x', 'same id', 'r')
  frames.update(message({ messageId: 'y', content: [] }), 'r')
  frames.update(message({ ...sides, content: [textBlock('Find')] }), 's')
  const received = await recordsFrom(frames, {}, 'r')
  assert.equal(outline(received), ['message x', 'message x', 'org.agent-session.acp/session_message'])
  assert.equal(said(received[0]), {
    type: 'message',
    messageId: 'x',
    role: 'user',
    author: 'agent',
    origin: 'inter_session',
    from: { session: 's' },
    recipients: [{ actor: { session: 'r' } }],
    content: [textBlock('Find'), textBlock(' it.')],
    assembly: 'folded',
  })
  assert.equal(outline(await recordsFrom(frames, {}, 's')), ['org.agent-session.acp/session_message'])
})

test('ASR-707: what comes while no turn is under way is written at once', async () => {
  const records = await recordsFrom(talk().state('idle').update({ sessionUpdate: 'session_info_update', title: 'A' }))
  assert.is(ofType(records, 'session_info').length, 1)
})

test.run()
