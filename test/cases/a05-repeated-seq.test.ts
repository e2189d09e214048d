/**
 * A05: one sequence number stands twice in the log, and the projection is stuck for ever.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { memoryLocation } from '../../src/main.js'
import { idsOf } from '../support/collect.js'
import { said } from '../support/fails.js'
import { message, note } from '../support/records.js'
import { importOf, openMemory, reopened } from '../support/stores.js'

const FILE = [message('m1', { seq: 1 }), message('m2', { seq: 2 }), note('n1', { seq: 2 }), message('m3', { seq: 3 })]

test('A05, CORE-4: a repeated seq is reported, kept and read, and the log goes on', async () => {
  const imported = await importOf(...FILE)
  assert.equal(said(imported.report.diagnostics), ['4 seq_not_rising'])
  const { stream } = await reopened(imported)
  await stream.append(message('m4'))
  assert.equal(await idsOf(stream.records()), ['m1', 'm2', 'n1', 'm3', 'm4'])
  assert.is((await stream.get('m4'))?.seq, 5)
  assert.equal(await idsOf((await stream.contextView()).entries()), ['m1', 'm2', 'm3', 'm4'])
})

test('A05, CORE-4: append keeps a seq that does not rise', async () => {
  const { stream } = await importOf(...FILE)
  await stream.append(message('m4', { seq: 1 }))
  await stream.append(message('m5'))
  assert.is((await stream.get('m4'))?.seq, 1)
  assert.is((await stream.get('m5'))?.seq, 6)
  assert.is(stream.length, 6)
})

test('A05, CORE-26: an index that is lost or built anew gives the same answers, and nobody has to repair anything', async () => {
  const { location, store, stream } = await importOf(...FILE)
  await stream.append(message('m4'))
  const digest = await stream.digest()
  await store.rebuildIndex()
  await store.rebuildIndex({ sessionId: 's' })
  assert.is(await (await store.stream('s')).digest(), digest)
  await store.close()

  const lost = await openMemory({ log: location.log, index: memoryLocation().index })
  const again = await lost.store.stream('s')
  assert.is(await again.digest(), digest)
  assert.equal(await again.heads(), [{ name: 'primary', recordId: 'm4', pos: 5 }])
  assert.equal(await idsOf((await again.contextView()).entries()), ['m1', 'm2', 'm3', 'm4'])
  assert.is((await lost.store.verify()).ok, true)
})

test.run()
