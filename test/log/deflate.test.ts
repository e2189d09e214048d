import fc from 'fast-check'
import { deflateSync, inflateSync } from 'fflate'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { deflateRaw, inflateRaw } from '../../src/log/format/deflate.js'
import { RUNS, settings } from '../property/settings.js'

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 5_000 }),
  fc
    .array(fc.constantFrom(...'the same words'), { maxLength: 5_000 })
    .map((words) => new TextEncoder().encode(words.join(''))),
)

test('bytes come back, and what one implementation made the other one reads', () =>
  fc.assert(
    fc.property(bytes, (given) => {
      assert.equal(new Uint8Array(inflateRaw(deflateRaw(given), given.length)), given)
      assert.equal(new Uint8Array(inflateRaw(deflateSync(given), given.length)), given)
      assert.equal(inflateSync(deflateRaw(given)), given)
    }),
    settings(Math.ceil(RUNS / 4)),
  ))

test('another size than was said is refused, and so is what was never deflated', () => {
  const deflated = deflateRaw(new Uint8Array(10_000))
  for (const size of [0, 9_999, 10_001]) assert.throws(() => inflateRaw(deflated, size))
  assert.throws(() => inflateRaw(Uint8Array.of(0xff, 0xff, 0xff), 3))
  assert.throws(() => inflateRaw(deflated.subarray(0, deflated.length - 1), 10_000))
})

test.run()
