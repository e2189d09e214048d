/**
 * Calls with their results and the changes to files that they caused, each as one update.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AsrRecord } from '../../../src/main.js'
import { call, message, result, text } from '../../support/records.js'
import { CWD, history, lost, streamWith, type Told, told } from './support.js'

const VENDOR = '_org.agent-session.acp'

function shown(words: string): object {
  return { type: 'content', content: { type: 'text', text: words } }
}

function change(id: string, callId: string, fields: object = {}): AsrRecord {
  const changes = [{ op: 'modify', path: { root: 'root0', path: `${id}.ts` } }]
  return { type: 'file_change', id, cause: { callId }, changes, precision: 'unknown', status: 'applied', ...fields }
}

function diff(id: string): object {
  return { type: 'diff', changes: [{ operation: 'modify', path: `${CWD}/${id}.ts` }] }
}

function outline(updates: readonly Told[]): unknown[] {
  return updates.map(({ messageId, toolCallId, state }) => messageId ?? toolCallId ?? state)
}

test('a call and its result are one update at the place of the call, with all that ACP has a place for', async () => {
  const [update, ...rest] = await history(
    call('a', 'c1', {
      title: 'Edit',
      kind: 'edit',
      input: { path: 'x' },
      locations: [
        { root: 'root0', path: 'src/x.ts', line: 3 },
        { root: null, path: '/etc/hosts', line: -1 },
        { root: 'root0', path: '' },
      ],
      _meta: { k: 1 },
    }),
    result('b', 'c1', {
      content: text('to the model'),
      displayContent: text('shown'),
      raw: { code: 0 },
      exec: { terminalId: 't1' },
    }),
    change('d', 'c1', { patch: { format: 'git_patch', text: '@@', extra: 1 } }),
  )
  assert.equal(rest, [])
  assert.equal(update, {
    sessionUpdate: 'tool_call_update',
    toolCallId: 'c1',
    name: 'read',
    title: 'Edit',
    kind: 'edit',
    status: 'completed',
    content: [
      shown('shown'),
      { ...diff('d'), patch: { format: 'git_patch', text: '@@' } },
      { type: 'terminal', terminalId: 't1' },
    ],
    locations: [{ path: `${CWD}/src/x.ts`, line: 3 }, { path: '/etc/hosts' }, { path: CWD }],
    rawInput: { path: 'x' },
    rawOutput: { code: 0 },
    _meta: { k: 1 },
  })
})

test('what reached the model is shown where nothing else is', async () => {
  const stream = await streamWith([call('a', 'c1'), result('b', 'c1', { content: text('x') })])
  assert.equal((await told(stream))[0].content, [shown('x')])
  assert.is((await lost(stream))['tool_result.content'], undefined)
  const both = [call('a', 'c1'), result('b', 'c1', { content: text('x'), displayContent: text('y') })]
  assert.is((await lost(await streamWith(both)))['tool_result.content'], 1)
})

test('ASR-728: the status of a result becomes that of the call', async () => {
  const STATUS = {
    completed: 'completed',
    failed: 'failed',
    denied: 'failed',
    cancelled: 'cancelled',
    interrupted: 'cancelled',
    unknown: 'other',
    paused: 'other',
    _acme: '_acme',
  }
  for (const [status, expected] of Object.entries(STATUS)) {
    const [update] = await history(call('a', 'c1'), result('b', 'c1', { status }))
    assert.is(update.status, expected)
  }
  const [update] = await history(call('a', 'c1'), result('b', 'c1', { status: 'partial', content: text('so far') }))
  assert.equal([update.status, update.content], [undefined, [shown('so far')]])
})

test('a dangling call is told without a status, in its place', async () => {
  const updates = await history(call('a', 'c1'), message('m1'), call('b', 'c2'), result('d', 'c2'), message('m2'))
  assert.equal(outline(updates), ['c1', 'm1', 'c2', 'm2'])
  assert.not('status' in updates[0])
})

test('parallel calls keep their order, and results and changes find their own, wherever they come', async () => {
  const updates = await history(
    call('a1', 'c1'),
    call('a2', 'c2'),
    message('m'),
    result('b2', 'c2'),
    change('d2', 'c2'),
    result('b1', 'c1'),
    change('d1', 'c1'),
    change('d3', 'c2'),
  )
  assert.equal(outline(updates), ['c1', 'c2', 'm'])
  assert.equal(updates[0].content, [shown('b1'), diff('d1')])
  assert.equal(updates[1].content, [shown('b2'), diff('d2'), diff('d3')])
})

test('a result a thousand records behind its call is told with it, and only there', async () => {
  const between = Array.from({ length: 1_000 }, (_, n) => message(`m${n}`))
  const stream = await streamWith([call('a', 'c1'), ...between, result('b', 'c1'), message('z')])
  const updates = await told(stream)
  assert.equal(updates[0].content, [shown('b')])
  assert.is(updates.length, 1_003)
  assert.not(`${VENDOR}/unpaired_result` in (await lost(stream)))
})

test('what waits behind a call is bounded by its size too', async () => {
  const between = Array.from({ length: 8 }, (_, n) => message(`m${n}`, { content: text('x'.repeat(300_000)) }))
  const updates = await history(call('a', 'c1'), ...between, result('b', 'c1'))
  assert.equal(updates[0].content, [shown('b')])
})

test('a change that comes long after its call has the call told again, whole', async () => {
  const between = Array.from({ length: 200 }, (_, n) => message(`m${n}`))
  const updates = await history(
    call('a', 'c1'),
    result('b', 'c1'),
    change('d1', 'c1'),
    ...between,
    change('d2', 'c1'),
    change('d3', 'c1'),
  )
  assert.equal(outline(updates).filter((id) => id === 'c1').length, 3)
  assert.equal(updates[0].content, [shown('b'), diff('d1')])
  assert.equal(updates.at(-1), { ...updates[0], content: [shown('b'), diff('d1'), diff('d2'), diff('d3')] })
})

test('an id that calls share again and again: each call has its own result, and the last call counts', async () => {
  const between = (name: string) => Array.from({ length: 100 }, (_, n) => message(`${name}${n}`))
  const stream = await streamWith([
    call('a1', 'c', { title: 'one' }),
    ...between('x'),
    call('a2', 'c', { input: { n: 2 } }),
    result('b1', 'c'),
    ...between('y'),
    result('b2', 'c', { status: 'failed' }),
    call('a3', 'c'),
  ])
  const calls = (await told(stream)).filter(({ toolCallId }) => toolCallId === 'c')
  assert.equal(
    calls.map(({ status, content }) => [status, content]),
    [
      ['completed', [shown('b1')]],
      ['failed', [shown('b2')]],
      [null, null],
    ],
  )
  assert.equal([calls[1].title, calls[2].rawInput], [null, null])
  assert.is((await lost(stream))[`${VENDOR}/shared_id`], 2)
})

test('results without a call, and changes that no call caused, are left out and said to be', async () => {
  const stream = await streamWith([
    result('a', 'none'),
    { type: 'tool_result', id: 'b', status: 'completed' },
    change('d', 'none'),
    { type: 'file_change', id: 'e', changes: [] },
    call('f', 'c1'),
    result('g', 'c1'),
    result('h', 'c1'),
  ])
  assert.equal(outline(await told(stream)), ['c1', 'idle'])
  const losses = await lost(stream)
  assert.equal([losses[`${VENDOR}/unpaired_result`], losses.file_change], [3, 2])
})

test('a call without an id has that of its record', async () => {
  const [update] = await history({ type: 'tool_call', id: 'r-a', name: 'x' })
  assert.equal([update.toolCallId, update.name], ['r-a', 'x'])
})

test('ASR-729: diffs have the absolute paths of their roots again; below a redacted root they are left out and said to be', async () => {
  const roots = [
    { id: 'root0', path: CWD },
    { id: 'root1', path: null },
    { id: 'root2', path: 'C:\\work' },
  ]
  const of = (op: string, path: object, oldPath?: object): object => ({ op, path, ...(oldPath && { oldPath }) })
  const stream = await streamWith(
    [
      call('a', 'c1', { locations: [{ root: 'root1', path: 'x' }] }),
      result('b', 'c1', { content: [] }),
      change('d1', 'c1', {
        changes: [
          of('move', { root: 'root2', path: 'b\\c' }, { root: null, path: '/old' }),
          of('add', { root: 'root0', path: '' }),
        ],
      }),
      change('d2', 'c1', {
        changes: [of('add', { root: 'root0', path: 'x' }), of('add', { root: 'root1', path: 'y' })],
        patch: { format: 'git_patch', text: 'y' },
      }),
      change('d3', 'c1', { changes: [of('copy', { root: 'root0', path: 'x' }, { root: 'root9', path: 'y' })] }),
      change('d4', 'c1', { changes: [{ op: '_acme', mimeType: 'a/b', fileType: 'text' }] }),
    ],
    { workspace: { roots } },
  )
  const [update] = await told(stream)
  assert.equal(update.content, [
    {
      type: 'diff',
      changes: [
        { operation: 'move', path: 'C:\\work\\b\\c', oldPath: '/old' },
        { operation: 'add', path: CWD },
      ],
    },
    { type: 'diff', changes: [{ operation: '_acme', mimeType: 'a/b', fileType: 'text' }] },
  ])
  assert.equal(update.locations, [])
  assert.is((await lost(stream))[`${VENDOR}/redacted_root`], 3)
})

test('M19: where the recorder kept all items of a call, they are told in their order, each as the records have it', async () => {
  const items = [
    { type: 'terminal', terminalId: 't1' },
    { type: 'diff', changes: [] },
    { type: 'content', content: { type: 'text', text: 'before a redaction' } },
    { type: '_acme/chart', data: [1] },
    { type: 'terminal', terminalId: 't2' },
  ]
  const kept = { exec: { terminalId: 't1' }, native: { record: { content: items } } }
  const [update] = await history(call('a', 'c1'), result('b', 'c1', kept), change('d', 'c1'))
  assert.equal(update.content, [items[0], diff('d'), shown('b'), items[3], items[4]])
  const other = { native: { record: { content: [{ type: 'text', text: 'not of ACP' }] } } }
  assert.equal((await history(call('a', 'c1'), result('b', 'c1', other)))[0].content, [shown('b')])
})

test.run()
