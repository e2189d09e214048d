/**
 * Logs of several segments, of which one is missing, empty or cut (CORE-10).
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { check32, name128 } from '../../src/base/hash.js'
import { saltOf, segmentFile } from '../../src/log/files/segment.js'
import { BatchBuffer } from '../../src/log/format/batch-buffer.js'
import { FLAG_END, KIND } from '../../src/log/format/frame.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { memoryLocation, openStore } from '../../src/main.js'
import type { StoredStream } from '../../src/stream/stream.js'
import { INCARNATION, inNewSegment } from '../log/handmade.js'
import { collect, idsOf } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { header, message } from '../support/records.js'
import type { MemoryLocation } from '../support/stores.js'
import { answersOf, codesOf, got, putAside, salvaged } from './sample-stream.js'

/** Records m1 … m9, three in each of three segments; closed. */
async function threeSegments(): Promise<MemoryLocation> {
  const location = memoryLocation()
  const store = await openStore(location)
  const stream = (await store.createStream(header())) as StoredStream
  const append = async (from: number) => {
    for (let n = from; n < from + 3; n++) await stream.append(message(`m${n}`))
  }
  await append(1)
  for (const from of [4, 7]) {
    await inNewSegment(stream.core.log, () => stream.append(message(`m${from}`)))
    await stream.append([message(`m${from + 1}`), message(`m${from + 2}`)])
  }
  await store.close()
  return location
}

const ids = Array.from({ length: 9 }, (_, i) => `m${i + 1}`)
const filesOf = (log: MemoryStorage) =>
  log
    .list('streams')
    .filter(({ name }) => name.endsWith('.log'))
    .map(({ name }) => name)
    .sort()
const withoutIndex = ({ log }: MemoryLocation): MemoryLocation => ({ ...memoryLocation(), log })

test('a stream of several segments gives the same answers with its index and without', async () => {
  const location = await threeSegments()
  assert.is(filesOf(location.log).length, 3)
  const store = await openStore(location)
  const expected = await answersOf(store)
  await store.close()
  const other = await openStore(withoutIndex(location))
  assert.equal(await answersOf(other), expected)
  assert.equal(other.notices, [])
  assert.is((await other.verify()).ok, true)
})

for (const missing of [0, 1]) {
  test(`CORE-10: with segment ${missing} missing its records are named as lost, and the others can be had`, async () => {
    const location = await threeSegments()
    location.log.remove(filesOf(location.log)[missing])
    const lost = ids.slice(missing * 3, missing * 3 + 3)
    for (const place of [location, withoutIndex(location)]) {
      const store = await openStore(place)
      const stream = await store.stream('s').catch(() => undefined)
      if (stream === undefined) continue
      for (const id of lost)
        assert.ok(['ASR_CORRUPT', 'ASR_IO'].includes(String(await stream.get(id).catch((error) => error.code))), id)
      await fails('ASR_CORRUPT', () => collect(stream.records())).catch(() =>
        fails('ASR_IO', () => collect(stream.records())),
      )
      const lines = await salvaged(stream)
      assert.equal(
        lines.slice(1).flatMap((line) => (line.startsWith('{"type":"gap"') ? [] : JSON.parse(line).id)),
        ids.filter((id) => !lost.includes(id)),
      )
      const gap = { from: missing * 3 + 1, to: missing * 3 + 3 }
      assert.equal(
        lines
          .flatMap((line) => (line.startsWith('{"type":"gap"') ? JSON.parse(line) : []))
          .map(({ from, to }) => ({ from, to })),
        [gap],
      )
      assert.is((await store.verify()).ok, false)
      await store.close()
    }
  })
}

test('CORE-10: with its last segment missing a stream has lost its tail', async () => {
  const location = await threeSegments()
  location.log.remove(filesOf(location.log)[2])
  const store = await openStore(location)
  const stream = await store.stream('s')
  const error = await fails('ASR_LOST_TAIL', () => stream.digest())
  assert.is(error.pos, 7)
  assert.equal([await got(stream, 'm9'), (await stream.get('m6'))?.id], ['ASR_LOST_TAIL', 'm6'])
  await store.close()
  const accepting = await openStore(location, { acceptLoss: true })
  const accepted = await accepting.stream('s')
  assert.equal(await idsOf(accepted.records()), ids.slice(0, 6))
  await accepted.append(message('next'))
  await accepting.close()
  const later = await openStore(withoutIndex(location))
  assert.equal(await idsOf((await later.stream('s')).records()), [...ids.slice(0, 6), 'next'])
})

test('CORE-10: a last segment of which nothing whole was written is put aside, and is begun anew', async () => {
  const whole = await threeSegments()
  const last = filesOf(whole.log)[2]
  const bytes = whole.log.read(last, 0, whole.log.size(last)!)
  for (let size = 0; size < 200; size += 13) {
    const { log } = await threeSegments()
    const file = filesOf(log)[2]
    log.truncate(file, size)
    const store = await openStore(withoutIndex({ ...memoryLocation(), log }))
    const stream = await store.stream('s')
    assert.is(stream.length, 6)
    assert.equal(codesOf(store.notices), size === 0 ? [] : ['torn_tail'])
    assert.is(putAside(log).length, size)
    await stream.append(message('next'))
    await store.close()
    const again = await openStore(withoutIndex({ ...memoryLocation(), log }))
    assert.equal(await idsOf((await again.stream('s')).records()), [...ids.slice(0, 6), 'next'])
    assert.is((await again.verify()).ok, true)
  }
  assert.ok(bytes.length > 200)
})

test('CORE-10: damage accepted in a middle segment takes the later ones away, and keeps all of it aside', async () => {
  const { log } = await threeSegments()
  const [, middle] = filesOf(log)
  const sizes = filesOf(log).map((file) => log.size(file)!)
  const bytes = log.read(middle, 0, sizes[1])
  bytes[bytes.length - 20] ^= 1
  log.truncate(middle, 0)
  log.append(middle, bytes)
  const store = await openStore(withoutIndex({ ...memoryLocation(), log }), { acceptLoss: true })
  const stream = await store.stream('s')
  assert.equal(await idsOf(stream.records()), ids.slice(0, stream.length))
  assert.ok(stream.length >= 4 && stream.length <= 5)
  await stream.append(message('next'))
  await store.close()
  const kept = log.list('streams').reduce((sum, { size }) => sum + size, 0)
  assert.ok(kept > sizes[0] + sizes[1] + sizes[2])
  const again = await openStore(withoutIndex({ ...memoryLocation(), log }))
  assert.is((await again.verify()).ok, true)
})

test('a stream of which deleting was interrupted half way is gone, and its session can be made again', async () => {
  const location = await threeSegments()
  const [first, second, third] = filesOf(location.log)
  for (const moved of [[third], [third, second]]) {
    const copy = await threeSegments()
    const files = filesOf(copy.log)
    for (const file of moved) {
      const number = [first, second, third].indexOf(file)
      copy.log.rename(files[number], files[number].replace('streams/', 'trash/'))
    }
    const store = await openStore(copy)
    await fails('ASR_STREAM_NOT_FOUND', () => store.stream('s'))
    assert.equal(await collect(store.streams()), [])
    const again = await store.createStream(header())
    assert.is(again.length, 0)
    assert.equal(copy.log.list('trash'), [])
    await store.close()
  }
})

test('a stream that was being moved in, and did not arrive whole, is none', async () => {
  const { log } = await threeSegments()
  const [first, second, third] = filesOf(log)
  for (const file of [first, second]) log.rename(file, file.replace('streams/', 'staging/'))
  const store = await openStore(withoutIndex({ ...memoryLocation(), log }))
  await fails('ASR_STREAM_NOT_FOUND', () => store.stream('s'))
  assert.equal([await collect(store.streams()), log.list('staging')], [[], []])
  assert.is(log.size(third), undefined)
})

test('a log of a newer format is refused, and left as it is', async () => {
  const log = new MemoryStorage()
  const identity = { name: name128('s'), incarnation: INCARNATION }
  const body = new TextEncoder().encode(
    JSON.stringify({ format: 2, sessionId: 's', incarnation: INCARNATION, segment: 0 }),
  )
  const batch = BatchBuffer.take()
  const rest = { flags: FLAG_END, encoding: 1, shapes: 0, pos: 0, parent: 0, hash: 0n, chain: 0n }
  const previous = batch.addFrame(
    { ...rest, kind: KIND.segment, flags: 0, bodyBytes: body.length, previous: 0, bodyCheck: check32(body) },
    body,
    0n,
  )
  const news = new TextEncoder().encode('what a later format has to say')
  const head = { ...rest, kind: KIND.header, encoding: 7, bodyBytes: news.length, previous, bodyCheck: check32(news) }
  batch.addFrame(head, news, saltOf(identity))
  log.append(segmentFile('streams', identity, 0), batch.bytes())
  batch.release()
  const files = log.list('streams')
  for (const options of [{}, { readOnly: true }, { acceptLoss: true }]) {
    const store = await openStore({ ...memoryLocation(), log }, options)
    await fails('ASR_FORMAT', async () => (await store.stream('s')).length)
    await store.close()
    assert.equal(log.list('streams'), files)
  }
})

for (const gone of [[], [1]]) {
  test(`a last segment that a power cut left empty, ${gone.length} before it missing, is not written to: the log goes on where it ends`, async () => {
    const location = await threeSegments()
    const files = filesOf(location.log)
    for (const n of gone) location.log.remove(files[n])
    location.log.truncate(files[2], 0)
    const reader = await openStore(withoutIndex(location), { readOnly: true })
    const there = ids.slice(0, gone.length === 0 ? 6 : 3)
    assert.equal(await idsOf((await reader.stream('s')).records()), there)
    assert.is(location.log.size(files[2]), 0, 'a reader changes nothing')
    const store = await openStore(withoutIndex(location))
    await (await store.stream('s')).append([message('after'), message('after2')])
    await store.close()
    const again = await openStore(withoutIndex(location))
    assert.equal(await idsOf((await again.stream('s')).records()), [...there, 'after', 'after2'])
    assert.is((await again.verify()).ok, true)
    assert.equal(again.notices, [])
  })
}

test.run()
