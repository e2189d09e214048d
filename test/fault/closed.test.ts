/**
 * What `close()` promises at every durability: a store that was closed is whole after a power cut, whoever wrote to it before and
 * however it ended.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import type { StreamStore } from '../../src/store/store.js'
import { header, jsonl } from '../support/records.js'
import { cases, figure, type Random } from './battery.js'
import { FaultyStorage } from './faulty-storage.js'
import { appendInNewSegment, coreOf, freshLevel, openAt } from './place.js'
import { holdsPromises } from './promises.js'
import { type Append, anyRecord, type Written } from './written.js'

/** Writes for a while; in more than one segment, with the index written now and then. */
async function write(store: StreamStore, expected: Written, random: Random): Promise<void> {
  const stream = await store.stream('s')
  for (let n = 1 + random.below(6); n > 0; n--) {
    const records = [anyRecord(random, `x${expected.appends.length}`)]
    await (random.chance(0.3) ? appendInNewSegment(stream, records) : stream.append(records))
    expected.appends.push({ records, promised: 'durable' })
    if (random.chance(0.2)) await coreOf(stream).flush()
  }
}

test('a store that was closed is whole after a power cut, also what processes wrote that were killed before', async () => {
  await cases('power cuts behind a close', figure(300, 10_000), async (_, random, tally) => {
    const memory = new MemoryStorage()
    const storage = new FaultyStorage(memory)
    const level = freshLevel()
    const expected: Written = { sessionId: 's', appends: [] }
    await (await openAt(storage, level)).createStream(header('s'))
    for (let killed = random.below(3); killed > 0; killed--) {
      await write(await openAt(storage, random.chance(0.2) ? freshLevel() : level), expected, random)
      tally.add('killed writers')
    }
    const store = await openAt(storage, level)
    await write(store, expected, random)
    const record = anyRecord(random, 'imported')
    await store.importJsonl([jsonl(header('imported'), record)])
    if (random.chance(0.2)) await store.rebuildIndex()
    await store.close()
    await storage.powerCut(random.pick(['drop', 'half', 'zero', 'hole']))
    const after = await openAt(memory, random.chance(0.7) ? level : freshLevel(), { boot: 'after', powerCut: true })
    await holdsPromises(after, [
      expected,
      { sessionId: 'imported', appends: [{ records: [record], promised: 'durable' }] },
    ])
    assert.equal(after.notices, [], 'nothing is said to be lost')
  })
})

/** A storage that is far away: each write and sync takes its time. */
class SlowStorage extends FaultyStorage {
  override async append(name: string, bytes: Uint8Array): Promise<number> {
    await new Promise((resolve) => setTimeout(resolve, 2))
    return super.append(name, bytes)
  }

  override async sync(name: string): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 1))
    return super.sync(name)
  }
}

test('close() waits for appends under way where the storage takes its time, at both durabilities', async () => {
  await cases('slow storages', figure(20, 400), async (n, random) => {
    const storage = new SlowStorage(new MemoryStorage())
    const level = freshLevel()
    const store = await openAt(storage, level, { durability: n % 2 === 0 ? 'process' : 'disk' })
    const stream = await store.createStream(header('s'))
    const records = Array.from({ length: 1 + random.below(8) }, (_, i) => anyRecord(random, `x${i}`))
    let settled = 0
    const appends = records.map(async (record) => {
      await stream.append(record)
      settled++
    })
    await new Promise((resolve) => setTimeout(resolve, random.below(6)))
    await store.close()
    assert.is(settled, records.length, 'each is settled before close() is')
    const written = storage.calls('append')
    await Promise.all(appends)
    assert.is(storage.calls('append'), written, 'nothing is written behind it')
    const again = await openAt(storage, level)
    const expected = records.map((record): Append => ({ records: [record], promised: 'committed' }))
    await holdsPromises(again, [{ sessionId: 's', appends: expected }])
  })
})

test('a stream whose index is exactly as long as its log is synced at close as well', async () => {
  for (const isRebuilt of [false, true]) {
    const memory = new MemoryStorage()
    const storage = new FaultyStorage(memory)
    const store = await openAt(storage, freshLevel())
    const stream = await store.createStream(header('s'))
    const records = Array.from({ length: 40 }, (_, n) => ({ type: 'message', id: `m${n}` }))
    await stream.append(records)
    if (isRebuilt) await store.rebuildIndex()
    else await coreOf(stream).flush()
    await store.close()
    await storage.powerCut('drop')
    const after = await openAt(memory, freshLevel(), { boot: 'after', powerCut: true })
    await holdsPromises(after, [{ sessionId: 's', appends: [{ records, promised: 'durable' }] }])
  }
})

test.run()
