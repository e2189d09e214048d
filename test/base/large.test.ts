import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LargeMap, LargeSet } from '../../src/base/large.js'
import { RUNS, settings } from '../property/settings.js'

const key = fc.oneof(
  fc.string({ maxLength: 3 }),
  fc.constantFrom('', 'x', 'long enough to be cut', 'another that is cut'),
)

test('a large map does what a map does, order included', () =>
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.option(fc.nat()))), (steps) => {
      const [large, plain] = [new LargeMap<number>(), new Map<string, number>()]
      for (const [one, value] of steps) {
        if (value === null) {
          large.delete(one)
          plain.delete(one)
        } else {
          large.set(one, value)
          plain.set(one, value)
        }
        assert.is(large.get(one), plain.get(one))
        assert.is(large.has(one), plain.has(one))
      }
      assert.equal([...large], [...plain])
    }),
    settings(RUNS),
  ))

test('a large set holds what was added, numbers of 53 bits too', () =>
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.maxSafeNat(), key)), fc.oneof(fc.maxSafeNat(), key), (keys, other) => {
      const large = new LargeSet<string | number>()
      for (const one of keys) large.add(one)
      for (const one of keys) assert.ok(large.has(one))
      assert.is(large.has(other), keys.includes(other))
    }),
    settings(RUNS),
  ))

test.run()
