/** CORE-8: the canonical text is RFC 8785's, and hashes depend on the value alone. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Header, memoryLocation, openStore } from '../../src/main.js'
import { canonicalText } from '../../src/record/canonical.js'
import { json } from './arbitraries.js'
import { canonical, isObject, type Json, type Rec } from './json.js'
import { ModelStream } from './model.js'
import { RUNS, settings } from './settings.js'

/** The same value with the keys of each object in another order. */
function shuffled(value: Json, dice: number): Json {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, dice))
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, item]): [string, Json] => [key, shuffled(item, dice)])
  const turned = dice % (entries.length || 1)
  const other = [...entries.slice(turned), ...entries.slice(0, turned)]
  return Object.fromEntries(dice % 2 === 0 ? other : other.reverse())
}

test('CORE-8: the canonical text of any value is that of RFC 8785, whatever the order of its keys', () =>
  fc.assert(
    fc.property(json(4), fc.nat(), (value, dice) => {
      const text = canonicalText(value)
      assert.is(text, canonical(value))
      assert.is(canonicalText(shuffled(value, dice)), text)
      assert.is(canonicalText(JSON.parse(text)), text)
    }),
    settings(RUNS * 10),
  ))

test('CORE-8: two values with one canonical text are equal, -0 and 0 apart, which RFC 8785 writes alike', () =>
  fc.assert(
    fc.property(json(2), json(2), (a, b) => {
      const equal = (x: Json, y: Json): boolean => {
        if (Array.isArray(x))
          return Array.isArray(y) && x.length === y.length && x.every((item, i) => equal(item, y[i]))
        if (!isObject(x)) return x === y
        if (!isObject(y)) return false
        const keys = Object.keys(x)
        return (
          keys.length === Object.keys(y).length && keys.every((key) => Object.hasOwn(y, key) && equal(x[key], y[key]))
        )
      }
      assert.is(canonicalText(a) === canonicalText(b), equal(a, b))
    }),
    settings(RUNS * 10),
  ))

test('CORE-8: hash and digest are the same for every key order, and a shuffled repeat is a duplicate', async () => {
  const header: Rec = { type: 'header', asr: '1', sessionId: 'hash' }
  const store = await openStore(memoryLocation())
  const stream = await store.createStream(header as Header)
  const model = new ModelStream(header)
  await fc.assert(
    fc.asyncProperty(json(3), fc.nat(), fc.uuid(), async (payload, dice, id) => {
      if (model.byId(id) !== undefined) return
      const record = { type: 'x', id, payload }
      const before = model.rows.length
      model.append([record])
      await stream.append(record)
      const repeat = await stream.append(shuffled(record, dice) as { type: string }, { expected: before })
      assert.equal(repeat, { first: before + 1, last: before + 1, appended: 0, duplicates: 1 })
      assert.is(await stream.hash(id), model.hash(id))
    }),
    settings(Math.min(RUNS, 2_000)),
  )
  assert.is(await stream.digest(), model.digest())
  await store.close()
})

test('RFC 8785, appendix B: numbers are written as printed there', () => {
  const view = new DataView(new ArrayBuffer(8))
  for (const [bits, text] of NUMBERS) {
    view.setBigUint64(0, BigInt(`0x${bits}`))
    assert.is(canonicalText(view.getFloat64(0)), text, bits)
  }
  for (const number of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
    assert.throws(
      () => canonicalText([number]),
      (error: { code?: string }) => error.code === 'ASR_BAD_VALUE',
    )
})

test('RFC 8785, 3.2.2: the example comes out in its canonical form', () => {
  const source =
    '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
    '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}'
  const expected =
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
    '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
  assert.is(canonicalText(JSON.parse(source)), expected)
})

test('RFC 8785, 3.2.3: keys are sorted by their UTF-16 units', () => {
  const source = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  }
  const expected = ['\\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']
  const keys = canonicalText(source).match(/"([^"]*)":/g)
  assert.equal(
    keys?.map((key) => key.slice(1, -2)),
    expected,
  )
})

test('CORE-8: a lone surrogate is written as its escape, in values and in keys', () => {
  assert.is(canonicalText({ '\ud83d': '\ude00', a: '\ud83d\ude00' }), '{"a":"\ud83d\ude00","\\ud83d":"\\ude00"}')
  const texts = ['a\ud83d', 'a\udc00', 'a\ufffd', 'a\\ud83d'].map((text) => canonicalText({ text }))
  assert.is(new Set(texts).size, 4)
})

const NUMBERS: [string, string][] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
]

test.run()
