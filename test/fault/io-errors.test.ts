/**
 * Battery 11 to 14: each call of the storage fails, once or for good, as a broken or a full disk does. A write that fails is
 * in doubt, its handle takes nothing more; what was acknowledged is there afterwards, a retry by id gives one copy.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { MaybePromise } from '../../src/base/flow.js'
import type { IndexLevel } from '../../src/index/level.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import type { StoredFile } from '../../src/log/storage/storage.js'
import { type AsrRecord, isAsrError, type Stream } from '../../src/main.js'
import type { StreamStore } from '../../src/store/store.js'
import { fails } from '../support/fails.js'
import { header, jsonl } from '../support/records.js'
import { cases, figure, Random, SEED, type Tally } from './battery.js'
import { type Fault, FaultyStorage, type Method } from './faulty-storage.js'
import { freshLevel, openAt } from './place.js'
import { holdsPromises, indexIsRebuilt } from './promises.js'
import { type Append, anyRecord, type Written } from './written.js'

type Durability = 'process' | 'disk'

const STREAMS = ['a', 'b']
const APPENDS = figure(20, 60)
const CODES = ['ASR_IN_DOUBT', 'ASR_POISONED', 'ASR_IO', 'ASR_NO_SPACE', 'ASR_CLOSED', 'ASR_STREAM_NOT_FOUND']

/** What one client does with a store whose storage fails somewhere; it goes on as the documentation says it may. */
class Client {
  readonly written = new Map<string, Written>()
  readonly streams = new Map<string, Stream>()
  store: StreamStore | undefined

  constructor(
    readonly storage: FaultyStorage,
    readonly level: IndexLevel,
    readonly durability: Durability,
    readonly tally: Tally,
  ) {}

  /** Undefined when the call failed, with a code that it may fail with. */
  async attempt<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call()
    } catch (error) {
      if (!isAsrError(error)) throw error
      assert.ok(CODES.includes(error.code), `${error.code}: ${error.message}`)
      this.tally.add(error.code)
      return undefined
    }
  }

  async run(random: Random): Promise<void> {
    await this.open()
    for (const session of STREAMS) await this.create(session)
    for (let n = 0; n < APPENDS; n++) {
      const session = random.pick(STREAMS)
      const records = Array.from({ length: 1 + random.below(4) }, (_, i) => ({
        ...anyRecord(random, `${n}.${i}`),
        id: `${n}.${i}`,
      }))
      await this.append(session, records)
      if (n === APPENDS / 2) {
        await this.attempt(() => this.store!.close())
        this.streams.clear()
        await this.open()
      }
    }
    await this.import('imported')
    await this.attempt(() => this.store!.close())
  }

  private async open(): Promise<void> {
    for (let tries = 0; tries < 2; tries++) {
      this.store = await this.attempt(() => openAt(this.storage, this.level, { durability: this.durability }))
      if (this.store !== undefined) return
    }
    this.storage.heal() // the disk is repaired, or the program is at its end
    this.store = await openAt(this.storage, this.level, { durability: this.durability })
  }

  private async create(session: string): Promise<void> {
    this.written.set(session, { sessionId: session, appends: [] })
    const stream = await this.attempt(() => this.store!.createStream(header(session)))
    if (stream !== undefined) this.streams.set(session, stream)
  }

  private async append(session: string, records: AsrRecord[]): Promise<void> {
    const append: Append = { records, promised: 'tried' }
    this.written.get(session)!.appends.push(append)
    for (let tries = 0; tries < 2 && append.promised === 'tried'; tries++) {
      const stream = this.streams.get(session) ?? (await this.attempt(() => this.store!.stream(session)))
      if (stream === undefined) return
      this.streams.set(session, stream)
      const receipt = await this.attempt(() => stream.append(records))
      if (receipt === undefined) await this.givesUp(session, stream)
      else {
        assert.is(receipt.appended + receipt.duplicates, records.length)
        append.promised = this.durability === 'disk' ? 'durable' : 'committed'
      }
    }
  }

  /** After a failed append the handle takes nothing; the stream has to be opened again. */
  private async givesUp(session: string, stream: Stream): Promise<void> {
    const error = await stream.append({ type: 'message', id: 'more' }).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    assert.ok(
      isAsrError(error, 'ASR_POISONED') || isAsrError(error, 'ASR_CLOSED'),
      `a handle whose append failed takes more: ${error}`,
    )
    this.streams.delete(session)
  }

  private async import(session: string): Promise<void> {
    const records = [
      { type: 'message', id: 'i1' },
      { type: 'message', id: 'i2' },
    ]
    const append: Append = { records, promised: 'tried' }
    this.written.set(session, { sessionId: session, appends: [append] })
    const report = await this.attempt(() => this.store!.importJsonl([jsonl(header(session), ...records)]))
    if (report !== undefined) append.promised = this.durability === 'disk' ? 'durable' : 'committed'
  }
}

interface Count {
  method: Method
  calls: number
}

/** How often a client without failures calls each method. */
async function callsOf(durability: Durability): Promise<Count[]> {
  const storage = new FaultyStorage(new MemoryStorage())
  const client = new Client(storage, freshLevel(), durability, { add: () => undefined } as unknown as Tally)
  await client.run(new Random(SEED, 11))
  const methods: Method[] = ['append', 'sync', 'read', 'size', 'list', 'rename', 'remove', 'truncate', 'rewrite']
  return methods.map((method) => ({ method, calls: storage.calls(method) }))
}

for (const durability of ['process', 'disk'] as const) {
  const counts = await callsOf(durability)
  const faults: Fault[] = []
  for (const { method, calls } of counts) {
    for (let call = 1; call <= Math.max(calls, 2) + 2; call++) {
      for (const code of ['EIO', 'ENOSPC']) {
        for (const forGood of [false, true])
          faults.push({
            method,
            call,
            code,
            forGood,
            ...(method === 'append' && { written: call % 3 === 0 ? undefined : call * 7 }),
          })
      }
    }
  }

  test(`under '${durability}' every call of the storage fails, once and for good, with EIO and ENOSPC: nothing acknowledged is lost`, async () => {
    await cases(`failing calls, ${durability}`, faults.length, async (n, _, tally) => {
      const memory = new MemoryStorage()
      const storage = new FaultyStorage(memory)
      const client = new Client(storage, freshLevel(), durability, tally)
      storage.fail(faults[n])
      await client.run(new Random(SEED, 11))
      storage.heal()
      const expected = [...client.written.values()]
      const store = await openAt(memory, client.level, { durability })
      await holdsPromises(store, expected)
      if (n % 10 === 0) await indexIsRebuilt(store)
      await retriesOnce(store, expected)
      await store.close()
    })
  })
}

/** What was in doubt is sent again: there is one copy of it. */
async function retriesOnce(store: StreamStore, expected: readonly Written[]): Promise<void> {
  for (const { sessionId, appends } of expected) {
    const stream = await store.stream(sessionId).catch(() => store.createStream(header(sessionId)))
    for (const { records } of appends) await stream.append(records)
    assert.is(stream.length, appends.flatMap(({ records }) => records).length)
  }
  const again = expected.map(({ sessionId, appends }) => ({
    sessionId,
    ids: appends.flatMap(({ records }) => records.map(({ id }) => id)),
  }))
  for (const { sessionId, ids } of again) assert.is(new Set(ids).size, (await store.stream(sessionId)).length)
}

test("under 'disk' syncs fail, the stream is opened again and written on, then the power fails: nothing acknowledged is lost", async () => {
  await cases('failed syncs and a power cut', figure(200, 4_000), async (_, random, tally) => {
    const memory = new MemoryStorage()
    const storage = new FaultyStorage(memory)
    const client = new Client(storage, freshLevel(), 'disk', tally)
    const syncs = 2 + random.below(3)
    for (let n = 0; n < syncs; n++) storage.fail({ method: 'sync', call: 1 + random.below(APPENDS) })
    await client.run(random)
    storage.heal()
    await storage.powerCut(random.pick(['drop', 'half', 'zero', 'hole']))
    const store = await openAt(memory, random.chance(0.5) ? client.level : freshLevel(), {
      durability: 'disk',
      boot: 'after',
      powerCut: true,
    })
    await holdsPromises(store, [...client.written.values()])
  })
})

test("under 'disk' a duplicate is acknowledged only once what it repeats survives a power cut", async () => {
  const record = { type: 'message', id: 'm1' }
  for (const isOpenAgain of [false, true]) {
    const memory = new MemoryStorage()
    const storage = new FaultyStorage(memory)
    const level = freshLevel()
    let store = await openAt(storage, level)
    let stream = await store.createStream(header('s'))
    await stream.append(record) // committed, and no more
    if (isOpenAgain) store = await openAt(storage, level, { durability: 'disk' })
    else Object.assign(store.environment, { durability: 'disk' })
    stream = await store.stream('s')
    assert.is((await stream.append(record)).duplicates, 1)
    await storage.powerCut('drop')
    const after = await openAt(memory, freshLevel(), { boot: 'after', powerCut: true })
    await holdsPromises(after, [{ sessionId: 's', appends: [{ records: [record], promised: 'durable' }] }])
  }
})

/** Files come in no order: here, the latest first. */
class ReversedStorage extends FaultyStorage {
  override list(folder: string): StoredFile[] {
    return (this.inner as MemoryStorage).list(folder).reverse()
  }
}

test('a stream whose making failed is made again: what was acknowledged is in the one that is found later', async () => {
  const methods: Method[] = ['append', 'sync']
  await cases('streams made twice', 8, async (n) => {
    const memory = new MemoryStorage()
    const storage = new FaultyStorage(memory)
    const store = await openAt(storage, freshLevel(), { durability: 'disk' })
    storage.fail({ method: methods[n & 1], written: n & 2 ? 300 : undefined })
    await fails('ASR_IN_DOUBT', () => store.createStream(header('s')))
    const stream = await store.createStream(header('s'))
    await stream.append({ type: 'message', id: 'm1' })
    await store.close()
    const again = await openAt(n & 4 ? new ReversedStorage(memory) : memory, freshLevel())
    await holdsPromises(again, [
      { sessionId: 's', appends: [{ records: [{ type: 'message', id: 'm1' }], promised: 'durable' }] },
    ])
    await again.close()
  })
})

/** A disk of so many bytes: a write that does not fit is cut short, as the system does. */
class SmallStorage extends FaultyStorage {
  constructor(public room: number) {
    super(new MemoryStorage())
  }

  override append(name: string, bytes: Uint8Array): MaybePromise<number> {
    const isFull = bytes.length > this.room
    if (isFull) this.fail({ method: 'append', code: 'ENOSPC', written: this.room })
    this.room -= Math.min(bytes.length, this.room)
    return super.append(name, bytes)
  }

  override remove(name: string): MaybePromise<void> {
    this.room += (this.inner as MemoryStorage).size(name) ?? 0
    return super.remove(name)
  }

  override truncate(name: string, size: number): MaybePromise<void> {
    this.room += Math.max(0, ((this.inner as MemoryStorage).size(name) ?? 0) - size)
    return super.truncate(name, size)
  }
}

test('a disk fills up at every size and is freed again: in doubt, poisoned, nothing touched while it is full, then all goes on', async () => {
  await cases('full disks', figure(400, 4_000), async (n, random, tally) => {
    const storage = new SmallStorage(400 + n * 3)
    const level = freshLevel()
    const store = await openAt(storage, level)
    const stream = await store.createStream(header('s'))
    const expected: Written = { sessionId: 's', appends: [] }
    for (let i = 0; ; i++) {
      const records = Array.from({ length: 1 + random.below(3) }, (_, k) => ({
        ...anyRecord(random, `${i}.${k}`),
        id: `${i}.${k}`,
      }))
      const append: Append = { records, promised: 'tried' }
      expected.appends.push(append)
      const error = await stream.append(records).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      if (error !== undefined) {
        assert.ok(isAsrError(error, 'ASR_IN_DOUBT'), String(error))
        assert.ok(isAsrError(error.cause, 'ASR_NO_SPACE'), String(error.cause))
        break
      }
      append.promised = 'committed'
    }
    await fails('ASR_POISONED', () => stream.append({ type: 'message' }))
    const before = storage.calls('truncate')
    for (let tries = 0; tries < 3; tries++) {
      const again = await openAt(storage, level)
      const opened = await again.stream('s').catch((error: unknown) => error)
      if (opened instanceof Error) {
        assert.ok(isAsrError(opened, 'ASR_NO_SPACE'), String(opened))
        tally.add('refused while it was full')
        assert.is(storage.calls('truncate'), before, 'nothing is cut that could not be kept')
      }
    }
    const files = [...(await storage.list('streams'))].filter(({ name }) => name.includes('.cut-'))
    assert.ok(files.length <= 1, `${files.length} copies of one torn tail`)
    storage.heal()
    storage.room = 1e9
    const last = await openAt(storage, level)
    await holdsPromises(last, [expected])
    await (await last.stream('s')).append({ type: 'message', id: 'room again' })
    await last.close()
  })
})

test.run()
