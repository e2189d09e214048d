/**
 * A08: two writers on one store splice their records into each other.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore, type Stream } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { header, message } from '../support/records.js'
import { openMemory, streamOf } from '../support/stores.js'
import { tempFolder } from '../support/temp.js'
import { startWriter } from '../support/writer.js'

const ENDLESS = 1e9

test('A08: a second process is told at once that the store is held, and the first goes on', async () => {
  const folder = tempFolder()
  const writer = startWriter(folder, 's', ENDLESS)
  await writer.told('10')
  const error = await fails('ASR_LOCKED', () => openStore(folder))
  assert.match(String(error.holder), String(writer.process.pid))
  const before = writer.acknowledged
  await writer.told(String(before + 50))
  await writer.kill()

  const store = await openStore(folder)
  const stream = await store.stream('s')
  assert.ok(stream.length >= writer.acknowledged, 'every acknowledged record is there')
  await seqsAreDense(stream)
  assert.is((await store.verify()).ok, true)
  await store.close()
})

test('A08: a second opening in the same process is refused too, and leaves the lock as it was', async () => {
  const folder = tempFolder()
  const store = await openStore(folder)
  await fails('ASR_LOCKED', () => openStore(folder))
  const writer = startWriter(folder, 's', 1)
  await writer.told('ASR_LOCKED')
  await store.createStream(header())
  await store.close()
  await (await openStore(folder)).close()
})

test('A08, CORE-4: appends of many callers on two streams are stored one by one, in the order of the calls', async () => {
  const { store } = await openMemory()
  const streams = [await store.createStream(header('one')), await store.createStream(header('two'))]
  const again = await store.stream('one')
  const appends = Array.from({ length: 200 }, (_, index) => [
    streams[0].append(message(`a${index}`)),
    streams[1].append(message(`b${index}`)),
    again.append(message(`c${index}`)),
  ])
  const receipts = await Promise.all(appends.flat())
  assert.is(
    receipts.every(({ appended }) => appended === 1),
    true,
  )
  await seqsAreDense(streams[0])
  await seqsAreDense(streams[1])
  assert.equal([streams[0].length, streams[1].length], [400, 200])
  const ids = (await collect(streams[1].records())).map(({ id }) => id)
  assert.equal(
    ids,
    Array.from({ length: 200 }, (_, index) => `b${index}`),
  )
})

test('A08: an append is done whenever it is asked for, also in the moment when the one before has just ended', async () => {
  for (let steps = 0; steps < 20; steps++) {
    const { stream } = await streamOf(message('m1'))
    await stream.append(message('m2'))
    for (let step = 0; step < steps; step++) await null
    const done = stream.append(message('m3')).then(() => true)
    const late = new Promise<boolean>((resolve) => setTimeout(resolve, 1000, false))
    assert.is(await Promise.race([done, late]), true, `after ${steps} steps`)
  }
})

async function seqsAreDense(stream: Stream): Promise<void> {
  const seqs = (await collect(stream.records())).map(({ seq }) => seq)
  assert.equal(
    seqs,
    Array.from({ length: stream.length }, (_, index) => index + 1),
  )
}

test.run()
