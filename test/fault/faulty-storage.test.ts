import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { logStorageConformance } from '../../src/conformance/main.js'
import { errnoOf } from '../../src/log/storage/io-error.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { addCases } from '../conformance/support.js'
import { FaultyStorage } from './faulty-storage.js'

const NAME = 'streams/a'

function make(): FaultyStorage {
  return new FaultyStorage(new MemoryStorage())
}

function contents(storage: FaultyStorage, name = NAME): number[] {
  return [...(storage.inner as MemoryStorage).read(name, 0, 100_000)]
}

async function errno(call: () => unknown): Promise<string | undefined> {
  try {
    await call()
  } catch (error) {
    return errnoOf(error)
  }
  return undefined
}

addCases(test, logStorageConformance({ make }))

test('the call that is named fails, once, with the code that is named', async () => {
  const storage = make()
  storage.fail({ method: 'append', call: 2, code: 'ENOSPC' })
  const outcomes: (string | undefined)[] = []
  for (const value of [1, 2, 3]) outcomes.push(await errno(() => storage.append(NAME, Uint8Array.of(value))))
  assert.equal(outcomes, [undefined, 'ENOSPC', undefined])
  assert.equal(contents(storage), [1, 3])
  assert.is(storage.calls('append'), 3)
})

test('a fault for good lasts until it is healed', async () => {
  const storage = make()
  await storage.append(NAME, Uint8Array.of(1))
  storage.fail({ method: 'sync', call: 2, forGood: true })
  const sync = () => errno(() => storage.sync(NAME))
  assert.equal([await sync(), await sync(), await sync()], [undefined, 'EIO', 'EIO'])
  storage.heal()
  assert.is(await sync(), undefined)
})

test('each method can fail, and then does nothing', async () => {
  const storage = make()
  await storage.append(NAME, Uint8Array.of(1))
  const calls = {
    append: () => storage.append(NAME, Uint8Array.of(2)),
    read: () => storage.read(NAME, 0, 1),
    size: () => storage.size(NAME),
    sync: () => storage.sync(NAME),
    truncate: () => storage.truncate(NAME, 0),
    rename: () => storage.rename(NAME, 'b'),
    remove: () => storage.remove(NAME),
    list: () => storage.list('streams'),
  }
  for (const [method, call] of Object.entries(calls)) {
    storage.fail({ method: method as keyof typeof calls })
    assert.is(await errno(call), 'EIO', method)
  }
  assert.equal(contents(storage), [1])
})

test('only files of the name that is given fail', async () => {
  const storage = make()
  storage.fail({ method: 'append', name: /b$/ })
  assert.is(await errno(() => storage.append('a', Uint8Array.of(1))), undefined)
  assert.is(await errno(() => storage.append('b', Uint8Array.of(1))), 'EIO')
})

test('a short write leaves its bytes', async () => {
  const storage = make()
  storage.fail({ method: 'append', code: 'ENOSPC', written: 2 })
  assert.is(await errno(() => storage.append(NAME, Uint8Array.of(1, 2, 3))), 'ENOSPC')
  assert.equal(contents(storage), [1, 2])
})

test('a power cut takes what was not synced: all, the second half, the bytes, or a page of them', async () => {
  for (const [damage, expected] of [
    ['drop', [1, 2]],
    ['half', [1, 2, 3]],
    ['zero', [1, 2, 0, 0, 0]],
    ['hole', [1, 2, 0, 0, 0]],
  ] as const) {
    const storage = make()
    await storage.append(NAME, Uint8Array.of(1, 2))
    await storage.sync(NAME)
    await storage.append(NAME, Uint8Array.of(3, 4, 5))
    await storage.powerCut(damage)
    assert.equal(contents(storage), expected, damage)
    await storage.powerCut('drop')
    assert.equal(contents(storage), expected, 'what a cut leaves is durable')
  }
})

test('a hole has good bytes behind it', async () => {
  const storage = make()
  await storage.append(NAME, Uint8Array.of(1))
  await storage.sync(NAME)
  await storage.append(NAME, new Uint8Array(5000).fill(2))
  await storage.powerCut('hole')
  assert.equal(contents(storage), [1, ...new Array(4096).fill(0), ...new Array(904).fill(2)])
})

test('a power cut takes a file that was never synced, but none that was there before', async () => {
  const inner = new MemoryStorage()
  inner.append('old', Uint8Array.of(1))
  const storage = new FaultyStorage(inner)
  await storage.append('old', Uint8Array.of(2))
  await storage.append('new', Uint8Array.of(3))
  await storage.powerCut('drop')
  assert.equal(inner.list(''), [{ name: 'old', size: 1 }])
})

test('bytes whose sync failed are lost in a power cut, even when a later sync succeeds', async () => {
  const storage = make()
  await storage.append(NAME, Uint8Array.of(1))
  await storage.sync(NAME)
  await storage.append(NAME, Uint8Array.of(2))
  storage.fail({ method: 'sync' })
  assert.is(await errno(() => storage.sync(NAME)), 'EIO')
  await storage.append(NAME, Uint8Array.of(3))
  await storage.sync(NAME)
  assert.equal(contents(storage), [1, 2, 3])
  await storage.powerCut('drop')
  assert.equal(contents(storage), [1, 0, 3])
})

test('what was cut before a power cut stays cut, and a renamed file keeps what it had', async () => {
  const storage = make()
  await storage.append(NAME, Uint8Array.of(1, 2, 3))
  await storage.sync(NAME)
  await storage.truncate(NAME, 1)
  await storage.append(NAME, Uint8Array.of(9))
  await storage.rename(NAME, 'b')
  await storage.powerCut('drop')
  assert.equal(contents(storage, 'b'), [1])
})

test('a storage inside that answers with promises is waited for', async () => {
  const inner = new MemoryStorage()
  const later = new Proxy(inner, {
    get:
      (target, key: keyof MemoryStorage) =>
      async (...args: [never, never, never]) =>
        target[key](...args),
  })
  const storage = new FaultyStorage(later)
  assert.is(await storage.append(NAME, Uint8Array.of(1)), 1)
  await storage.sync(NAME)
  storage.fail({ method: 'append', written: 1 })
  assert.is(await errno(() => storage.append(NAME, Uint8Array.of(2, 3))), 'EIO')
  assert.equal([...inner.read(NAME, 0, 9)], [1, 2])
  await storage.powerCut('drop')
  assert.equal([...inner.read(NAME, 0, 9)], [1])
})

test.run()
