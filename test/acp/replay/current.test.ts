/**
 * How things stand in the end: title, usage and state.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { currentState } from '../../../src/acp/replay/main.js'
import type { AsrRecord, Stream } from '../../../src/main.js'
import { collect } from '../../support/collect.js'
import { message, note, tombstone } from '../../support/records.js'
import { assertTaken, lost, streamWith, type Told, told } from './support.js'

const IDLE = { sessionUpdate: 'state_update', state: 'idle' }

function title(id: string, words: unknown, fields: object = {}): AsrRecord {
  return { type: 'session_info', id, title: words, ...fields }
}

function usage(id: string, used: unknown, fields: object = {}): AsrRecord {
  const of = { scope: 'session', cumulative: true, includesChildren: null }
  return { type: 'usage_summary', id, ...of, contextWindow: { used, size: 200 }, ...fields }
}

/** What is told behind the history, by a replay and, without the history, alone: the two must agree. */
async function current(...records: AsrRecord[]): Promise<Told[]> {
  const stream = await streamWith([message('m'), ...records])
  const updates = (await told(stream)).slice(1)
  assert.equal(await alone(stream), updates)
  return updates
}

async function alone(stream: Stream, options: object = {}): Promise<Told[]> {
  const all = await collect(currentState(stream, options))
  for (const params of all) assertTaken(params)
  return all.map(({ update }) => update)
}

test('title, usage and state come behind the history, in this order, each the latest', async () => {
  const updates = await current(
    title('a', 'old'),
    usage('b', 1),
    note('c', { state: 'running' }),
    title('d', 'new', { _meta: { k: 1 } }),
    usage('e', 2, { cost: { amount: 0.5, currency: 'EUR', more: 1 } }),
    note('f', { stopReason: 'end_turn' }),
  )
  assert.equal(updates, [
    { sessionUpdate: 'session_info_update', title: 'new', _meta: { k: 1 } },
    { sessionUpdate: 'usage_update', used: 2, size: 200, cost: { amount: 0.5, currency: 'EUR' } },
    { ...IDLE, stopReason: 'end_turn' },
  ])
})

test('M22: the state is always told, and is idle where the stream has none', async () => {
  assert.equal(await current(), [IDLE])
  assert.equal(await told(await streamWith([])), [IDLE])
  assert.equal(await alone(await streamWith([])), [IDLE])
})

test('M22: what ran when the stream ended does not run in a replay; marks of the recorder are no states', async () => {
  assert.equal(await current(note('a', { state: 'running' })), [IDLE])
  assert.equal(await current(note('a', { stopReason: 'cancelled' }), note('b', { state: 'ended' })), [
    { ...IDLE, stopReason: 'cancelled' },
  ])
  assert.equal(await current(note('a', { state: 'requires_action' })), [{ ...IDLE, state: 'requires_action' }])
  assert.equal(await current(note('a', { state: 'requires_action' }), note('b', { state: 'ended' })), [IDLE])
  assert.equal(await current(note('a', { state: 'ended' }), note('b', { state: '_acme' })), [
    { ...IDLE, state: '_acme' },
  ])
})

test('an error is told with the stop reason that has one', async () => {
  const error = { code: -32000, message: 'no' }
  assert.equal(await current(note('a', { stopReason: 'error', error })), [{ ...IDLE, stopReason: 'error', error }])
  assert.equal(await current(note('a', { stopReason: 'end_turn', error })), [{ ...IDLE, stopReason: 'end_turn' }])
  assert.equal(await current(note('a', { stopReason: 'error', error: 'no' })), [{ ...IDLE, stopReason: 'error' }])
})

test('a title that was cleared is told as cleared; one of a wrong kind is none', async () => {
  assert.equal(await current(title('a', 'x'), title('b', null), title('c', 7)), [
    { sessionUpdate: 'session_info_update', title: null },
    IDLE,
  ])
})

test('usage that is not of the session as a whole, or has no context window, is not told', async () => {
  const updates = await current(
    usage('a', 5),
    usage('b', 6, { scope: 'turn' }),
    usage('c', 7, { cumulative: false }),
    usage('d', -1),
    { type: 'usage_summary', id: 'e', inputTokens: 3 },
  )
  assert.equal(updates, [{ sessionUpdate: 'usage_update', used: 5, size: 200 }, IDLE])
})

test('a cost that ACP does not take is left out', async () => {
  const [update] = await current(usage('a', 5, { cost: { amount: 1, currency: 'credits' } }))
  assert.equal(update, { sessionUpdate: 'usage_update', used: 5, size: 200 })
})

test('revisions and tombstones count for what is current too, and so does where the path ends', async () => {
  const records = [
    title('a', 'one'),
    title('b', 'two', { supersedes: 'a' }),
    title('c', 'dead'),
    tombstone('d', 'c'),
    message('x', { parentId: 'a', head: 'side' }),
    title('y', 'aside', { head: 'side' }),
  ]
  assert.equal((await current(...records.slice(0, 4)))[0], { sessionUpdate: 'session_info_update', title: 'two' })
  const stream = await streamWith(records)
  const titles = async (options: object) => [
    (await told(stream, options)).at(-2)?.title,
    (await alone(stream, options)).at(-2)?.title,
  ]
  assert.equal(await titles({ head: 'side' }), ['aside', 'aside'])
  assert.equal(await titles({ at: 'a' }), ['one', 'one'])
})

test('ASR-731: what is not current any more is said to be lost', async () => {
  const stream = await streamWith([
    title('a', 'old'),
    title('b', 'new'),
    usage('c', 1),
    usage('d', 2),
    { type: 'usage_summary', id: 'e', scope: 'call' },
    note('f'),
    note('g', { state: 'running' }),
    note('h', { state: 'ended' }),
  ])
  assert.equal(await lost(stream), {
    '_org.agent-session.acp/title_history': 1,
    state: 3,
    usage: 2,
  })
})

test.run()
