/**
 * Plans, compactions and terminals as a client is told them.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AsrRecord } from '../../../src/main.js'
import { compaction, message, text } from '../../support/records.js'
import { CWD, history, lost, streamWith, told } from './support.js'

const VENDOR = '_org.agent-session.acp'

function plan(id: string, planId: string, fields: object): AsrRecord {
  return { type: 'plan', id, planId, ...fields }
}

test('ASR-725: a plan is told once, in its latest revision, at its first place', async () => {
  const entries = [{ content: 'do', priority: 'high', status: 'pending' }]
  const done = [{ content: 'do', priority: 'high', status: 'completed' }]
  const updates = await history(
    plan('a', 'p', { planType: 'items', entries }),
    message('m'),
    plan('b', 'p', { planType: 'items', entries: done, _meta: { k: 1 } }),
  )
  assert.equal(updates[0], {
    sessionUpdate: 'plan_update',
    plan: { type: 'items', planId: 'p', entries: done },
    _meta: { k: 1 },
  })
  assert.is(updates.length, 2)
})

test('M8: each kind of plan is told with its field, a vendor kind as it was kept', async () => {
  const plans = (
    await history(
      plan('a', 'p1', { planType: 'markdown', content: '# do' }),
      plan('b', 'p2', { planType: 'file', uri: 'file:///plan.md' }),
      plan('c', 'p3', {
        planType: '_acme',
        native: { record: { plan: { type: '_acme', planId: 'p3', steps: [1] } } },
      }),
      plan('d', 'p4', { entries: [{ content: 'x', priority: 'low', status: 'pending' }, { content: 'y' }] }),
    )
  ).map((update) => update.plan)
  assert.equal(plans, [
    { type: 'markdown', planId: 'p1', content: '# do' },
    { type: 'file', planId: 'p2', uri: 'file:///plan.md' },
    { type: '_acme', planId: 'p3', steps: [1] },
    { type: 'items', planId: 'p4', entries: [{ content: 'x', priority: 'low', status: 'pending' }] },
  ])
})

test('a plan that has not what its kind demands is left out and said to be', async () => {
  const stream = await streamWith([
    plan('a', 'p1', { planType: 'markdown' }),
    plan('b', 'p2', { planType: 'file', uri: 'nowhere' }),
    plan('c', 'p3', { planType: 7 }),
  ])
  assert.is((await told(stream)).length, 1)
  assert.is((await lost(stream))[`${VENDOR}/content`], 3)
})

test('M9: a plan that was removed is told again, and what removed it is said to be left out', async () => {
  const type = 'org.agent-session.acp/plan_removed'
  const stream = await streamWith([
    plan('a', 'p', { entries: [] }),
    { type, id: 'b', native: { record: { sessionUpdate: 'plan_removed', planId: 'p' } } },
  ])
  assert.equal((await told(stream))[0].plan, { type: 'items', planId: 'p', entries: [] })
  assert.equal(await lost(stream), { [`${VENDOR}/unmapped`]: 1 })
})

test('a compaction is told with its status, or as completed, and with its summary as far as it is none that is opaque', async () => {
  const [a, b, c] = await history(
    { type: 'compaction', id: 'a', compactionId: 'k1', status: 'failed', error: 'no' },
    { type: 'compaction', id: 'b', compactionId: 'k2', summary: 'so far' },
    compaction('c', undefined, {
      compactionId: 'k3',
      status: 'partial',
      summary: [...text('x'), { type: 'opaque', data: 'secret' }],
      _meta: { k: 1 },
    }),
  )
  const sessionUpdate = 'compaction_update'
  assert.equal(a, { sessionUpdate, compactionId: 'k1', status: 'failed', error: 'no' })
  assert.equal(b, { sessionUpdate, compactionId: 'k2', status: 'completed', summary: text('so far') })
  assert.equal(c, { sessionUpdate, compactionId: 'k3', status: 'in_progress', summary: text('x'), _meta: { k: 1 } })
})

test('CORE-28: all of the path is told, compacted or not; an extent that keeps a tail is said to be lost', async () => {
  const records = [message('a'), message('b')]
  const extent = async (...all: AsrRecord[]): Promise<number | undefined> =>
    (await lost(await streamWith(all)))[`${VENDOR}/compaction_extent`]
  assert.is((await history(...records, compaction('c', 'a'))).length, 3)
  assert.is(await extent(...records, compaction('c', 'a')), 1)
  assert.is(await extent(...records, compaction('c', 'b')), undefined)
  assert.is(await extent(...records, compaction('c')), undefined)
  assert.is(await extent(...records, compaction('c', 'c')), undefined)
  assert.is(await extent(...records, { type: 'state', id: 's', state: 'idle' }, compaction('c', 's')), undefined)
  const revised = message('b2', { supersedes: 'b' })
  assert.is(await extent(...records, compaction('c', 'b'), revised), undefined)
  assert.is(await extent(...records, message('a2', { supersedes: 'a' }), compaction('c', 'a2')), undefined)
})

test('ASR-726: a terminal is told as it stood: what ran in it, its bytes, and how it ended', async () => {
  const terminal = (id: string, fields: object): AsrRecord => ({
    type: 'terminal',
    id,
    terminalId: `t-${id}`,
    ...fields,
  })
  const stream = await streamWith([
    terminal('a', {
      command: 'ls',
      cwd: { root: 'root0', path: 'src' },
      status: 'exited',
      exitCode: 1,
      signal: 'SIGTERM',
      output: { blob: 'aGk=' },
      _meta: { k: 1 },
    }),
    terminal('b', { status: 'partial' }),
    terminal('c', { status: 'exited', exitCode: -1, output: { blob: '?' }, cwd: { root: 'gone', path: 'x' } }),
  ])
  const sessionUpdate = 'terminal_update'
  assert.equal((await told(stream)).slice(0, -1), [
    {
      sessionUpdate,
      terminalId: 't-a',
      command: 'ls',
      cwd: `${CWD}/src`,
      output: { data: 'aGk=' },
      exitStatus: { exitCode: 1, signal: 'SIGTERM' },
      _meta: { k: 1 },
    },
    { sessionUpdate, terminalId: 't-b' },
    { sessionUpdate, terminalId: 't-c', exitStatus: {} },
  ])
  const losses = await lost(stream)
  assert.equal([losses[`${VENDOR}/content`], losses[`${VENDOR}/redacted_root`]], [1, 1])
})

test('ASR-726: terminals, compactions and calls of one id are told apart', async () => {
  const updates = await history(
    { type: 'terminal', id: 'a', terminalId: 'x' },
    { type: 'tool_call', id: 'b', callId: 'x' },
    compaction('c', undefined, { compactionId: 'x' }),
    plan('d', 'x', { entries: [] }),
  )
  assert.is(updates.length, 4)
  assert.not(updates.some((update) => Object.values(update).includes(null)))
})

test.run()
