/**
 * A06: a record hung on the compaction hides the kept tail.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AsrRecord } from '../../src/main.js'
import { idsOf } from '../support/collect.js'
import { call, compaction, message, note, result } from '../support/records.js'
import { streamOf } from '../support/stores.js'

const CHAIN = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6'].map((id) => message(id))

async function viewOf(records: AsrRecord[], at?: string) {
  const { stream } = await streamOf(...records)
  const view = await stream.contextView(at === undefined ? {} : { at })
  return { ...view, ids: await idsOf(view.entries()) }
}

test('A06, CORE-24: the kept tail stays in the view, whatever is hung on the compaction', async () => {
  const records = [...CHAIN, compaction('c1', 'm4'), note('n1', { parentId: 'c1' }), message('m7', { parentId: 'n1' })]
  assert.equal((await viewOf(records)).ids, ['c1', 'm5', 'm6', 'm7'])
  const again = await viewOf([...records, compaction('c2', 'm6')])
  assert.equal(again.ids, ['c2', 'm7'])
  assert.is(again.compaction?.id, 'c2')
})

test('A06, CORE-23: a compaction whose extent is nowhere, itself or on another branch is passed over and said', async () => {
  const branch = message('b1', { parentId: 'm1', head: 'b' })
  for (const throughId of ['ghost', 'c1', 'b1']) {
    const view = await viewOf([...CHAIN, branch, compaction('c1', throughId), message('m7')])
    assert.equal(view.ids, ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7'], throughId)
    assert.is(view.compaction, null)
    assert.equal(
      view.diagnostics.map(({ code, recordId, severity }) => ({ code, recordId, severity })),
      [{ code: 'compaction_bad_extent', recordId: 'c1', severity: 'kept' }],
    )
  }
})

test('A06, CORE-23: an extent may name a record that the model does not see', async () => {
  const view = await viewOf([...CHAIN.slice(0, 4), note('n1'), ...CHAIN.slice(4), compaction('c1', 'n1')])
  assert.equal(view.ids, ['c1', 'm5', 'm6'])
})

test('A06, CORE-25: a result that the extent parts from its call stays, and is named as one without a call', async () => {
  const view = await viewOf([
    message('m1'),
    call('t1', 'k1'),
    result('r1', 'k1'),
    message('m2'),
    compaction('c1', 't1'),
  ])
  assert.equal(view.ids, ['c1', 'r1', 'm2'])
  assert.equal(view.danglingResults, ['k1'])
  assert.equal(view.openCalls, [])
})

test('A06, CORE-18: of two compactions under one record each path has its own', async () => {
  const records = [...CHAIN, compaction('c1', 'm4'), compaction('c1b', 'm5', { parentId: 'm6' })]
  assert.equal((await viewOf(records, 'c1')).ids, ['c1', 'm5', 'm6'])
  assert.equal((await viewOf(records, 'c1b')).ids, ['c1b', 'm6'])
})

test('A06, CORE-21: a compaction that is sent again is one compaction', async () => {
  const { stream } = await streamOf(...CHAIN, compaction('c1', 'm4'))
  assert.is((await stream.append(compaction('c1', 'm4'))).duplicates, 1)
  assert.equal(await idsOf((await stream.contextView()).entries()), ['c1', 'm5', 'm6'])
})

test.run()
