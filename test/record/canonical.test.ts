/**
 * The walk over a value that is to be stored. test/property/hash.test.ts compares its text with RFC 8785's.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { NESTING_MAX, RECORD_BYTES_MAX } from '../../src/base/limits.js'
import { canonicalize, canonicalText } from '../../src/record/canonical.js'
import { exactJson } from '../../src/record/exact.js'
import { fails } from '../support/fails.js'

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

const plain = (value: unknown) => canonicalize(value).plain

test('CORE-8: keys are sorted by their units, whatever order the same shape comes in', () => {
  for (let round = 0; round < 3; round++) {
    assert.is(canonicalText({ b: 1, a: { d: 2, c: 3 } }), '{"a":{"c":3,"d":2},"b":1}')
    assert.is(canonicalText({ a: { c: 3, d: 2 }, b: 1 }), '{"a":{"c":3,"d":2},"b":1}')
  }
  assert.is(canonicalText({ 10: 1, 9: 2, a: 3 }), '{"10":1,"9":2,"a":3}')
  assert.is(canonicalText({ '"\\\n': 1, '': 2 }), '{"":2,"\\"\\\\\\n":1}')
})

test('CORE-8: an object of many keys, and many shapes, come out the same every time', () => {
  const large = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${499 - i}`, i]))
  const sorted = Object.keys(large).sort()
  assert.is(canonicalText(large), `{${sorted.map((key) => `"${key}":${large[key]}`).join(',')}}`)
  for (let n = 0; n < 30_000; n++) canonicalText({ [`a${n}`]: 1, [`b${n}`]: 2 })
  assert.is(canonicalText({ b0: 1, a0: 2 }), '{"a0":2,"b0":1}')
})

test('CORE-7: values that a binary form would alter are not plain', () => {
  const altered = [
    -0,
    ['a', -0],
    '\ud83d',
    { '\udc00': 1 },
    JSON.parse('{"a":{"__proto__":1}}'),
    { toJSON: 1 },
    nested(102),
  ]
  for (const value of altered) assert.is(plain(value), false, JSON.stringify(value)?.slice(0, 50))
  const many = (keys: number) => Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, 0]))
  assert.equal([plain(many(1_024)), plain(many(1_025))], [true, false])
  for (const value of [0, 'x', '\ud83d\ude00', { constructor: 1, a: [null, true] }, nested(100), {}, []]) {
    assert.is(plain(value), true)
  }
})

test('CORE-7: what is no JSON is refused, with the place as a JSON pointer', async () => {
  class Thing {
    a = 1
  }
  const cases: [unknown, string][] = [
    [undefined, '""'],
    [{ a: [1, { 'b/~c': undefined }] }, '"/a/1/b~1~0c"'],
    [{ a: Number.NaN }, '"/a"'],
    [[1, Number.POSITIVE_INFINITY], '"/1"'],
    [{ a: { b: () => 1 } }, '"/a/b"'],
    [{ a: 1n }, '"/a"'],
    [{ a: new Date(0) }, '"/a"'],
    [{ a: new Thing() }, '"/a"'],
    [{ a: new Map() }, '"/a"'],
    [{ a: Object.assign([], { length: 2, 0: 1 }) }, '"/a/1"'],
    [{ [Symbol('x')]: 1 }, '""'],
  ]
  for (const [value, pointer] of cases) {
    const error = await fails('ASR_BAD_VALUE', () => canonicalize(value))
    assert.ok(error.message.includes(pointer), error.message)
  }
})

test('CORE-7: a property that throws, and a value that holds itself, are refused', async () => {
  const cause = new Error('no')
  const error = await fails('ASR_BAD_VALUE', () =>
    canonicalize({
      a: {
        get b() {
          throw cause
        },
      },
    }),
  )
  assert.is(error.cause, cause)
  const cycle: { [key: string]: unknown } = { a: 1 }
  cycle.self = [cycle]
  await fails('ASR_BAD_VALUE', () => canonicalize(cycle))
})

test('CORE-7: objects without a prototype, and of another realm, are plain data', () => {
  const bare = Object.assign(Object.create(null), { a: 1 })
  assert.is(canonicalText({ bare }), '{"bare":{"a":1}}')
})

test('CORE-7: 512 nested containers pass, one more does not, and a hundred thousand do not break the stack', async () => {
  assert.is(canonicalText(nested(NESTING_MAX + 1)).length > NESTING_MAX, true)
  for (const levels of [NESTING_MAX + 2, 5_000, 100_000])
    await fails('ASR_TOO_DEEP', () => canonicalize(nested(levels)))
})

test('CORE-7: a value that is too large is refused before its text is made', async () => {
  const half = 'x'.repeat(RECORD_BYTES_MAX / 2)
  await fails('ASR_TOO_LARGE', () => canonicalize({ a: half, b: half }))
  await fails('ASR_TOO_LARGE', () => canonicalize(Array.from({ length: 1_000 }, () => half)))
  await fails('ASR_TOO_LARGE', () => canonicalize({ [half]: 1, [`${half}x`]: 1 }))
  assert.is(canonicalText('x'.repeat(RECORD_BYTES_MAX - 2)).length, RECORD_BYTES_MAX)
})

test('CORE-7: exact JSON keeps the sign of zero and the order of keys', () => {
  const value = JSON.parse('{"b":[-0,0,{"a":-0}],"2":"x","__proto__":{"z":1},"toJSON":null,"s":"\\ud800"}')
  const text = exactJson(value)
  assert.is(text, '{"2":"x","b":[-0,0,{"a":-0}],"__proto__":{"z":1},"toJSON":null,"s":"\\ud800"}')
  assert.is(exactJson(JSON.parse(text)), text)
})

test.run()
