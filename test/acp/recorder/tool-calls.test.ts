/**
 * Tool calls, results, diffs, and the order of the queue.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CWD, ofType, outline, recordAll, recordsFrom, recordsOf, said, talk, textBlock } from '../support.js'

const text = (words: string) => ({ type: 'content', content: textBlock(words) })
const diff = (path: string, more: object = {}) => ({
  type: 'diff',
  changes: [{ operation: 'modify', path: `${CWD}/${path}`, fileType: 'text' }],
  ...more,
})
const ABSENT = { state: 'absent' }

test('ASR-714: a final call is a call and a result, with what was shown and what came out, and no content', async () => {
  const records = await recordsFrom(
    talk()
      .call('t', { name: 'bash', title: 'Run', kind: 'execute', rawInput: { cmd: 'ls' }, _meta: { a: 1 } })
      .call('t', { status: 'in_progress', content: [text('A'), { type: 'terminal', terminalId: 'x' }] })
      .call('t', { status: 'completed', rawOutput: { code: 0 } }),
  )
  assert.equal(records.map(said), [
    {
      type: 'tool_call',
      callId: 't',
      callIdSource: 'native',
      name: 'bash',
      title: 'Run',
      kind: 'execute',
      input: { cmd: 'ls' },
      assembly: 'folded',
      _meta: { a: 1 },
    },
    {
      type: 'tool_result',
      callId: 't',
      status: 'completed',
      linkage: 'exact',
      displayContent: [textBlock('A')],
      raw: { code: 0 },
      exec: { terminalId: 'x' },
      assembly: 'folded',
      capture: { content: ABSENT },
    },
  ])
})

test('a call whose name ACP does not give says that it is absent', async () => {
  const [call] = await recordsFrom(talk().call('t'))
  assert.equal(call.capture, { name: ABSENT })
})

test('ASR-715: each diff is a file change behind its result', async () => {
  const patch = { format: 'git_patch', text: 'diff --git …' }
  const moved = { operation: 'move', oldPath: '/x/a', path: `${CWD}/b`, mimeType: 'text/plain' }
  const content = [diff('a.ts', { patch }), text('done'), { type: 'diff', changes: [moved], patch: null }]
  const records = await recordsFrom(talk().call('t', { content, status: 'completed' }))
  assert.equal(outline(records), [
    'tool_call t',
    'tool_result t completed',
    'file_change t applied',
    'file_change t applied',
  ])
  assert.equal(records.slice(2).map(said), [
    {
      type: 'file_change',
      cause: { callId: 't' },
      changes: [{ op: 'modify', path: { root: 'root0', path: 'a.ts' }, fileType: 'text' }],
      patch,
      precision: 'hunks',
      status: 'applied',
    },
    {
      type: 'file_change',
      cause: { callId: 't' },
      changes: [
        {
          op: 'move',
          path: { root: 'root0', path: 'b' },
          oldPath: { root: null, path: '/x/a' },
          mimeType: 'text/plain',
        },
      ],
      precision: 'unknown',
      status: 'applied',
    },
  ])
})

test('ASR-715: the status of a change follows the call, also when that is not final', async () => {
  const statuses = ['completed', 'failed', 'cancelled', 'in_progress', '_odd']
  const frames = talk()
  for (const status of statuses) frames.call(status, { content: [diff('a')], status })
  const changes = ofType(await recordsFrom(frames.state('idle')), 'file_change')
  const last = new Map(changes.map(({ cause, status }) => [cause.callId, status]))
  assert.equal([...last.values()], ['applied', 'failed', 'unknown', 'proposed', 'proposed'])
})

test('ASR-715: later content supersedes changes by index, and ends with a tombstone those that are gone', async () => {
  const frames = talk().call('t', { status: 'completed', content: [diff('a'), diff('b')] })
  frames.call('t', { content: [diff('c')] }).state('idle')
  frames.call('t', { content: [diff('c'), diff('d')] }).state('idle')
  const { store } = await recordAll(frames.frames)
  const stream = await store.stream('s')
  const records = await recordsOf(stream)
  assert.equal(outline(records).slice(2), [
    'file_change t applied',
    'file_change t applied',
    '~file_change t applied',
    'tombstone',
    'state idle',
    'file_change t applied',
    'state idle',
  ])
  const paths: string[] = []
  for await (const record of (await stream.activePath()).resolved()) {
    if (record.type === 'file_change') paths.push(record.changes[0].path.path)
  }
  assert.equal(paths, ['c', 'd'])
})

test('M19, M26: content that records have no place for is kept as it came', async () => {
  const content = [
    { type: 'terminal', terminalId: 'a' },
    { type: 'terminal', terminalId: 'b' },
    { type: '_chart', points: [1] },
    { ...text('x'), _meta: { k: 1 } },
    { ...diff('a'), _meta: { d: 1 } },
  ]
  const records = await recordsFrom(talk().call('t', { status: 'completed', content }))
  assert.equal(records[1].exec, { terminalId: 'a' })
  assert.equal(records[1].native.record, { content })
  assert.equal(records[2].native.record, content[4])
})

test('M7: a status that is neither final nor under way counts at the end of the turn', async () => {
  const frames = talk()
    .call('a', { status: 'other', rawOutput: 1 })
    .call('b', { status: '_queued', content: [text('x')] })
  frames.call('c', { status: 'paused' }).call('d', { status: 'paused', rawOutput: 0 })
  const records = await recordsFrom(frames.state('idle'))
  assert.equal(outline(records), [
    'tool_call a',
    'tool_result a unknown',
    'tool_call b',
    'tool_result b _queued',
    'tool_call c',
    'tool_call d',
    'tool_result d unknown',
    'state idle',
  ])
})

test('M6: a call that does not end is written with the turn, its content as partial, and nothing waits for it', async () => {
  const records = await recordsFrom(
    talk()
      .call('a', { rawInput: {} })
      .call('b', { content: [text('so far')] })
      .say('m', 'x')
      .state('idle')
      .say('n', 'y'),
  )
  assert.equal(outline(records), [
    'tool_call a',
    'tool_call b',
    'tool_result b partial',
    'message m',
    'state idle',
    'message n',
  ])
})

test('M5: all that was first seen before a record is written before it', async () => {
  const records = await recordsFrom(
    talk()
      .prompt('u', 'go')
      .think('t', 'hm')
      .say('m', 'I ')
      .call('a')
      .call('b', { status: 'completed' })
      .say('m', 'will'),
  )
  assert.equal(outline(records), [
    'message u',
    'message t',
    'message m',
    'tool_call a',
    'tool_call b',
    'tool_result b completed',
    '~message m',
  ])
  assert.equal(records[6].content, [textBlock('I will')])
  assert.is(records[6].supersedes, records[2].id)
})

test('M5: a result stands behind its call when both are written together, else where it is written', async () => {
  const records = await recordsFrom(
    talk().call('a').call('b', { status: 'failed' }).say('m', 'x').call('a', { status: 'completed' }),
  )
  assert.equal(outline(records), [
    'tool_call a',
    'tool_call b',
    'tool_result b failed',
    'tool_result a completed',
    'message m',
  ])
})

test('ASR-706: a change after the final record supersedes only the record whose fields changed', async () => {
  const frames = talk().call('t', { status: 'completed', content: [diff('a')], rawOutput: 1 })
  frames.call('t', { _meta: { k: 1 } }).state('idle')
  frames.call('t', { rawOutput: 2, status: 'completed' })
  frames.call('t', { status: 'completed' })
  const records = await recordsFrom(frames.state('idle'))
  assert.equal(outline(records), [
    'tool_call t',
    'tool_result t completed',
    'file_change t applied',
    '~tool_call t',
    'state idle',
    '~tool_result t completed',
    'state idle',
  ])
  assert.equal(records[3]._meta, { k: 1 })
  assert.is(records[5].raw, 2)
})

test('ASR-706: a call that is told of again in a later turn is revised, with what it was', async () => {
  const frames = talk()
    .call('t', {
      name: 'n',
      title: 'T',
      rawInput: { a: 1 },
      content: [text('A'), diff('a')],
      status: 'completed',
      rawOutput: 1,
    })
    .state('idle')
  frames.call('t', { title: 'U', content: [text('A'), diff('a')] }).state('idle')
  const records = await recordsFrom(frames)
  assert.equal(outline(records).slice(3), ['state idle', '~tool_call t', 'state idle'])
  const { name, title, input } = records[4]
  assert.equal([name, title, input], ['n', 'U', { a: 1 }])
})

test('ASR-722: losses are declared as they come to apply', async () => {
  const lossy = async (frames: ReturnType<typeof talk>) => {
    const { store } = await recordAll(frames.frames)
    return (await (await store.stream('s')).header()).producer.lossy
  }
  const always = ['message.author', 'inference', 'usage', 'timestamps']
  const transitions = '_org.agent-session.acp/tool_status_transitions'
  assert.equal(await lossy(talk()), always)
  assert.equal(await lossy(talk().call('t')), [...always, transitions])
  assert.equal(await lossy(talk().call('t', { status: 'completed' })), [...always, transitions, 'tool_result.content'])
  const image = { type: 'image', data: '', mimeType: 'image/png' }
  const thought = { sessionUpdate: 'agent_thought', messageId: 't', content: [image] }
  assert.equal(await lossy(talk().update(thought)), [...always, 'reasoning'])
})

test('ASR-719: a compaction reaches the last record in context that was written when it was first seen', async () => {
  const compaction = (fields: object) => ({ sessionUpdate: 'compaction_update', compactionId: 'c', ...fields })
  const frames = talk().prompt('u', 'x').say('m', 'y').update({ sessionUpdate: 'usage_update', used: 1, size: 2 })
  frames.update(compaction({ status: 'in_progress' })).say('n', 'z')
  frames.update({ sessionUpdate: 'compaction_summary_chunk', compactionId: 'c', content: textBlock('Earlier.') })
  frames.update(compaction({ status: 'completed' }))
  const { store } = await recordAll(frames.frames)
  const stream = await store.stream('s')
  const records = await recordsOf(stream)
  assert.equal(outline(records), ['message u', 'message m', 'usage_summary', 'compaction c completed', 'message n'])
  assert.equal(said(records[3]), {
    type: 'compaction',
    compactionId: 'c',
    kind: 'summary',
    status: 'completed',
    summary: [textBlock('Earlier.')],
    assembly: 'chunks',
    replaces: { throughId: records[1].id },
  })
  const view = await stream.contextView()
  assert.is(view.compaction?.id, records[3].id)
  assert.equal(view.diagnostics, [])
})

test('ASR-719, M20: without a record before it nothing is replaced, a summary that is not given is absent, an error is kept', async () => {
  const records = await recordsFrom(
    talk().update({ sessionUpdate: 'compaction_update', compactionId: 'c', status: 'failed', error: 'full' }),
  )
  assert.equal(said(records[0]), {
    type: 'compaction',
    compactionId: 'c',
    kind: 'summary',
    status: 'failed',
    error: 'full',
    assembly: 'folded',
    capture: { summary: ABSENT },
  })
})

test('ASR-705: at requires_action and idle everything is written, a compaction under way as partial', async () => {
  const frames = talk().update({ sessionUpdate: 'compaction_update', compactionId: 'c', status: 'in_progress' })
  frames.state('requires_action').update({ sessionUpdate: 'compaction_update', compactionId: 'c', status: 'cancelled' })
  assert.equal(outline(await recordsFrom(frames)), [
    'compaction c partial',
    'state requires_action',
    '~compaction c cancelled',
  ])
})

test('ASR-721: a child is told of in its parent before anything of its own, and names its parent', async () => {
  const frames = talk()
    .say('m', 'x')
    .update({ sessionUpdate: 'subagent_update', sessionId: 'kid', title: 'K', state: { state: 'running' } })
  frames.say('k', 'child', 'kid').update({ sessionUpdate: 'subagent_update', sessionId: 'kid', title: 'L' })
  const { store } = await recordAll(frames.frames)
  assert.equal(outline(await recordsOf(await store.stream('s'))), ['message m', 'subagent kid', '~subagent kid'])
  const child = await store.stream('kid')
  const { lineage, workspace } = await child.header()
  assert.equal(lineage, { spawnedBy: { session: 's', evidence: 'native_field' } })
  assert.equal(workspace, { roots: [{ id: 'root0', path: CWD }] })
  assert.equal(outline(await recordsOf(child)), ['message k'])
})

test.run()
