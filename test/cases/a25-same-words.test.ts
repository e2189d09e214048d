/**
 * A25: a prompt with the words of an earlier one is dropped as a repeat.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { idsOf } from '../support/collect.js'
import { message, text, tombstone } from '../support/records.js'
import { copied, importOf, streamOf } from '../support/stores.js'

const RECORDS = [
  message('u1', { parentId: null, content: text('go on') }),
  message('a1', { content: text('ok') }),
  message('u2', { content: text('go on') }),
  message('a2', { content: text('ok') }),
]
const IDS = ['u1', 'a1', 'u2', 'a2']

test('A25, CORE-21: equal words under another id are another record', async () => {
  const { stream } = await streamOf(...RECORDS)
  assert.equal(await idsOf((await stream.contextView()).entries()), IDS)
  assert.is.not(await stream.hash('u1'), await stream.hash('u2'))
  assert.equal(await idsOf((await copied(stream)).stream.records()), IDS)
  const imported = await importOf(...RECORDS)
  assert.equal([imported.report.appended, imported.report.duplicates], [4, 0])
})

test('A25, CORE-18: revising the first leaves the second as it was', async () => {
  const { stream } = await streamOf(...RECORDS, message('u1b', { supersedes: 'u1', content: text('stop') }))
  assert.equal(await idsOf((await stream.contextView()).entries()), ['u1b', 'a1', 'u2', 'a2'])
})

test('A25, CORE-19: deleting the first leaves the second as it was', async () => {
  const { stream } = await streamOf(...RECORDS, tombstone('k1', 'u1'))
  assert.equal(await idsOf((await stream.contextView()).entries()), ['a1', 'u2', 'a2'])
})

test('A25, CORE-21: records without ids are never taken for each other', async () => {
  const said = { type: 'message', role: 'user', content: text('go on') }
  const { stream } = await streamOf(said, said)
  const receipt = await stream.append([said, said])
  assert.equal(receipt, { first: 3, last: 4, appended: 2, duplicates: 0 })
  assert.equal(await idsOf(stream.records()), ['r1', 'r2', 'r3', 'r4'])
})

test.run()
