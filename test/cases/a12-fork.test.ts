/**
 * A12: a fork copies the old records and points to them as well, and readers count them twice.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AsrRecord, Store, Stream } from '../../src/main.js'
import { collect, idsOf } from '../support/collect.js'
import { compaction, header, message } from '../support/records.js'
import { copied, openMemory } from '../support/stores.js'

const INHERITED = ['m1', 'm2', 'c1', 'm3']

/** A stream of its own, with copies of what the other has on primary's path (CORE-27). */
async function fork(store: Store, parent: Stream, sessionId: string): Promise<Stream> {
  const recordId = (await parent.heads())[0].recordId
  const lineage = { forkedFrom: { session: parent.sessionId, recordId }, inherits: { throughId: recordId } }
  const stream = await store.createStream(header(sessionId, { lineage }))
  const records: AsrRecord[] = await collect((await parent.activePath()).records())
  const copies = records.map((record) => ({
    ...record,
    copiedFrom: { session: parent.sessionId, id: record.id, proof: 'id' },
  }))
  await stream.append(copies)
  return stream
}

async function family() {
  const { store } = await openMemory()
  const parent = await store.createStream(header('P'))
  await parent.append([message('m1'), message('m2'), compaction('c1', 'm1'), message('m3')])
  const first = await fork(store, parent, 'F')
  await first.append(message('f4'))
  const second = await fork(store, first, 'G')
  await second.append(message('g5'))
  return { store, parent, first, second }
}

test('A12, CORE-27: a fork of a fork has each inherited record once, and one compaction', async () => {
  const { second } = await family()
  assert.equal(await idsOf(second.records()), [...INHERITED, 'f4', 'g5'])
  assert.equal(await collect((await second.activePath()).ids()), [...INHERITED, 'f4', 'g5'])
  assert.is((await second.entity('compaction', 'c1', { anywhere: true })).length, 1)
  const { stream } = await copied(second)
  assert.equal(await idsOf((await stream.contextView()).entries()), ['c1', 'm2', 'm3', 'f4', 'g5'])
  assert.is(await stream.digest(), await second.digest())
})

test('A12, CORE-27: writing to forks leaves the parent as it was', async () => {
  const { parent } = await family()
  assert.equal(await idsOf(parent.records()), INHERITED)
})

test('A12, CORE-27: a fork lives on without its parent', async () => {
  const { store, first } = await family()
  await store.deleteStream('P')
  assert.equal(await idsOf((await first.contextView()).entries()), ['c1', 'm2', 'm3', 'f4'])
  assert.equal((await collect(store.streams())).map(({ sessionId }) => sessionId).sort(), ['F', 'G'])
})

test.run()
