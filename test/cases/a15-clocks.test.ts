/**
 * A15: two clocks, and whoever sorts by them gets answers before questions.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { collect, idsOf } from '../support/collect.js'
import { message } from '../support/records.js'
import { copied, reopened, streamOf } from '../support/stores.js'

const RECORDS = [
  message('msg_0009', { ts: 900_000 }),
  message('msg_0001', { ts: 100_000 }),
  message('msg_0005', { ts: 50 }),
  message('no-clock'),
  message('future', { ts: '2031-01-01T00:00:00Z' }),
  message('seconds', { ts: 1_700_000_000 }),
  message('no-date', { ts: 'yesterday' }),
]
const IDS = RECORDS.map(({ id }) => id)

test('A15, CORE-6: order is the order of appending; ids and clocks sort nothing', async () => {
  const memory = await streamOf(...RECORDS)
  const { stream } = await reopened(memory)
  assert.equal(await idsOf(stream.records()), IDS)
  assert.equal(await idsOf(stream.records({ reverse: true })), IDS.toReversed())
  assert.equal(await idsOf((await stream.contextView()).entries()), IDS)
  assert.equal(await stream.heads(), [{ name: 'primary', recordId: 'no-date', pos: 7 }])
  const copy = await copied(stream)
  assert.equal(await idsOf(copy.stream.records()), IDS)
})

test('A15, CORE-4: whatever stands in ts is kept', async () => {
  const { stream } = await streamOf(...RECORDS)
  const stored = await collect(stream.records())
  assert.equal(
    stored.map(({ ts }) => ts),
    RECORDS.map(({ ts }) => ts),
  )
})

test('A15: a stream was updated when its last record with a ts as text says, or it is not known', async () => {
  const { store, stream } = await streamOf(message('m1', { ts: 5 }))
  assert.is((await collect(store.streams()))[0].updatedAt, null)
  await stream.append([message('m2', { ts: '2031-01-01T00:00:00Z' }), message('m3', { ts: '2020-01-01T00:00:00Z' })])
  await stream.append(message('m4'))
  assert.is((await collect(store.streams()))[0].updatedAt, '2020-01-01T00:00:00Z')
})

test.run()
