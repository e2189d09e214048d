/**
 * Streams, headers, identity and unmapped updates.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ACP_SCHEMA } from '../../../src/acp/revision.js'
import { CWD, ofType, outline, recordAll, recordsFrom, recordsOf, said, Talk, talk, textBlock } from '../support.js'

async function headerFrom(frames: Talk, options = {}, sessionId = 's') {
  const { store } = await recordAll(frames.frames, options)
  return (await store.stream(sessionId)).header()
}

test('ASR-700: the header names the recorder and the revision of the schema', async () => {
  const { producer } = await headerFrom(talk())
  assert.is(producer.method, 'recorder')
  assert.equal(producer.source, { format: 'acp', formatVersion: '2.0.0-alpha.9' })
  assert.is(ACP_SCHEMA, '2.0.0-alpha.9')
})

test('ASR-700: a connection of another protocol version is not recorded, and that is said once', async () => {
  const frames = new Talk().initialize({ name: 'old', version: '1' }, 1).newSession().say('m', 'x').frames
  const { problems, store } = await recordAll(frames)
  assert.equal(
    problems.map(({ code }) => code),
    ['protocol_version'],
  )
  for await (const { sessionId } of store.streams()) assert.unreachable(sessionId)
})

test('ASR-701: each session has its stream under its own id, whatever the id is', async () => {
  const ids = ['s', 'telegram:42', 'a/b', '🦊', '__proto__']
  const frames = new Talk().initialize()
  for (const id of ids) frames.newSession(id)
  for (const [index, id] of ids.entries()) frames.say(`m${index}`, id, id)
  const { store, summary } = await recordAll(frames.frames)
  assert.equal([...summary.sessions].sort(), [...ids].sort())
  for (const id of ids) {
    const records = await recordsOf(await store.stream(id))
    assert.equal(
      records.map(({ content }) => content),
      [[textBlock(id)]],
    )
  }
})

test('M18: the system prompt of a request is no record', async () => {
  const systemPrompt = { mode: 'override', content: [textBlock('be brief')] }
  assert.equal(await recordsFrom(new Talk().initialize().newSession('s', { systemPrompt })), [])
})

test('ASR-701: a session is recorded although nothing was said in it', async () => {
  assert.equal(await recordsFrom(talk()), [])
})

test('ASR-701: a session that only updates speak of has a stream, and no root or parent is made up for it', async () => {
  const header = await headerFrom(new Talk().initialize().say('m', 'x', 'other'), {}, 'other')
  assert.equal(header.workspace, { roots: [] })
  assert.is(header.lineage, undefined)
})

test('ASR-701: updates that come before the answer that names their session are its updates', async () => {
  const early = new Talk().initialize()
  const id = early.request('c2a', 'session/new', { cwd: CWD })
  early.say('m', 'early', 's9').respond('a2c', id, { sessionId: 's9' }).say('m', ' late', 's9')
  const { store } = await recordAll(early.frames)
  const stream = await store.stream('s9')
  assert.equal((await stream.header()).workspace, { roots: [{ id: 'root0', path: CWD }] })
  const records = await recordsOf(stream)
  assert.equal(records[0].content, [textBlock('early late')])
})

test('ASR-702: ACP ids are kept as they are', async () => {
  const records = await recordsFrom(
    talk()
      .say(' m/1 ', 'x')
      .call('call:é')
      .update({ sessionUpdate: 'plan_update', plan: { type: 'items', planId: '__proto__', entries: [] } })
      .update({ sessionUpdate: 'terminal_update', terminalId: '' })
      .update({ sessionUpdate: 'compaction_update', compactionId: '0', status: 'completed' }),
  )
  assert.equal(outline(records), [
    'message  m/1',
    'tool_call call:é',
    'plan __proto__',
    'terminal  partial',
    'compaction 0 completed',
  ])
  assert.is(records[1].callIdSource, 'native')
})

test('ASR-703: the agent gets the configured name, else one below the reserved prefix', async () => {
  const agentOf = async (name: string, options = {}) => {
    const header = await headerFrom(new Talk().initialize({ name, version: '9' }).newSession(), options)
    return header.agent
  }
  const prefix = 'org.agent-session.acp.'
  assert.equal(await agentOf('@agentclientprotocol/claude-agent-acp'), {
    name: `${prefix}agentclientprotocol-claude-agent-acp`,
    version: '9',
  })
  assert.is((await agentOf('--A  B--'))?.name, `${prefix}a-b`)
  assert.is((await agentOf('日本'))?.name, `${prefix}unknown`)
  assert.is((await agentOf('x', { agentName: 'com.example.bot' }))?.name, 'com.example.bot')
  const byInfo = { agentName: ({ name }: { name: string }) => (name === 'known' ? 'known-agent' : undefined) }
  assert.is((await agentOf('known', byInfo))?.name, 'known-agent')
  assert.is((await agentOf('other', byInfo))?.name, `${prefix}other`)
})

test('ASR-709: values of open enumerations are kept unchanged', async () => {
  const entries = [{ content: 'a', priority: '_urgent', status: '_blocked' }]
  const records = await recordsFrom(
    talk()
      .call('t', { kind: '_deploy' })
      .update({ sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'p', entries } })
      .state('_sleeping', { stopReason: '_nap' }),
  )
  assert.equal(
    [records[0].kind, records[1].entries, records[2].state, records[2].stopReason],
    ['_deploy', entries, '_sleeping', '_nap'],
  )
})

test('ASR-710, M9, M17: what is not mapped is an audit-only record of its own type, whole', async () => {
  const updates = [
    { sessionUpdate: '_acme/heartbeat', beat: 1 },
    { sessionUpdate: 'available_commands_update', availableCommands: [] },
    { sessionUpdate: 'plan_removed', planId: 'p' },
    { sessionUpdate: 'tool_call', toolCallId: 'v1' },
    { sessionUpdate: 'agent_message_chunk', content: textBlock('without an id') },
    { sessionUpdate: 'terminal_output_chunk', terminalId: 't', data: '%' },
    { sessionUpdate: 'usage_update', used: 'much' },
    { sessionUpdate: '__proto__' },
  ]
  const frames = talk()
  for (const update of updates) frames.update(update)
  const records = await recordsFrom(frames)
  assert.equal(
    records.map(({ type, native }) => [type, native.record]),
    updates.map((update) => [`org.agent-session.acp/${update.sessionUpdate}`, update]),
  )
})

test('ASR-707: live records carry the time of the first update and whose clock it is', async () => {
  const records = await recordsFrom(talk().say('m', 'a').say('n', 'b').say('m', 'c').state('idle'))
  assert.equal(
    records.map(({ ts, tsSource }) => [ts, tsSource]),
    [4, 5, 7].map((second) => [`2026-10-26T14:30:0${second}.000Z`, 'recorder']),
  )
})

test('ASR-708: _meta of updates is folded by key, and trace context of the notification is kept', async () => {
  const trace = { traceparent: '00-1-2-01', other: 1 }
  const records = await recordsFrom(
    talk()
      .update(
        { sessionUpdate: 'agent_message_chunk', messageId: 'm', content: textBlock('a'), _meta: { a: 1 } },
        's',
        trace,
      )
      .update({ sessionUpdate: 'agent_message', messageId: 'm', _meta: { a: null, b: 2 } })
      .update({ sessionUpdate: 'usage_update', used: 1, size: 2, _meta: { c: 3 } }, 's', { baggage: 'x' }),
  )
  assert.equal(records[0]._meta, { traceparent: '00-1-2-01', b: 2 })
  assert.equal(records[1]._meta, { baggage: 'x', c: 3 })
})

test('ASR-711: the roots are those of the request, and M15: a resume that names more adds to them', async () => {
  const frames = new Talk().initialize().newSession('s', { additionalDirectories: ['/lib'] })
  frames.resume(() => {}, 's', {}, { cwd: '/lib', additionalDirectories: ['/new'] })
  frames.call('t', { locations: [{ path: '/new/a', line: 3 }, { path: `${CWD}/b` }, { path: '/x' }, 7] })
  const { store } = await recordAll(frames.frames)
  const stream = await store.stream('s')
  assert.equal((await stream.header()).workspace.roots, [
    { id: 'root0', path: CWD },
    { id: 'root1', path: '/lib' },
    { id: 'root2', path: '/new' },
  ])
  const [call] = ofType(await recordsOf(stream), 'tool_call')
  assert.equal(call.locations, [
    { root: 'root2', path: 'a', line: 3 },
    { root: 'root0', path: 'b' },
    { root: null, path: '/x' },
  ])
})

test('M24: the messages of a batch are taken one by one, and what is no JSON-RPC is counted', async () => {
  const { frames } = talk()
    .raw('a2c', [
      {
        jsonrpc: '2.0',
        method: 'session/update',
        params: { sessionId: 's', update: { sessionUpdate: 'notice', title: 'n' } },
      },
      17,
      {
        jsonrpc: '2.0',
        method: 'session/update',
        params: { sessionId: 's', update: { sessionUpdate: 'state_update', state: 'idle' } },
      },
    ])
    .raw('a2c', undefined, 'not json {')
    .raw('c2a', [])
  const { store, summary, problems } = await recordAll(frames)
  assert.is(summary.notJsonRpc, 3)
  assert.is(summary.frames, frames.length)
  assert.equal(problems, [])
  assert.equal(
    (await recordsOf(await store.stream('s'))).map(({ type }) => type),
    ['message', 'state'],
  )
})

test('hostile frames never throw, and what they hold is recorded or refused by name', async () => {
  let deep: unknown = 1
  for (let depth = 0; depth < 700; depth++) deep = [deep]
  const { frames } = talk()
    .update({ sessionUpdate: 'agent_message', messageId: 'm', content: [{ type: 'text', text: '\ud800' }] })
    .update({ sessionUpdate: '_deep', deep })
    .notify('a2c', 'session/update', { sessionId: 's' })
    .notify('a2c', 'session/update', { sessionId: '\ud800', update: { sessionUpdate: 'x' } })
    .raw('a2c', { method: 'session/update', params: null })
    .say('n', 'after')
  const { store, problems } = await recordAll(frames)
  const records = await recordsOf(await store.stream('s'))
  assert.equal(
    records.map(({ type }) => type),
    ['message', 'gap', 'org.agent-session.acp/session_update', 'message'],
  )
  assert.equal(said(records[1]), {
    type: 'gap',
    reason: 'refused',
    code: 'ASR_TOO_DEEP',
    of: 'org.agent-session.acp/_deep',
  })
  assert.equal(problems.map(({ code }) => code).sort(), ['record_refused', 'session_lost'])
})

test('a session that is new to the agent and known to the store can be left alone', async () => {
  const first = await recordAll(talk().say('m', 'x').frames)
  await first.store.close()
  const again = await recordAll(talk().say('m', 'x').frames, { knownSession: 'skip' }, first.location)
  assert.is((await again.store.stream('s')).length, 1)
  assert.equal(
    again.problems.map(({ code }) => code),
    ['session_known'],
  )
})

test.run()
