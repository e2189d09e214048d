/**
 * A07: several calls in one turn; a result is lost, or comes in another order, and the session is dead.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { idsOf } from '../support/collect.js'
import { call, message, result } from '../support/records.js'
import { reopened, streamOf } from '../support/stores.js'

const CALLS = ['1', '2', '3'].map((n) => call(`t${n}`, `k${n}`))

test('A07, CORE-25: results are paired by callId, the open call is named, nothing is invented', async () => {
  const memory = await streamOf(message('m1'), ...CALLS, result('r2', 'k2'), result('r1', 'k1'), message('m2'))
  const { stream } = await reopened(memory)
  const view = await stream.contextView()
  assert.equal(await idsOf(view.entries()), ['m1', 't1', 't2', 't3', 'r2', 'r1', 'm2'])
  assert.equal(view.openCalls, ['k3'])
  assert.equal(view.danglingResults, [])
})

test('A07, CORE-25: a result whose call is nowhere stays in the view, and is named', async () => {
  const { stream } = await streamOf(message('m1'), call('t1', 'k1'), result('r9', 'k9'), result('r1', 'k1'))
  const view = await stream.contextView()
  assert.equal(await idsOf(view.entries()), ['m1', 't1', 'r9', 'r1'])
  assert.equal(view.danglingResults, ['k9'])
  assert.equal(view.openCalls, [])
})

test('A07, CORE-16: calls stored as siblings lie on branches; the path has its own, and the others are found', async () => {
  const siblings = CALLS.map((record) => ({ ...record, parentId: 'm1' }))
  const { stream } = await streamOf(
    message('m1'),
    ...siblings,
    result('r2', 'k2', { parentId: 't2' }),
    result('r1', 'k1', { parentId: 't1' }),
    message('m2', { parentId: 'r1' }),
  )
  const view = await stream.contextView()
  assert.equal(await idsOf(view.entries()), ['m1', 't1', 'r1', 'm2'])
  assert.equal(view.openCalls, [])
  assert.equal(
    (await stream.leaves()).map(({ recordId }) => recordId),
    ['t3', 'r2', 'm2'],
  )
  assert.is(stream.length, 7)
})

test.run()
