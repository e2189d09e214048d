import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { logStorageConformance } from '../../src/conformance/main.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { addCases } from '../conformance/support.js'

addCases(test, logStorageConformance({ make: () => new MemoryStorage() }))

test('two storages share nothing', () => {
  const one = new MemoryStorage()
  one.append('a', Uint8Array.of(1))
  assert.equal(new MemoryStorage().list(''), [])
})

test('answers come at once, not as promises', () => {
  const storage = new MemoryStorage()
  assert.is(storage.append('a', Uint8Array.of(1, 2)), 2)
  assert.is(storage.size('a'), 2)
  assert.equal([...storage.read('a', 1, 1)], [2])
})

test.run()
