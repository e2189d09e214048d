/**
 * Replay windows and forks: what an agent tells again is not recorded again.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RecorderOptions } from '../../../src/acp/main.js'
import { CWD, ofType, outline, recordAll, recordsOf, said, Talk, talk, textBlock } from '../support.js'

const text = (words: string) => ({ type: 'content', content: textBlock(words) })
const DIFF = {
  type: 'diff',
  changes: [{ operation: 'modify', path: `${CWD}/a` }],
  patch: { format: 'git_patch', text: 'p' },
}

function conversation(frames: Talk): Talk {
  return frames
    .prompt('u', 'go')
    .think('t', 'hm')
    .say('m', 'I will')
    .call('c', {
      name: 'edit',
      title: 'Edit',
      rawInput: { a: 1 },
      content: [text('ok'), DIFF],
      status: 'completed',
      rawOutput: 1,
    })
    .update({ sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'p', entries: [] } })
    .update({
      sessionUpdate: 'terminal_update',
      terminalId: 'x',
      output: { data: 'YQ==' },
      exitStatus: { exitCode: 0 },
    })
    .update({ sessionUpdate: 'session_info_update', title: 'A' })
    .state('idle', { stopReason: 'end_turn' })
}

function toldAgain(frames: Talk): Talk {
  return frames
    .update({ sessionUpdate: 'user_message', messageId: 'u', content: [textBlock('go')] }, 's', {
      traceparent: 'other',
    })
    .update({ sessionUpdate: 'agent_thought', messageId: 't', content: [textBlock('hm')] })
    .update({ sessionUpdate: 'agent_message', messageId: 'm', content: [] })
    .say('m', 'I ')
    .say('m', 'will')
    .call('c', { name: 'edit', title: 'Edit', rawInput: { a: 1 }, content: [], status: 'pending' })
    .call('c', { status: 'completed', rawOutput: 1 })
    .update({ sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'p', entries: [] } })
    .update({ sessionUpdate: 'terminal_update', terminalId: 'x', command: null, output: { data: 'YQ==' } })
    .update({ sessionUpdate: 'session_info_update', title: 'A' })
    .state('idle', { stopReason: 'end_turn' })
}

async function sessionOf(frames: Talk, options: RecorderOptions = {}, sessionId = 's') {
  const { store } = await recordAll(frames.frames, options)
  return store.stream(sessionId)
}

async function outlineAfter(count: number, frames: Talk): Promise<string[]> {
  return outline(await recordsOf(await sessionOf(frames))).slice(count)
}

const COUNT = 11

test('ASR-717: history that is told again gives no record, only that the session was resumed', async () => {
  const frames = conversation(talk())
  assert.is((await sessionOf(frames)).length, COUNT - 1)
  frames.on(1).initialize().resume(toldAgain).on(2).initialize().resume(toldAgain)
  assert.equal(await outlineAfter(COUNT - 1, frames), ['state resumed', 'state resumed'])
})

test('ASR-717: the same across a restart of the recorder', async () => {
  const first = await recordAll(conversation(talk()).frames)
  await first.store.close()
  const again = await recordAll(new Talk().initialize().resume(toldAgain).say('n', 'on').frames, {}, first.location)
  const records = await recordsOf(await again.store.stream('s'))
  assert.equal(outline(records).slice(COUNT - 1), ['state resumed', 'message n'])
})

test('ASR-717: a resume that fails gives no record, and what comes behind it is live', async () => {
  const frames = conversation(talk()).resume(toldAgain, 's', null)
  assert.equal(await outlineAfter(COUNT - 1, frames.say('n', 'new')), ['message n'])
})

test('ASR-717: a window also closes when the connection is lost', async () => {
  const frames = conversation(talk()).on(1).initialize()
  frames.request('c2a', 'session/resume', { sessionId: 's', cwd: CWD, replayFrom: { type: 'start' } })
  toldAgain(frames).update({ sessionUpdate: 'agent_message', messageId: 'new', content: [textBlock('x')] })
  const { store, location } = await recordAll([])
  await store.close()
  const { startRecording } = await import('../support.js')
  const { recorder, store: again } = await startRecording({}, location)
  for (const frame of frames.frames) recorder.observe(frame)
  recorder.disconnected(1)
  for (const frame of new Talk(1).initialize().say('m2', 'live').frames) recorder.observe(frame)
  await recorder.stop()
  const records = await recordsOf(await again.stream('s'))
  assert.equal(outline(records).slice(COUNT - 1), ['message new', 'message m2'])
  assert.is(records[COUNT - 1].ts, undefined)
  assert.type(records[COUNT].ts, 'string')
})

test('ASR-717: other content is a superseding record, in the place of what it supersedes', async () => {
  const frames = conversation(talk()).resume((again) => {
    again.update({ sessionUpdate: 'agent_message', messageId: 'm', content: [textBlock('edited')] })
    again.call('c', { title: 'Edit 2', status: 'failed' }).state('idle', { stopReason: 'end_turn' })
  })
  const stream = await sessionOf(frames)
  const records = await recordsOf(stream)
  assert.equal(outline(records).slice(COUNT - 1), [
    '~message m',
    '~tool_call c',
    '~tool_result c failed',
    'state resumed',
  ])
  const [, call, result] = records.slice(COUNT - 1)
  assert.equal([call.name, call.title, call.input], ['edit', 'Edit 2', { a: 1 }])
  assert.equal([result.displayContent, result.raw, result.ts], [[textBlock('ok')], 1, records[4].ts])
})

test('M23: only what the replay carries is compared, so a poorer replay takes nothing away', async () => {
  const poorer = (again: Talk): unknown =>
    again
      .call('c', { title: null, content: [], status: 'completed' })
      .update({ sessionUpdate: 'agent_message', messageId: 'm', content: null })
      .update({ sessionUpdate: 'agent_thought', messageId: 't', content: [] })
      .call('c', { content: [text('ok')] })
      .update({ sessionUpdate: 'terminal_update', terminalId: 'x' })
      .state('idle', { stopReason: 'end_turn' })
  assert.equal(await outlineAfter(COUNT - 1, conversation(talk()).resume(poorer)), ['state resumed'])
})

test('ASR-707, ASR-717: history that was not recorded is written without a time of its own', async () => {
  const frames = new Talk().initialize().resume(toldAgain)
  const records = await recordsOf(await sessionOf(frames))
  assert.equal(outline(records), [
    'message u',
    'message t',
    'message m',
    'tool_call c',
    'tool_result c completed',
    'plan p',
    'terminal x partial',
    'session_info',
    'state idle',
    'state resumed',
  ])
  for (const { ts, observedAt } of records.slice(0, 8)) assert.ok(ts === undefined && observedAt !== undefined)
  assert.equal(records[2].content, [textBlock('I will')])
  assert.is(records[2].assembly, 'chunks')
})

test('ASR-717: what is open in memory is live, also inside a window', async () => {
  const frames = talk().prompt('u', 'go').say('m', 'be').on(1).initialize()
  frames.resume((again) => {
    again.update({ sessionUpdate: 'user_message', messageId: 'u', content: [textBlock('go')] })
    again.say('m', 'gin').say('old', 'history')
  })
  const records = await recordsOf(await sessionOf(frames.state('idle')))
  assert.equal(
    records
      .filter(({ type }) => type === 'message')
      .map(({ messageId, content, ts }) => [messageId, content[0].text, ts !== undefined]),
    [
      ['old', 'history', false],
      ['u', 'go', true],
      ['m', 'begin', true],
    ],
  )
})

test('ASR-717: a call left open by a crash gets its result from the replay', async () => {
  const frames = talk().call('c', { title: 'T' }).state('idle')
  frames.resume((again) => again.call('c', { title: 'T', status: 'completed', rawOutput: 2 }).state('idle'))
  assert.equal(await outlineAfter(2, frames), ['tool_result c completed', 'state resumed'])
})

test('ASR-717, M22: the state told last is how things are now, and is recorded when the stream says otherwise', async () => {
  const frames = conversation(talk()).resume((again) => again.state('idle').state('running'))
  assert.equal(await outlineAfter(COUNT - 1, frames), ['state running', 'state resumed'])
})

test('ASR-721, ASR-717: the children told of in a window are history too', async () => {
  const kid = (frames: Talk): Talk =>
    frames.update({ sessionUpdate: 'subagent_update', sessionId: 'kid', title: 'K' }).say('k', 'child', 'kid')
  const frames = kid(talk()).state('idle').state('idle', {}, 'kid')
  frames
    .on(1)
    .initialize()
    .resume((again) => kid(again).state('idle'))
  const { store } = await recordAll(frames.frames)
  assert.equal(outline(await recordsOf(await store.stream('s'))), ['subagent kid', 'state idle', 'state resumed'])
  assert.equal(outline(await recordsOf(await store.stream('kid'))), ['message k', 'state idle'])
})

test('ASR-718: a fork is a stream of its own, whose history names what it is copied from', async () => {
  const frames = conversation(talk()).fork('f')
  frames.update({ sessionUpdate: 'user_message', messageId: 'u', content: [textBlock('go')] }, 'f')
  frames.update({ sessionUpdate: 'agent_message', messageId: 'other', content: [textBlock('?')] }, 'f')
  frames.update({ sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'completed', content: [DIFF] }, 'f')
  frames.state('idle', {}, 'f').say('n', 'new', 'f')
  const { store } = await recordAll(frames.frames)
  const parent = await recordsOf(await store.stream('s'))
  const stream = await store.stream('f')
  const records = await recordsOf(stream)
  const evidence = 'native_field'
  assert.equal((await stream.header()).lineage, {
    forkedFrom: { session: 's', evidence },
    inherits: { mode: 'copied', from: 's', evidence, localThroughId: records[4].id },
  })
  const copies = records.map(({ type, copiedFrom }) => [type, copiedFrom?.id])
  const idOf = (type: string) => ofType(parent, type)[0].id
  assert.equal(copies, [
    ['message', idOf('message')],
    ['message', undefined],
    ['tool_call', idOf('tool_call')],
    ['tool_result', idOf('tool_result')],
    ['file_change', idOf('file_change')],
    ['state', undefined],
    ['message', undefined],
  ])
  assert.equal(records[0].copiedFrom, { session: 's', id: records[0].copiedFrom.id, proof: 'native_id' })
})

test('M16, ASR-718: a fork into which no history is told has no local history', async () => {
  const frames = conversation(talk()).fork('f').prompt('v', 'go on', 'f')
  const stream = await sessionOf(frames, {}, 'f')
  assert.is((await stream.header()).lineage.inherits.localThroughId, undefined)
  const [record] = await recordsOf(stream)
  assert.equal([record.copiedFrom, record.origin], [undefined, 'prompt'])
})

test('ASR-719, ASR-717: a compaction in the history reaches what was told before it', async () => {
  const frames = new Talk().initialize().resume((again) => {
    again.say('m', 'x')
    again.update({
      sessionUpdate: 'compaction_update',
      compactionId: 'c',
      status: 'completed',
      summary: [textBlock('S')],
    })
  })
  const records = await recordsOf(await sessionOf(frames))
  assert.equal(said(records[1]).replaces, { throughId: records[0].id })
  frames
    .on(1)
    .initialize()
    .resume((again) => {
      again.update({
        sessionUpdate: 'compaction_update',
        compactionId: 'c',
        status: 'completed',
        summary: [textBlock('T')],
      })
    })
  const revised = ofType(await recordsOf(await sessionOf(frames)), 'compaction')[1]
  assert.equal([revised.replaces, revised.summary], [{ throughId: records[0].id }, [textBlock('T')]])
})

test.run()
