import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Codec, ENCODING_DEFLATED, ENCODING_MSGPACK, ENCODING_TEXT } from '../../src/log/format/codec.js'
import { SHAPES_MAX } from '../../src/log/format/dictionary.js'
import { canonicalize } from '../../src/record/canonical.js'
import { exactJson } from '../../src/record/exact.js'
import { json } from '../property/arbitraries.js'
import { type Json, same } from '../property/json.js'
import { RUNS, settings } from '../property/settings.js'
import { decodeMsgpack } from './independent-msgpack.js'

interface Kept {
  encoding: number
  bytes: Uint8Array
  shapes: number
}

function encoded(codec: Codec, value: unknown, text?: string): Kept {
  const body = codec.encode(value, canonicalize(value).plain, text)
  return { ...body, bytes: body.bytes.slice() }
}

/** A codec that knows what another wrote down, as after a reopening. */
function reopened(codec: Codec): Codec {
  const again = new Codec()
  again.dictionary.adopt(structuredClone(codec.dictionary.wholePart()))
  return again
}

function decoded(codec: Codec, { encoding, bytes, shapes }: Kept): Json {
  return codec.decode(encoding, bytes, shapes) as Json
}

/** A codec that has seen these values twice, so that their shapes have ids. */
function taught(...values: object[]): Codec {
  const codec = new Codec()
  for (const value of [...values, ...values]) encoded(codec, value)
  return codec
}

test('CORE-7: any value comes back, by the codec that wrote it and by one that only has the dictionary', () =>
  fc.assert(
    fc.property(fc.array(json(4), { minLength: 1, maxLength: 6 }), (values) => {
      const codec = new Codec()
      const records = [...values, ...values].map((value) => ({ type: 'x', value }))
      const bodies = records.map((record) => encoded(codec, record))
      const other = reopened(codec)
      records.forEach((record, i) => {
        for (const reader of [codec, other]) {
          assert.ok(same(decoded(reader, bodies[i]), record as Json))
          const { encoding, bytes, shapes } = bodies[i]
          assert.is(reader.line(encoding, bytes, shapes), exactJson(record))
        }
      })
    }),
    settings(RUNS),
  ))

for (const count of [31, 32, 33, 64, 97, 300, SHAPES_MAX]) {
  test(`a log of ${count} shapes decodes after reopening, and goes on from there`, () => {
    const values = Array.from({ length: count }, (_, n) => ({ [`key${n}`]: n, last: [n] }))
    const codec = taught(...values)
    assert.is(codec.dictionary.shapes.length, count)
    const bodies = values.map((value) => encoded(codec, value))
    const again = reopened(codec)
    values.forEach((value, n) => {
      assert.equal(decoded(again, bodies[n]), value)
      assert.equal(encoded(again, value).bytes, bodies[n].bytes, 'it writes the same ids')
      assert.equal(decodeMsgpack(bodies[n].bytes, codec.dictionary.shapes), value)
    })
    for (let sight = 0; sight < 2; sight++) encoded(again, { another: 1 })
    const full = count === SHAPES_MAX
    assert.is(again.dictionary.shapes.length, full ? count : count + 1)
    const body = encoded(again, { another: 2 })
    assert.equal(decoded(reopened(again), body), { another: 2 })
  })
}

test('beyond the limit of shapes all still comes back, also when refusals made the packer start again', () => {
  const codec = new Codec()
  for (let n = 0; n < SHAPES_MAX + 400; n++) {
    const value = { [`key${n}`]: { [`in${n}`]: n } }
    for (let sight = 0; sight < 3; sight++) assert.equal(decoded(codec, encoded(codec, value)), value)
  }
  assert.is(codec.dictionary.shapes.length, SHAPES_MAX)
  const body = encoded(codec, { key1: { in1: 5 } })
  assert.equal(decoded(reopened(codec), body), { key1: { in1: 5 } })
})

test('objects that are maps do not grow the dictionary', () => {
  const codec = new Codec()
  const map = (n: number) => Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`path/${n}/${i}`, i]))
  for (let n = 0; n < 50; n++) for (let sight = 0; sight < 3; sight++) encoded(codec, { type: 'x', map: map(n) })
  assert.equal(codec.dictionary.shapes, [['type', 'map']])
  const body = encoded(codec, { type: 'x', map: map(1) })
  assert.equal(decoded(reopened(codec), body), { type: 'x', map: map(1) })
})

/** What msgpackr would alter or refuse. */
const FALLBACK: [string, object][] = [
  ['-0', { n: [-0] }],
  ['a lone surrogate', { s: 'a\ud83d' }],
  ['a lone surrogate in a key', { 'a\udc00': 1 }],
  ['__proto__', JSON.parse('{"__proto__":{"x":1}}')],
  ['toJSON', { toJSON: 1 }],
  ['constructor and toJSON', { constructor: { name: 'x' }, toJSON: null }],
  ['more keys than a map can have', Object.fromEntries(Array.from({ length: 66_000 }, (_, i) => [`k${i}`, i]))],
  ['more levels than a stack is to bear', JSON.parse(`${'['.repeat(300)}1${']'.repeat(300)}`)],
]

for (const [name, value] of FALLBACK) {
  test(`CORE-7: ${name} is kept as text, and comes back`, () => {
    const codec = new Codec()
    const record = { type: 'x', value }
    const body = encoded(codec, record)
    assert.is(body.encoding & ~ENCODING_DEFLATED, ENCODING_TEXT)
    assert.ok(same(decoded(reopened(codec), body), record as Json))
    assert.is(codec.line(body.encoding, body.bytes, body.shapes), exactJson(record))
  })
}

test('CORE-7: what looks dangerous and is not is kept in the short form, and comes back', () => {
  const codec = new Codec()
  const record = {
    type: 'x',
    constructor: 'c',
    hasOwnProperty: 1,
    prototype: {},
    length: 2,
    numbers: [0.1, 1e21, 2 ** 53, 2 ** 53 - 1, -(2 ** 53), 1.7976931348623157e308, 5e-324, 2 ** 31, -(2 ** 31) - 1],
    small: [0, 63, 64, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, -1, -32, -33, -128, -129, -32_769],
    '': '',
    '2': 'two',
    '1': '\u0000\u2028\ufeff\ud83d\ude00',
    empty: [{}, [], '', null, true, false],
  }
  for (let sight = 0; sight < 3; sight++) {
    const body = encoded(codec, record)
    assert.is(body.encoding, ENCODING_MSGPACK)
    assert.ok(same(decoded(reopened(codec), body), record as Json))
    assert.ok(same(decodeMsgpack(body.bytes, codec.dictionary.shapes), record as Json))
  }
  const bare = Object.assign(Object.create(null), { a: 1, constructor: 2 })
  assert.equal(decoded(codec, encoded(codec, bare)), { a: 1, constructor: 2 })
})

test('CORE-7: a line to be kept as it is comes back as it was', () => {
  const codec = new Codec()
  for (const line of ['{"n":1.0}', `{"s":"${'x'.repeat(9_000)}" }`, '\ufeff{"a":1}'.slice(1)]) {
    const body = encoded(codec, JSON.parse(line), line)
    assert.is(codec.line(body.encoding, body.bytes, body.shapes), line)
    assert.equal(decoded(codec, body), JSON.parse(line))
  }
  assert.is(codec.dictionary.shapes.length, 0)
})

test('a large body is deflated where that helps, and comes back', () => {
  const codec = new Codec()
  const words = { text: 'word '.repeat(2_000) }
  const body = encoded(codec, words)
  assert.is(body.encoding, ENCODING_MSGPACK | ENCODING_DEFLATED)
  assert.ok(body.bytes.length < 500)
  assert.equal(decoded(codec, body), words)
  const noise = { noise: Array.from({ length: 1_000 }, () => Math.random()) }
  const plain = encoded(codec, noise)
  assert.is(plain.encoding & ~ENCODING_DEFLATED, ENCODING_MSGPACK)
  assert.equal(decoded(codec, plain), noise)
  assert.is(encoded(codec, { text: 'x'.repeat(4_000) }).encoding, ENCODING_MSGPACK)
})

test('two codecs at work at the same time do not mix their shapes up', () => {
  const [one, two] = [new Codec(), new Codec()]
  for (let n = 0; n < 100; n++) {
    for (const [codec, name] of [
      [one, 'one'],
      [two, 'two'],
    ] as const) {
      const value = { [`${name}${n % 40}`]: { [name]: n } }
      assert.equal(decoded(codec, encoded(codec, value)), value)
    }
  }
  assert.ok(one.dictionary.shapes.every(([key]) => key.startsWith('one')))
})

test('a packer that threw half way is as good as before', () => {
  const codec = taught({ a: 1 })
  const bad = {
    b: 1,
    c: 1n as unknown as number,
    get d() {
      throw new Error('no')
    },
  }
  for (let n = 0; n < 3; n++) assert.throws(() => codec.encode({ x: { y: bad } }, true))
  for (const value of [{ a: 2 }, { b: 1, c: 2, d: 3 }, { x: { y: 1 } }, { b: 1, c: 2, d: 4 }, { x: { y: 2 } }]) {
    const body = encoded(codec, value)
    assert.equal(decoded(reopened(codec), body), value)
  }
})

test('CORE-10: a body that needs more shapes than are known is refused, not read as another value', () => {
  const codec = taught({ a: {} }, { b: 1 })
  const body = encoded(codec, { a: {} })
  const poor = new Codec()
  assert.throws(() => decoded(poor, body), /shapes/)
  poor.dictionary.adopt({ from: 0, shapes: codec.dictionary.shapes.slice(0, body.shapes - 1) })
  assert.throws(() => decoded(poor, body), /shapes/)
  assert.is(poor.knows(body.shapes), false)
  assert.is(codec.knows(body.shapes), true)
})

test('CORE-10: hostile bytes give an error in bounded time, and never a value that is cut short', () => {
  const codec = taught({ type: 'x', items: [1, 2, 3], text: 'words' })
  const body = encoded(codec, { type: 'x', items: [1, 2, 3], text: 'words' })
  for (let size = 0; size < body.bytes.length; size++) {
    assert.throws(() => codec.decode(ENCODING_MSGPACK, body.bytes.subarray(0, size), body.shapes), undefined, `${size}`)
  }
  assert.throws(() => codec.decode(ENCODING_MSGPACK, Uint8Array.of(...body.bytes, 1), body.shapes))
  const hostile: [number, number[]][] = [
    [ENCODING_MSGPACK, [0xdd, 0xff, 0xff, 0xff, 0xff]], // an array of 2^32-1
    [ENCODING_MSGPACK, [0xdb, 0xff, 0xff, 0xff, 0xff, 0x61]], // a text of 4 GB
    [ENCODING_MSGPACK, [0xdf, 0xff, 0xff, 0xff, 0xff]], // a map of 2^32-1
    [ENCODING_MSGPACK, [0x7f, 0x1a]], // a shape that is not there
    [ENCODING_TEXT, [0x7b]],
    [ENCODING_TEXT, [0xff, 0xfe]],
    [ENCODING_DEFLATED, [0, 0, 0]],
    [ENCODING_DEFLATED, [0, 0, 0, 1, 0xff, 0xff]],
    [ENCODING_DEFLATED, [0xff, 0xff, 0xff, 0xff, 3, 0]],
  ]
  const before = performance.now()
  for (const [encoding, bytes] of hostile)
    assert.throws(() => codec.decode(encoding, Uint8Array.from(bytes), 0), undefined, `${bytes}`)
  assert.ok(performance.now() - before < 1_000)
  assert.equal(decoded(codec, body), { type: 'x', items: [1, 2, 3], text: 'words' }, 'the codec still works')
})

test('CORE-10: a deflated body that comes out longer or shorter than it says is refused', () => {
  const codec = new Codec()
  const body = encoded(codec, { text: 'word '.repeat(2_000) })
  for (const change of [-1, 1, 1_000_000]) {
    const bytes = body.bytes.slice()
    const view = new DataView(bytes.buffer)
    view.setUint32(0, view.getUint32(0) + change)
    assert.throws(() => codec.decode(body.encoding, bytes, body.shapes))
  }
})

test('a body is a view that the next one overwrites, so the log copies it', () => {
  const codec = new Codec()
  const large = codec.encode({ text: 'x'.repeat(2 * 1024 * 1024) }, true)
  assert.is(large.encoding, ENCODING_DEFLATED)
  const { buffer } = codec.encode({ a: 1 }, true).bytes
  assert.ok(buffer.byteLength <= 1024 * 1024, 'after a large body the buffer is small again')
})

test.run()
