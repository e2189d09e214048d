/**
 * Guards that the great batteries meet by chance, if at all: each alone.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PAGE_POSITIONS } from '../../src/index/page.js'
import { KIND } from '../../src/log/format/frame.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { type AsrRecord, openStore } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { fileLogOf } from '../support/place.js'
import { header } from '../support/records.js'
import { tempFolder } from '../support/temp.js'
import { flippedAt, framesIn } from './damage.js'
import { FaultyStorage } from './faulty-storage.js'
import { imageOf } from './folder.js'
import { forged, setText } from './forge.js'
import { appendInNewSegment, coreOf, freshLevel, keptStore, levelOf, OTHER, openAt, storageOf } from './place.js'
import { holdsDespiteDamage, holdsPromises, problemsOf } from './promises.js'
import { evenRecords, written } from './written.js'

const ENCODINGS = { keyEncoding: 'utf8', valueEncoding: 'view' } as const

test('CORE-10: whose a log is can be told with its first frame damaged, its index gone, and another’s frame planted in it', async () => {
  const kept = await keptStore(evenRecords(6))
  const [segment] = framesIn(kept.file, kept.bytes)
  const changed = flippedAt(kept.bytes, segment.at + segment.size - 3, 2)
  const store = await openAt(storageOf(new Map(kept.files).set(kept.file, changed)), freshLevel())
  const sessions = (await collect(store.streams())).map(({ sessionId }) => sessionId)
  assert.equal(sessions, [OTHER.sessionId, 's'])
  const { missing, unsalvaged } = await holdsDespiteDamage(store, kept.expected, [OTHER])
  assert.equal([missing, unsalvaged], [[], []], 'what the frame said is said again by others')
  const empty = new Map(kept.files).set(kept.file, new Uint8Array(200))
  const nameless = await openAt(storageOf(empty), freshLevel())
  assert.equal(
    (await collect(nameless.streams())).map(({ sessionId }) => sessionId),
    [OTHER.sessionId],
  )
})

test('CORE-10: a segment frame of another session, or of another log of this one, is damage, whole as it is', async () => {
  const kept = await keptStore(evenRecords(6))
  for (const other of [{ sessionId: OTHER.sessionId }, { incarnation: 'ffffffffffffffff' }]) {
    const bytes = forged(kept.file, kept.bytes, (frame) => {
      if (frame.kind === KIND.segment) setText(frame, { ...JSON.parse(new TextDecoder().decode(frame.body)), ...other })
    })
    const store = await openAt(storageOf(new Map(kept.files).set(kept.file, bytes)), freshLevel())
    const { report } = await holdsDespiteDamage(store, kept.expected, [OTHER])
    assert.match(report.join(), 's ASR_CORRUPT')
  }
})

test('CORE-10: a segment that goes away while the stream is open is damage to whoever reads in it, and to verify', async () => {
  const memory = new MemoryStorage()
  const store = await openAt(memory, freshLevel())
  const stream = await store.createStream(header('s'))
  const records = evenRecords(30)
  for (const [n, record] of records.entries())
    await (n % 10 === 0 && n > 0 ? appendInNewSegment(stream, [record]) : stream.append(record))
  memory.remove(fileLogOf(coreOf(stream)).segments[1].file)
  const error = await fails('ASR_CORRUPT', () => stream.get('m00015'))
  assert.is(error.sessionId, 's')
  assert.is((await stream.get('m00025'))?.seq, 25)
  const report = problemsOf(await store.verify())
  assert.match(report.join(), '-000001.log', 'the missing file is named')
})

test('an append that needs a damaged row of the index, while the log can not be read, fails with a code; the next one succeeds', async () => {
  const storage = new FaultyStorage(new MemoryStorage())
  const level = freshLevel()
  const first = await openAt(storage, level)
  const records = evenRecords(20)
  await (await first.createStream(header('s'))).append(records)
  await first.close()
  const store = await openAt(storage, level)
  const stream = await store.stream('s')
  const page = (await collect(level.keys({ keyEncoding: 'utf8' }))).find((key) => String(key).includes('/e/'))
  await level.put(String(page), new Uint8Array(3), ENCODINGS)
  storage.fail({ method: 'read', forGood: true })
  await fails('ASR_IO', () => stream.append({ type: 'message', id: 'new' }))
  storage.heal()
  await (await store.stream('s')).append({ type: 'message', id: 'new' })
  await holdsPromises(store, [written('s', [...records, { type: 'message', id: 'new' }])])
})

test('CORE-10: a rebuild of the index over a damaged log is refused with the place, and nothing is written behind it', async () => {
  const kept = await keptStore(evenRecords(9))
  const { at } = framesIn(kept.file, kept.bytes).find(({ kind, pos }) => kind === KIND.record && pos === 5)!
  const storage = storageOf(new Map(kept.files).set(kept.file, flippedAt(kept.bytes, at + 60, 3)))
  const store = await openAt(storage, await levelOf(kept.rows))
  const stream = await store.stream('s')
  assert.is((await fails('ASR_CORRUPT', () => store.rebuildIndex())).pos, 5)
  await fails('ASR_CORRUPT', () => stream.append({ type: 'message' }))
  const { unsalvaged } = await holdsDespiteDamage(store, kept.expected, [OTHER])
  assert.equal(unsalvaged, [5])
})

test('what is no record at all is refused, and nothing is written', async () => {
  const store = await openAt(new MemoryStorage(), freshLevel())
  const stream = await store.createStream(header('s'))
  for (const value of [null, 'text', 7, [[]], [null], [{ type: 'x' }, undefined]])
    await fails('ASR_BAD_RECORD', () => stream.append(value as unknown as AsrRecord))
  assert.is(stream.length, 0)
})

test('keys in the index’s database that are nobody’s, before and between those of streams, disturb no answer', async () => {
  const kept = await keptStore(evenRecords(6))
  const [[known]] = kept.rows
  const level = await levelOf(kept.rows)
  for (const key of ['', '!', 'zzz', known.slice(0, 9), `${known.slice(0, 16)}.a`, '52622a2a2a2a2a2a.zzz'])
    await level.put(key || '\0', new Uint8Array(4), ENCODINGS)
  const store = await openAt(storageOf(kept.files), level)
  await holdsPromises(store, [kept.expected, OTHER])
  await store.rebuildIndex()
  assert.equal(
    (await collect(store.streams())).map(({ sessionId }) => sessionId),
    [OTHER.sessionId, 's'],
  )
  assert.equal((await store.verify()).streams.length, 2)
})

test('a segment that was being copied when its process died is copied again from the beginning', async () => {
  const kept = await keptStore(evenRecords(6))
  const files = new Map(kept.files).set(`${kept.file}.new`, kept.bytes.subarray(0, 77))
  const storage = storageOf(files)
  Object.assign(storage, { rewrite: undefined }) // one that can only copy
  const store = await openAt(storage, freshLevel(), { durability: 'disk' })
  await (await store.stream('s')).append({ type: 'message', id: 'more' })
  await store.close()
  assert.equal(
    storage.list('streams').filter(({ name }) => name.endsWith('.new')),
    [],
  )
  const again = await openAt(storage, freshLevel())
  await holdsPromises(again, [written('s', [...evenRecords(6), { type: 'message', id: 'more' }]), OTHER])
})

test('a folder with a FORMAT that is not ours, and no streams, is refused and left as it is', async () => {
  const folder = join(tempFolder(), 'store')
  mkdirSync(folder)
  writeFileSync(join(folder, 'FORMAT'), 'of some other program\n')
  const before = imageOf(folder)
  for (const options of [{}, { create: false }, { readOnly: true }])
    await fails('ASR_FORMAT', () => openStore(folder, options))
  assert.equal(imageOf(folder), before)
})

test('a page of the index that is exactly full, and one record more: nothing is off by one, open, reopened and rebuilt', async () => {
  for (const count of [PAGE_POSITIONS - 2, PAGE_POSITIONS - 1, PAGE_POSITIONS, PAGE_POSITIONS + 1]) {
    const memory = new MemoryStorage()
    const level = freshLevel()
    const store = await openAt(memory, level)
    const records = evenRecords(count)
    await (await store.createStream(header('s'))).append(records)
    await store.close()
    const again = await openAt(memory, level)
    const stream = await again.stream('s')
    for (const pos of [1, 2, count - 1, count]) assert.is(await stream.position(records[pos - 1].id as string), pos)
    await stream.append({ type: 'message', id: 'more' })
    await again.rebuildIndex()
    assert.is(await stream.position('more'), count + 1)
    assert.equal(problemsOf(await again.verify()), [])
  }
})

test.run()
