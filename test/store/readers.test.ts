/**
 * Readers: stores opened for reading only, beside a writer of the same process, at one place in memory.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { memoryLocation, openStore, type Stream } from '../../src/main.js'
import type { StoredStream } from '../../src/stream/stream.js'
import { inNewSegment } from '../log/handmade.js'
import { answersOf } from '../stream/sample-stream.js'
import { collect, idsOf, linesOf } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { onlyLogFile, overwrite } from '../support/logs.js'
import { header, message } from '../support/records.js'
import type { MemoryLocation } from '../support/stores.js'

async function writing(location: MemoryLocation = memoryLocation()) {
  const store = await openStore(location)
  const stream = (await store.createStream(header())) as StoredStream
  return { location, store, stream }
}

/** A reader as another process has it: the same log, and an index of its own. */
function reading({ log }: MemoryLocation) {
  return openStore({ ...memoryLocation(), log }, { readOnly: true })
}

test('a reader sees what was appended since, at each question, with all that follows from it', async () => {
  const { location, store, stream } = await writing()
  const reader = await reading(location)
  const read = await reader.stream('s')
  assert.is(read.length, 0)
  for (let n = 1; n <= 30; n++) {
    await stream.append([message(`a${n}`), message(`b${n}`, { supersedes: `a${n}` })])
    if (n % 10 === 0) await stream.setHead('side', `a${n}`)
    assert.equal(await read.get(`b${n}`), await stream.get(`b${n}`))
    assert.equal(await answersOf(reader), await answersOf(store))
  }
  await stream.reviseHeader({ more: 1 })
  assert.equal(await read.header(), await stream.header())
  await reader.close()
})

test('a reader goes over into new segments, also when it has missed some', async () => {
  const { location, stream } = await writing()
  const reader = await reading(location)
  const read = await reader.stream('s')
  await stream.append(message('m1'))
  assert.is((await read.get('m1'))?.id, 'm1')
  for (let n = 2; n <= 5; n++) await inNewSegment(stream.core.log, () => stream.append(message(`m${n}`)))
  assert.equal(await idsOf(read.records()), ['m1', 'm2', 'm3', 'm4', 'm5'])
  assert.equal(await linesOf(read.exportJsonl()), await linesOf(stream.exportJsonl()))
})

test('a reader sees an append whole or not at all, wherever the writer is in it', async () => {
  const { location, store, stream } = await writing()
  await stream.append(message('m1'))
  const before = (await onlyLogFile(location.log)).bytes
  await stream.append([message('m2'), message('m3'), message('m4')])
  await store.close()
  const { name, bytes } = await onlyLogFile(location.log)
  const log = new MemoryStorage()
  log.append(name, before)
  const reader = await openStore({ ...memoryLocation(), log }, { readOnly: true })
  const read = await reader.stream('s')
  for (let size = before.length; size < bytes.length; size++) {
    assert.equal(await idsOf(read.records()), ['m1'], `${size}`)
    assert.is(await read.get('m2'), undefined)
    log.append(name, bytes.subarray(size, size + 1))
  }
  assert.equal(await idsOf(read.records()), ['m1', 'm2', 'm3', 'm4'])
})

test('CORE-10: a reader that saw a half append is not led astray when another one takes its place', async () => {
  const shaped = (n: number, key: string) => ({ type: 'x', [key]: n, [`${key}2`]: n })
  const { location, store, stream } = await writing()
  await stream.append(message('m1'))
  await stream.append([shaped(1, 'old'), shaped(2, 'old'), shaped(3, 'old')])
  await store.close()
  const { name, bytes } = await onlyLogFile(location.log)
  location.log.truncate(name, bytes.length - 5)
  const reader = await reading(location)
  const read = await reader.stream('s')
  assert.is(read.length, 1)
  const recovering = await openStore({ ...memoryLocation(), log: location.log })
  const again = await recovering.stream('s')
  assert.is(again.length, 1)
  for (let n = 0; n < 3; n++) await again.append([shaped(n, 'new'), shaped(n, 'other')])
  assert.equal(await collect(read.records()), await collect(again.records()))
})

test('a follower is shown each record once, in order, and what comes while it looks', async () => {
  const { location, stream } = await writing()
  await stream.append([message('m1'), message('m2')])
  const reader = await reading(location)
  const read = await reader.stream('s')
  const seen: string[] = []
  const stop = new AbortController()
  const following = (async () => {
    for await (const item of read.follow({ after: 1, signal: stop.signal })) {
      seen.push('record' in item ? `${item.pos} ${item.record.id}` : 'caught up')
      if (seen.length === 6) stop.abort()
    }
  })()
  for (const id of ['m3', 'm4']) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    await stream.append(message(id))
  }
  await inNewSegment(stream.core.log, () => stream.append([message('m5'), message('m6')]))
  await following
  const caughtUp = seen.indexOf('caught up')
  assert.ok(caughtUp >= 1 && caughtUp <= 5)
  assert.equal(seen.toSpliced(caughtUp, 1), ['2 m2', '3 m3', '4 m4', '5 m5', '6 m6'])
})

test('a reader of a stream that is deleted is told, and of one made anew sees the new one', async () => {
  const { location, store, stream } = await writing()
  await stream.append(message('old'))
  const reader = await reading(location)
  const read = await reader.stream('s')
  assert.is((await read.get('old'))?.id, 'old')
  await store.deleteStream('s')
  const asks = [
    () => read.get('old'),
    () => collect(read.records()),
    () => read.digest(),
    async () => (await reader.stream('s')).length,
  ]
  for (const ask of asks) await fails('ASR_STREAM_NOT_FOUND', ask)
  assert.equal(await collect(reader.streams()), [])
  const anew = await store.createStream(header())
  await anew.append(message('new'))
  const again = await reader.stream('s')
  assert.equal(await idsOf(again.records()), ['new'])
  assert.is(await again.get('old'), undefined)
  await fails('ASR_STREAM_NOT_FOUND', () => read.get('old'))
})

test('CORE-10: a log that becomes shorter under a reader is an error, not an end', async () => {
  const { location, stream } = await writing()
  for (let n = 1; n <= 5; n++) await stream.append(message(`m${n}`))
  const reader = await reading(location)
  const read = await reader.stream('s')
  assert.is(read.length, 5)
  const { name, bytes } = await onlyLogFile(location.log)
  location.log.truncate(name, bytes.length - 10)
  await fails('ASR_LOST_TAIL', () => read.get('m1'))
  await fails('ASR_LOST_TAIL', () => collect(read.follow({ after: 5 })))
})

test('CORE-10: damage that a reader comes to while it follows is told, and what stands before it is not lost', async () => {
  const { location, store, stream } = await writing()
  await stream.append(message('m1'))
  const reader = await reading(location)
  const read = await reader.stream('s')
  await stream.append(message('m2'))
  const from = (await onlyLogFile(location.log)).bytes.length
  await stream.append(message('m3'))
  await stream.append(message('m4'))
  await store.close()
  const { name, bytes } = await onlyLogFile(location.log)
  bytes[from + 70] ^= 1
  await overwrite(location.log, name, bytes)
  const seen: unknown[] = []
  const error = await fails('ASR_CORRUPT', async () => {
    for await (const item of read.follow()) seen.push('record' in item ? item.record.id : 'caught up')
  })
  assert.is(error.pos, 3)
  assert.equal(
    seen.filter((item) => item !== 'caught up'),
    ['m1', 'm2'],
  )
  assert.is((await read.get('m2'))?.id, 'm2')
  await fails('ASR_CORRUPT', () => read.get('m4'))
})

/** Every call that changes something, refused. */
async function refusesWrites(stream: Stream): Promise<void> {
  for (const write of [
    () => stream.append(message('x')),
    () => stream.setHead('side', 'm1'),
    () => stream.reviseHeader({ a: 1 }),
  ]) {
    await fails('ASR_READ_ONLY', write)
  }
}

test('a reader writes nothing, neither to the log nor to the index it is given', async () => {
  const { location, store, stream } = await writing()
  for (let n = 0; n < 50; n++) await stream.append(Array.from({ length: 100 }, () => ({ type: 'x' })))
  await stream.append(message('m1'))
  const writes: string[] = []
  const watched = <T extends object>(target: T, methods: readonly string[]): T =>
    new Proxy(target, {
      get(inner, name) {
        const value = Reflect.get(inner, name) as unknown
        if (typeof value !== 'function') return value
        if (methods.includes(String(name))) writes.push(String(name))
        return value.bind(inner)
      },
    })
  const log = watched(location.log, ['append', 'truncate', 'rename', 'remove', 'sync'])
  for (const index of [location.index, memoryLocation().index]) {
    await index.open()
    const reader = await openStore({ log, index: watched(index, ['put', 'del', 'batch', 'clear']) }, { readOnly: true })
    const read = await reader.stream('s')
    assert.is(read.length, 5_001)
    await read.get('m1')
    await refusesWrites(read)
    await fails('ASR_READ_ONLY', () => reader.createStream(header('other')))
    await fails('ASR_READ_ONLY', () => reader.deleteStream('s'))
    await fails('ASR_READ_ONLY', () => reader.rebuildIndex())
    await fails('ASR_READ_ONLY', () => reader.importJsonl(['']))
    await reader.verify()
    await reader.close()
  }
  assert.equal(writes, [])
  await store.close()
})

test.run()
