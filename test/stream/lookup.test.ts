import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { memoryLocation, openStore } from '../../src/main.js'
import { defaultPosition } from '../../src/stream/place/lookup.js'
import { sameButAssigned } from '../../src/stream/place/staging.js'
import type { StoredStream } from '../../src/stream/stream.js'
import { collect } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { header } from '../support/records.js'
import { streamOf } from '../support/stores.js'

test('only an id that is r and a position can be a default one', () => {
  assert.equal(['r1', 'r42', 'r999999999999999'].map(defaultPosition), [1, 42, 999_999_999_999_999])
  for (const id of ['r0', 'r01', 'R1', 'r', 'r1.1', ' r1', 'r1 ', 'r-1', 'r1e3', '1', 'r9999999999999999'])
    assert.is(defaultPosition(id), 0, id)
})

test('CORE-21: a record is the same when it leaves out seq, head or id, and not when it says them otherwise', () => {
  const stored = { type: 'x', seq: 5, id: 'a', head: 'side', n: 1 }
  for (const given of [
    stored,
    { type: 'x', n: 1 },
    { n: 1, type: 'x', id: 'a' },
    { type: 'x', n: 1, seq: 5, head: 'side' },
  ]) {
    assert.is(sameButAssigned(given, stored), true)
  }
  for (const given of [
    { type: 'x', n: 1, seq: 6 },
    { type: 'x', n: 1, head: 'primary' },
    { type: 'x' },
    { type: 'x', n: 1, m: 1 },
  ]) {
    assert.is(sameButAssigned(given, stored), false)
  }
  assert.is(sameButAssigned({ type: 'x', id: 'a', head: 'side' }, { type: 'x', seq: 1, id: 'a' }), false)
})

test('CORE-4: assigned ids never meet, whatever seq or id the records bring', async () => {
  const { stream } = await streamOf(
    { type: 'x', seq: 1 },
    { type: 'x', seq: 1 },
    { type: 'x' },
    { type: 'x', id: 'r6' },
    { type: 'x', seq: 3 },
    { type: 'x' },
    { type: 'x', seq: 1 },
    { type: 'x', id: 'r9.1' },
    { type: 'x', seq: 6 },
  )
  const ids = (await collect(stream.records())).map(({ id }) => id)
  assert.equal(ids, ['r1', 'r1.1', 'r3', 'r6', 'r3.1', 'r6.1', 'r1.2', 'r9.1', 'r6.2'])
  for (const [i, id] of ids.entries()) assert.is(await stream.position(id), i + 1)
})

test('CORE-4: assigned ids do not meet after reopening either', async () => {
  const location = memoryLocation()
  for (let n = 0; n < 12; n++) {
    const store = await openStore(location)
    const stream = n === 0 ? await store.createStream(header()) : await store.stream('s')
    await stream.append({ type: 'x', seq: n % 3 })
    await store.close()
  }
  const stream = await (await openStore(location)).stream('s')
  const ids = (await collect(stream.records())).map(({ id }) => id)
  assert.is(new Set(ids).size, 12)
  assert.equal(ids.slice(0, 6), ['r0', 'r1', 'r2', 'r0.1', 'r1.1', 'r2.1'])
})

test('CORE-4: a record that claims the id that another got by default is a conflict', async () => {
  const { stream } = await streamOf({ type: 'x', n: 1 }, { type: 'x', n: 2 })
  await fails('ASR_ID_CONFLICT', () => stream.append({ type: 'x', id: 'r2' }))
  assert.is((await stream.append({ type: 'x', id: 'r2', n: 2 })).duplicates, 1)
})

test('CORE-21: ids of a page that a look-up read half written are found once it is whole', async () => {
  const location = memoryLocation()
  const withId = (n: number) => ({ type: 'message', role: 'user', id: `id-${n}`, content: [] })
  const some = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => withId(from + i))
  const before = await openStore(location)
  await (await before.createStream(header())).append(some(0, 100))
  await before.close()
  const store = await openStore(location)
  const stream = await store.stream('s')
  assert.is((await stream.get('id-50'))?.id, 'id-50')
  await stream.append(some(100, 5_000))
  await (stream as StoredStream).core.flushAll()
  assert.is((await stream.get('id-3000'))?.id, 'id-3000')
  assert.is((await stream.append(withId(3_000))).duplicates, 1)
  await store.close()
})

test.run()
