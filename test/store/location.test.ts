import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryPlace, memoryLocation, openStore, type StoreLocation } from '../../src/main.js'
import { message } from '../support/records.js'

test('a store opens over a place, which keeps its logs when the store is closed', async () => {
  const location = { place: new MemoryPlace(), index: memoryLocation().index }
  const store = await openStore(location)
  const stream = await store.createStream({ sessionId: 's' })
  await stream.append(message('m1'))
  const digest = await stream.digest()
  await store.close()
  for (const index of [location.index, memoryLocation().index]) {
    const later = await openStore({ ...location, index, boot: 'another' })
    assert.is(await (await later.stream('s')).digest(), digest)
    assert.equal(
      later.notices.map(({ code }) => code),
      [],
    )
    await later.close()
  }
})

test('two places share nothing', async () => {
  const store = await openStore({ place: new MemoryPlace(), index: memoryLocation().index })
  await store.createStream({ sessionId: 's' })
  assert.equal(await new MemoryPlace().list(), [])
  await store.close()
})

test('what is neither a path nor a log or a place with an index is refused', async () => {
  const { log, index } = memoryLocation()
  const place = new MemoryPlace()
  for (const given of [
    { index },
    { place },
    { log },
    { place: 1, index },
    { place, index: 'i' },
    { place: null, index },
  ]) {
    const error = await openStore(given as unknown as StoreLocation).catch((thrown: unknown) => thrown)
    assert.instance(error, TypeError)
    assert.match((error as TypeError).message, '`location` has to be a path, or a log or a place with an index')
  }
  const store = await openStore({ log, index, place: undefined } as unknown as StoreLocation)
  await store.close()
})

test.run()
