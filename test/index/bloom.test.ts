import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Bloom } from '../../src/index/keys/bloom.js'
import { idKey } from '../../src/index/keys/key-run.js'
import { RUNS, settings } from '../property/settings.js'
import { dice } from './plain-index.js'

const key = fc.oneof(fc.nat(100), fc.nat(2 ** 53 - 1))

test('a filter never denies a key that is there, also when it was written and read', () =>
  fc.assert(
    fc.property(fc.array(key, { maxLength: 200 }), (keys) => {
      const bloom = Bloom.of(keys)
      const again = new Bloom(Uint32Array.from(bloom.words))
      for (const one of keys) assert.ok(bloom.has(one) && again.has(one), `${one}`)
    }),
    settings(RUNS),
  ))

test('an empty filter denies all', () => {
  const bloom = Bloom.of([])
  for (const one of [0, 1, 2 ** 32, 2 ** 53 - 1]) assert.is(bloom.has(one), false)
})

test('of keys that are not there it lets about one in a hundred pass', () => {
  const roll = dice(1)
  let next = 0
  for (const make of [() => Math.floor(roll() * 2 ** 53), () => idKey(`r${next++}`)]) {
    const bloom = Bloom.of(Array.from({ length: 50_000 }, make))
    const passed = Array.from({ length: 20_000 }, make).filter((one) => bloom.has(one)).length
    assert.ok(passed < 20_000 * 0.03, `${passed} of 20,000`)
  }
})

test.run()
