/**
 * What breaks off, and what can not be recorded, leaves a gap that names it (ASR-705, and "Beside the traffic").
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createRecorder, type KeepWire } from '../../../src/acp/main.js'
import { isAsrError, memoryLocation, openStore, type StoredRecord } from '../../../src/main.js'
import {
  ofType,
  outline,
  recordAll,
  recordsOf,
  said,
  startRecording,
  type Talk,
  talk,
  textBlock,
  type Update,
} from '../support.js'

/** The records of session `s` when its connection ends behind what was said. */
async function cutOff({ frames }: Pick<Talk, 'frames'>, ...connections: number[]): Promise<StoredRecord[]> {
  const { store, recorder, problems } = await startRecording()
  for (const frame of frames) recorder.observe(frame)
  for (const conn of connections.length === 0 ? [0] : connections) recorder.disconnected(conn)
  await recorder.stop()
  assert.equal(problems, [])
  return recordsOf(await store.stream('s'))
}

const gapsIn = (records: readonly StoredRecord[]): unknown[] =>
  ofType(records, 'gap').map((gap) => {
    const { type, reason, ...rest } = said(gap)
    assert.is(reason, 'connection_lost')
    return rest
  })

const compaction = { sessionUpdate: 'compaction_update', compactionId: 'c', status: 'in_progress' }

test('a connection that ends in the middle of something leaves a gap behind it that names it', async () => {
  const cases: [string, Talk, unknown[]][] = [
    ['a message', talk().prompt('u', 'go').say('m', 'Hel'), [{ of: 'message', messageId: 'm' }]],
    ['a thought', talk().state('running').think('h', 'so'), [{ of: 'message', messageId: 'h' }]],
    ['the last of two', talk().say('m', 'x').say('n', 'y'), [{ of: 'message', messageId: 'n' }]],
    ['a call', talk().call('t', { status: 'in_progress' }), [{ of: 'tool_call', callId: 't' }]],
    ['a call behind words', talk().say('m', 'x').call('t'), [{ of: 'tool_call', callId: 't' }]],
    ['a compaction', talk().update(compaction), [{ of: 'compaction', compactionId: 'c' }]],
    ['words in a later turn', talk().say('m', 'x').state('idle').say('n', 'y'), [{ of: 'message', messageId: 'n' }]],
    ['a turn without words', talk().state('running'), [{}]],
    ['a call that ended', talk().state('running').call('t', { status: 'failed' }), [{}]],
    ['a question', talk().say('m', 'x').state('requires_action'), [{ of: 'message', messageId: 'm' }]],
  ]
  for (const [name, frames, gaps] of cases) {
    const records = await cutOff(frames)
    assert.equal(gapsIn(records), gaps, name)
    assert.is(records.at(-1)?.type, 'gap', name)
    assert.is(records.at(-1)?.ts, frames.frames.at(-1)?.at, name)
  }
  const asked = talk()
  asked.request('c2a', 'session/prompt', { sessionId: 's', prompt: [textBlock('go')] })
  assert.equal(gapsIn(await cutOff(asked)), [{}], 'a prompt without an answer')
})

test('a connection that ends when nothing is under way leaves none', async () => {
  const whole = { sessionUpdate: 'agent_message', messageId: 'm', content: [textBlock('x')] }
  for (const [name, frames] of [
    ['a new session', talk()],
    ['a turn that is over', talk().prompt('u', 'go').say('m', 'x').state('idle')],
    [
      'a title behind it',
      talk().say('m', 'x').state('idle').update({ sessionUpdate: 'session_info_update', title: 'A' }),
    ],
    ['a late title of a call', talk().call('t', { status: 'failed' }).state('idle').call('t', { title: 'late' })],
    ['a late status of a call', talk().call('t', { status: 'failed' }).state('idle').call('t', { status: 'pending' })],
    ['a message told whole', talk().state('idle').update(whole)],
    ['a session that was closed', talk().state('running').say('m', 'x').close()],
  ] as [string, Talk][]) {
    const { store, recorder } = await startRecording()
    for (const frame of frames.frames) recorder.observe(frame)
    recorder.disconnected()
    await recorder.stop()
    assert.equal(ofType(await recordsOf(await store.stream('s')), 'gap'), [], name)
  }
})

test('only the last of several connections breaks something off, and what goes on later is told behind the gap', async () => {
  const both = (): Talk =>
    talk()
      .on(1)
      .initialize()
      .resume(() => {})
      .say('m', 'Hel')
  assert.equal(gapsIn(await cutOff(both(), 0)), [])
  assert.equal(gapsIn(await cutOff(both(), 0, 1)), [{ of: 'message', messageId: 'm' }])
  const { store, recorder } = await startRecording()
  for (const frame of talk().say('m', 'Hel').frames) recorder.observe(frame)
  recorder.disconnected()
  const again = talk().resume((told) => told.say('m', 'Hello'))
  for (const frame of again.state('idle').frames.slice(4)) recorder.observe(frame)
  await recorder.stop()
  const records = await recordsOf(await store.stream('s'))
  assert.equal(outline(records), ['message m', 'gap m', '~message m', 'state resumed', 'state idle'])
})

test('what is nested too deep is refused, however deep it is, and the gap names it; all else is recorded', async () => {
  for (const levels of [513, 700, 5_000, 50_000]) {
    let deep: unknown = []
    for (let level = 1; level < levels; level++) deep = [deep]
    const item = { type: 'content', content: { ...textBlock('x'), _meta: { deep } } }
    for (const [fields, of] of [
      [{ rawInput: deep }, 'tool_call'],
      [{ _meta: { deep } }, 'tool_call'],
      [{ locations: [{ path: '/a', line: 1 }], rawInput: { deep } }, 'tool_call'],
      [{ rawOutput: deep }, 'tool_result'],
      [{ content: [item] }, 'tool_result'],
      [{ content: [{ type: 'diff', changes: [], _meta: { deep } }] }, 'file_change'],
    ] as [object, string][]) {
      for (const keepWire of ['redacted', 'verbatim', 'none'] as KeepWire[]) {
        const frames = talk()
          .call('t', { ...fields, status: 'in_progress' })
          .call('t', fields)
          .say('m', 'between')
        frames.call('t', { status: 'completed' }).call('t2', { status: 'completed' }).say('n', 'behind').state('idle')
        const { store, problems } = await recordAll(frames.frames, { keepWire })
        assert.ok(problems.every(({ code }) => code === 'record_refused'))
        const records = await recordsOf(await store.stream('s'))
        const gaps = ofType(records, 'gap').map(said)
        assert.ok(gaps.length > 0, `${of} ${levels}`)
        for (const gap of gaps)
          assert.equal(gap, { type: 'gap', reason: 'refused', code: 'ASR_TOO_DEEP', of, callId: 't' })
        assert.equal(
          ofType(records, 'message').map(({ messageId }) => messageId),
          ['m', 'n'],
        )
        assert.ok(ofType(records, 'tool_result').some(({ callId }) => callId === 't2'))
      }
    }
  }
})

test('what is told again in a form that can be stored is recorded behind the gap, as a revision of the last that was', async () => {
  let deep: unknown = 1
  for (let level = 0; level < 600; level++) deep = [deep]
  const told: Record<string, (value: unknown) => Update> = {
    tool_call: (rawInput) => ({ sessionUpdate: 'tool_call_update', toolCallId: 't', rawInput, status: 'completed' }),
    tool_result: (rawOutput) => ({
      sessionUpdate: 'tool_call_update',
      toolCallId: 't',
      rawOutput,
      status: 'completed',
    }),
    message: (value) => ({ sessionUpdate: 'agent_message', messageId: 'm', content: [], _meta: { value } }),
    plan: (value) => ({ sessionUpdate: 'plan_update', plan: { planId: 'p', type: 'items', entries: [{ value }] } }),
    terminal: (value) => ({ sessionUpdate: 'terminal_update', terminalId: 'x', exitStatus: {}, _meta: { value } }),
    session_info: (value) => ({ sessionUpdate: 'session_info_update', _meta: { value } }),
  }
  for (const [type, update] of Object.entries(told)) {
    for (const state of ['requires_action', 'idle']) {
      for (const given of [
        [deep, 1],
        [1, deep, 2],
        [deep, 1, { deep }, deep, 2],
      ]) {
        const frames = talk().state('running')
        for (const value of given) frames.update(update(value)).state(state)
        const { store, problems } = await recordAll(frames.frames)
        const name = `${type} ${state} ${given.length}`
        assert.ok(
          problems.every(({ cause }) => isAsrError(cause, 'ASR_TOO_DEEP')),
          name,
        )
        const records = await recordsOf(await store.stream('s'))
        assert.is(ofType(records, 'gap').length, given.filter((value) => typeof value !== 'number').length, name)
        const sound = ofType(records, type)
        assert.is(sound.length, given.filter((value) => typeof value === 'number').length, name)
        assert.equal(
          sound.map(({ supersedes }) => supersedes),
          [undefined, ...sound.slice(0, -1).map(({ id }) => id)],
          name,
        )
        if (!type.startsWith('tool_')) continue
        const results = await (await store.stream('s')).entity('tool_result', 't', { anywhere: true })
        assert.is(results.length, 1, `${name}: one call has one result, also while the call itself is refused`)
      }
    }
  }
})

test('what ends behind a revision that could not be stored is ended as it was stored', async () => {
  let deep: unknown = 1
  for (let level = 0; level < 600; level++) deep = [deep]
  const diff = (path: string, _meta: object): object => ({ type: 'diff', changes: [{ operation: 'add', path }], _meta })
  const frames = talk().state('running')
  for (const content of [[diff('/a', {})], [diff('/b', { deep })], []])
    frames.call('t', { content, status: 'completed' }).state('requires_action')
  const { store } = await recordAll(frames.frames)
  const stream = await store.stream('s')
  const records = await recordsOf(stream)
  const [change] = ofType(records, 'file_change')
  assert.equal(
    ofType(records, 'tombstone').map(({ targetId }) => targetId),
    [change.id],
  )
})

test('an update that can not be dealt with leaves a gap that names it', async () => {
  const store = await openStore(memoryLocation())
  const blind = <T extends object>(target: T, given: (name: string) => unknown): T =>
    new Proxy(target, {
      get: (object, name) => {
        const found = given(String(name)) ?? Reflect.get(object, name)
        return typeof found === 'function' ? found.bind(object) : found
      },
    })
  const failing = blind(store, (name) =>
    name === 'stream'
      ? async (id: string) =>
          blind(await store.stream(id), (method) => {
            if (method !== 'entity') return undefined
            return () => Promise.reject(new Error('no look-up'))
          })
      : undefined,
  )
  const problems: string[] = []
  const recorder = createRecorder(failing, { onProblem: ({ code }) => problems.push(code) })
  const frames = talk().call('t', { status: 'completed' }).state('idle').call('t', { title: 'late' }).say('m', 'x')
  for (const frame of frames.frames) recorder.observe(frame)
  await recorder.stop()
  assert.equal(problems, ['frame_failed', 'frame_failed'])
  const gaps = ofType(await recordsOf(await store.stream('s')), 'gap').map(said)
  assert.equal(gaps, [
    { type: 'gap', reason: 'frame_failed', of: 'tool_call', callId: 't' },
    { type: 'gap', reason: 'frame_failed', of: 'message', messageId: 'm' },
  ])
})

test('a prompt, an answer and what is no JSON-RPC may be nested as they like', async () => {
  let deep: unknown = []
  for (let level = 1; level < 50_000; level++) deep = [deep]
  for (const keepWire of ['redacted', 'verbatim'] as KeepWire[]) {
    const frames = talk().raw('a2c', deep).raw('a2c', { deep }).raw('a2c', { id: 99, result: deep })
    frames.raw('c2a', { id: 'x', method: '_asp/state/import', params: { deep } })
    const refused = frames.request('c2a', 'session/new', { cwd: '/', mcpServers: deep })
    frames.raw('a2c', { id: refused, error: { code: 1, message: 'no', data: deep } })
    const ask = frames.request('a2c', 'elicitation/create', { sessionId: 's', mode: 'form', message: 'Q' })
    frames.respond('c2a', ask, { action: 'accept', content: { deep } })
    const prompt = frames.request('c2a', 'session/prompt', { sessionId: 's', prompt: [], _meta: { deep } })
    frames.respond('a2c', prompt, { messageId: 'u' }).say('m', 'behind').state('idle')
    const { store, problems } = await recordAll(frames.frames, { keepWire })
    assert.equal(
      problems.map(({ code }) => code),
      ['record_refused', 'record_refused'],
    )
    assert.equal(outline(await recordsOf(await store.stream('s'))), ['gap 0:0', 'gap u', 'message m', 'state idle'])
  }
})

test.run()
