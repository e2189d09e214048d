/**
 * What the comparison of two streams says: what is equal, what is left out, and where they differ.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Comparison } from '../../../src/acp/equivalence/api.js'
import { compareContextViews } from '../../../src/acp/equivalence/compare.js'
import type { AsrRecord, Stream } from '../../../src/main.js'
import { fails } from '../../support/fails.js'
import { call, compaction, header, message, note, result, text, tombstone } from '../../support/records.js'
import { openMemory, streamOf } from '../../support/stores.js'

const VENDOR = '_org.agent-session.acp'

async function stream(...records: AsrRecord[]): Promise<Stream> {
  return (await streamOf(...records)).stream
}

async function compared(a: AsrRecord[], b: AsrRecord[]): Promise<Comparison> {
  return compareContextViews(await stream(...a), await stream(...b))
}

/** What was left out of the first stream: how often, and where first. */
function leftOutOfA({ leftOut }: Comparison): unknown[] {
  return leftOut.flatMap(({ category, a }) => (a === undefined ? [] : [`${category} ${a.count} ${a.recordId}`]))
}

const user = (id: string, fields: object = {}): AsrRecord => message(id, { messageId: id, ...fields })
const agent = (id: string, content: unknown): AsrRecord => message(id, { messageId: id, role: 'assistant', content })

test('ASR-732: a stream is equal to itself, and to one whose records say the same under other ids', async () => {
  const records = [user('m1'), call('t', 'c1', { input: { a: 1 } }), result('u', 'c1'), agent('m2', text('done'))]
  const others = records.map((record, index) => ({ ...record, id: `other${index}`, ts: '2026-01-01T00:00:00Z' }))
  const { equal, compared: count, differences, differing, leftOut } = await compared(records, others)
  assert.equal([equal, count, differences, differing, leftOut], [true, 3, [], 0, []])
})

test('ASR-732: what an entity says in one stream and not in the other is named by records and JSON pointers', async () => {
  const one = [call('t', 'c1', { input: { a: 1 } }), result('u', 'c1', { raw: [1] })]
  const other = [call('x', 'c1', { input: { a: 2 } }), result('y', 'c1', { raw: [1, 2], status: 'failed' })]
  const { equal, differences, differing } = await compared(one, other)
  assert.equal([equal, differing], [false, 1])
  const about = { kind: 'tool_call', id: 'c1', what: 'value' }
  assert.equal(differences, [
    { ...about, pointer: '/rawInput/a', a: { recordId: 't', value: 1 }, b: { recordId: 'x', value: 2 } },
    {
      ...about,
      pointer: '/result/status',
      a: { recordId: 'u', value: 'completed' },
      b: { recordId: 'y', value: 'failed' },
    },
    {
      ...about,
      pointer: '/result/content/0/content/text',
      a: { recordId: 'u', value: 'u' },
      b: { recordId: 'y', value: 'y' },
    },
    { ...about, pointer: '/result/rawOutput/1', a: { recordId: 'u' }, b: { recordId: 'y', value: 2 } },
  ])
})

test('ASR-732: what is in one stream alone, and what stands elsewhere, is named', async () => {
  const one = [user('m1'), user('m2'), user('m3'), user('m4')]
  const other = [user('m1'), user('m3'), user('m2'), user('m5')]
  const { differences } = await compared(one, other)
  assert.equal(
    differences.map(({ what, id, a, b }) => [what, id, a?.recordId, b?.recordId]),
    [
      ['only_in_a', 'm4', 'm4', undefined],
      ['only_in_b', 'm5', undefined, 'm5'],
      ['order', 'm2', 'm2', 'm2'],
      ['order', 'm3', 'm3', 'm3'],
    ],
  )
})

test('ASR-732: no more differences are told than asked for, and how many there are is said', async () => {
  const many = (role: string): AsrRecord[] =>
    Array.from({ length: 30 }, (_, n) => message(`m${n}`, { messageId: `m${n}`, role }))
  const [a, b] = [await stream(...many('user')), await stream(...many('assistant'))]
  const { differences, differing } = await compareContextViews(a, b, { limit: 7 })
  assert.equal([differences.length, differing], [7, 60])
})

test('CORE-29: a user and an agent may have one message id, and are two entities', async () => {
  const { equal, compared: count } = await compared(
    [user('m'), { ...agent('n', text('m')), messageId: 'm' }],
    [user('m')],
  )
  assert.equal([equal, count], [false, 1])
})

test('CORE-29, ASR-727: a message that mixes reasoning with other parts equals its thoughts and the message apart', async () => {
  const mixed = agent('m', [
    { type: 'reasoning', text: 'first' },
    { type: 'text', text: 'yes' },
    { type: 'reasoning', summary: ['a', 'b'] },
    { type: 'refusal', refusal: 'but no' },
  ])
  const apart = [
    agent('m#thought-0', [{ type: 'reasoning', text: 'first' }]),
    agent('m#thought-1', [{ type: 'reasoning', text: 'a\n\nb' }]),
    agent('m', [...text('yes'), ...text('but no')]),
  ]
  const { equal, compared: count } = await compared([mixed], apart)
  assert.equal([equal, count], [true, 3])
})

test('CORE-29: an empty message stays, and is not the same as none', async () => {
  assert.is((await compared([agent('m', [])], [])).equal, false)
  assert.ok((await compared([agent('m', [])], [{ type: 'message', id: 'm', messageId: 'm', role: 'assistant' }])).equal)
})

test('CORE-29, ASR-728: statuses are compared as ACP tells them, and what is shown before what the model saw', async () => {
  const shown = { displayContent: text('shown') }
  for (const [status, other, equal] of [
    ['denied', 'failed', true],
    ['interrupted', 'cancelled', true],
    ['unknown', 'paused', true],
    ['_acme/x', '_acme/x', true],
    ['_acme/x', 'unknown', false],
    ['completed', 'failed', false],
  ] as const) {
    const one = [call('t', 'c'), result('u', 'c', { status, ...shown })]
    const two = [call('t', 'c'), result('u', 'c', { status: other, content: text('shown') })]
    assert.is((await compared(one, two)).equal, equal, `${status} ${other}`)
  }
})

test('CORE-25: a result closes its call once, a partial one leaves it open', async () => {
  const growing = [call('t', 'c'), result('p', 'c', { status: 'partial' }), result('u', 'c', { status: 'failed' })]
  const comparison = await compared(
    [...growing, result('late', 'c')],
    [call('t', 'c'), result('u', 'c', { status: 'failed' })],
  )
  assert.ok(comparison.equal)
  assert.equal(leftOutOfA(comparison), [`${VENDOR}/unpaired_result 1 late`])
})

test('CORE-29: a result that is not final and holds nothing is left out, as a recorder has nothing to write for it', async () => {
  const empty = { content: undefined, displayContent: [] as unknown[] }
  const one = [
    call('t', 'c'),
    { type: 'tool_result', id: 'u', callId: 'c', status: 'unknown', displayContent: empty.displayContent },
  ]
  const comparison = await compared(one, [call('t', 'c')])
  assert.ok(comparison.equal)
  assert.equal(leftOutOfA(comparison), [`${VENDOR}/empty_result 1 u`])
})

test('CORE-29: instructions, messages between sessions, other roles, opaque reasoning and what has no call are left out', async () => {
  const one = [
    { type: 'instructions', id: 'i', text: 'x' },
    user('m', { origin: 'inter_session' }),
    message('s', { role: 'system' }),
    agent('o', [{ type: 'reasoning', opaque: 'zzz' }]),
    result('u', 'nobody'),
    { type: 'file_change', id: 'f', cause: { callId: 'nobody' }, changes: [] },
    user('kept', { content: [...text('kept'), { type: 'weird' }] }),
  ]
  const comparison = await compared(one, [user('kept')])
  assert.ok(comparison.equal)
  assert.equal(leftOutOfA(comparison), [
    'instructions 1 i',
    `${VENDOR}/inter_session 1 m`,
    `${VENDOR}/message_role 1 s`,
    `${VENDOR}/content 1 kept`,
    'reasoning 1 o',
    'file_change 1 f',
    `${VENDOR}/unpaired_result 1 u`,
  ])
})

test('CORE-29: a message for the user alone is left out on both sides, also where the other does not say so', async () => {
  const comparison = await compared([user('m', { audience: 'user' }), user('n')], [user('m'), user('n')])
  assert.equal([comparison.equal, comparison.compared], [true, 1])
  assert.equal(leftOutOfA(comparison), [`${VENDOR}/message_audience 1 m`])
})

test('CORE-29: of entities that share one ACP id the last counts, where the first stands', async () => {
  const one = [user('m'), user('n'), { ...user('m'), id: 'again', content: text('last') }]
  const comparison = await compared(one, [{ ...user('m'), content: text('last') }, user('n')])
  assert.ok(comparison.equal)
  assert.equal(leftOutOfA(comparison), [`${VENDOR}/shared_id 1 again`])
})

test('CORE-28: the view begins at the compaction in force, and what it keeps from before is left out', async () => {
  const after = [compaction('k', 'm1', { compactionId: 'k', summary: text('so far') }), user('m4')]
  const one = [user('m1'), user('m2'), user('m3'), ...after]
  const other = [user('n'), compaction('x', 'n', { compactionId: 'k', summary: text('so far') }), user('m4')]
  const comparison = await compared(one, other)
  assert.equal([comparison.equal, comparison.compared], [true, 2])
  assert.equal(leftOutOfA(comparison), [`${VENDOR}/compaction_extent 2 k`])
})

test('CORE-28: a compaction that did not complete, and one that is dead, begin no view', async () => {
  const one = [user('m1'), compaction('k', 'm1', { compactionId: 'k', status: 'failed' }), user('m2')]
  const dead = [user('m1'), compaction('k', 'm1', { compactionId: 'k' }), user('m2'), tombstone('d', 'k')]
  assert.ok((await compared(one, dead)).equal)
  assert.ok((await compared(one, [user('m1'), user('m2')])).equal)
})

test('ASR-732: only what is live on the path counts, each entity in force at its place', async () => {
  const one = [
    user('m1'),
    user('gone'),
    user('m2'),
    { ...user('m1'), id: 'r', content: text('new'), supersedes: 'm1' },
    tombstone('d', 'gone'),
  ]
  assert.ok((await compared(one, [{ ...user('m1'), content: text('new') }, note('s'), user('m2')])).equal)
})

test('ASR-732: other heads and records can be compared, and what is not there is said', async () => {
  const both = await stream(user('m1'), user('m2'), user('m3', { parentId: 'm1', head: 'side' }))
  assert.ok((await compareContextViews(both, await stream(user('m1'), user('m3')), { a: { head: 'side' } })).equal)
  assert.ok((await compareContextViews(both, both, { a: { at: 'm1' }, b: { at: 'm1' } })).equal)
  assert.is((await compareContextViews(both, both, { a: { head: 'side' } })).equal, false)
  await fails('ASR_NOT_FOUND', () => compareContextViews(both, both, { a: { head: 'ghost' } }))
  await fails('ASR_NOT_FOUND', () => compareContextViews(both, both, { b: { at: 'ghost' } }))
})

test('ASR-729, ASR-732: file operations are compared by absolute paths; below a redacted root they are left out', async () => {
  const change = (root: string): AsrRecord => ({
    type: 'file_change',
    id: 'f',
    cause: { callId: 'c' },
    changes: [{ op: 'modify', path: { root, path: 'a.ts' } }],
    status: 'applied',
  })
  const with_ = async (roots: unknown[], ...records: AsrRecord[]): Promise<Stream> => {
    const { store } = await openMemory()
    const made = await store.createStream(header('s', { workspace: { roots } }))
    await made.append([call('t', 'c'), result('u', 'c'), ...records])
    return made
  }
  const here = await with_([{ id: 'root0', path: '/w' }], change('root0'))
  const there = await with_(
    [
      { id: 'x', path: '/v' },
      { id: 'y', path: '/w' },
    ],
    change('y'),
  )
  assert.ok((await compareContextViews(here, there)).equal)
  const elsewhere = await with_([{ id: 'root0', path: '/v' }], change('root0'))
  const { differences } = await compareContextViews(here, elsewhere)
  assert.equal(
    differences.map(({ pointer, a, b }) => [pointer, a, b]),
    [['/changes/0/changes/0/path', { recordId: 'f', value: '/w/a.ts' }, { recordId: 'f', value: '/v/a.ts' }]],
  )
  const redacted = await with_([{ id: 'root0', path: null }], change('root0'))
  const comparison = await compareContextViews(redacted, await with_([]))
  assert.ok(comparison.equal)
  assert.equal(leftOutOfA(comparison), [`${VENDOR}/redacted_root 1 f`])
})

test('compareContextViews stops when it is told to', async () => {
  const one = await stream(user('m1'))
  await fails('ASR_ABORTED', () => compareContextViews(one, one, { signal: AbortSignal.abort() }))
})

test.run()
