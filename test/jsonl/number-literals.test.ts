import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { numberFidelity, sayRounded } from '../../src/jsonl/number-literals.js'
import { settings } from '../property/settings.js'

// biome-ignore format: a table reads better
const EXACT = [
  '0', '-0', '1', '-1', '1.0', '1.50', '0.1', '-0.10', '1e2', '1E+2', '1e-2', '100e-2', '0.0', '0e5', '0E-999999999999', '-0.00e9',
  '9007199254740991', '9007199254740992', '9007199254740994', '1e21', '1e22', '1000000000000000000000', '123456789012345680000',
  '1.7976931348623157e308', '17976931348623157e292', '5e-324', '0.5e-323', '2.2250738585072014e-308', '0.30000000000000004',
  '-1234567890.12345', '0.000001', '0.0000001', '1e-7',
]
// biome-ignore format: a table reads better
const ROUNDED = [
  '12345678901234567890', '9007199254740993', '-9007199254740993', '0.1000000000000000055', '0.10000000000000000001', '1e-400',
  '-1e-400', '1.00000000000000000000001', '3.14159265358979323846', '4e-324', '123456789012345678e3', '0.0000001234567890123456789',
]
const INFINITE = ['1e400', '-1e400', '1.8e308', '1e99999999999999999999', '9'.repeat(400)]

test('CORE-7: a literal that its double gives back, however written, is exact', () => {
  for (const literal of EXACT) assert.is(numberFidelity(`{"a":${literal}}`), 'exact', literal)
})

test('CORE-7: a rounded literal is named with its place, its digits and what it is read as', () => {
  const big = '9007199254740993'
  const read = 'is read as 9007199254740992'
  const said: [string, string][] = [
    [big, `the number ${big} at "" ${read}`],
    [`{"a":"${big}","b":${big}}`, `the number ${big} at "/b" ${read}`],
    [`{"x":[1,"2,3",{"k":"v"},[[],${big}]]}`, `the number ${big} at "/x/3/1" ${read}`],
    [
      `{"p":{"q":"r","s":[]},"a/b~c\\"":{"\\u0041":-${big}}}`,
      `the number -${big} at "/a~1b~0c\\"/A" ${read.replace('9007', '-9007')}`,
    ],
    [
      `[${big},1,${big},{"z":${big}}]`,
      `the number ${big} at "/0" ${read}, and 2 more of the line are not what a double can hold`,
    ],
    [`{"n":0.${'1'.repeat(99)}}`, `the number 0.${'1'.repeat(58)}… at "/n" is read as 0.1111111111111111`],
  ]
  for (const [text, words] of said) assert.is(sayRounded(text), words)
})

test('CORE-7: a literal between the doubles is rounded', () => {
  for (const literal of ROUNDED) assert.is(numberFidelity(`{"a":${literal}}`), 'rounded', literal)
})

test('CORE-7: a literal beyond the doubles is infinite, whatever else there is', () => {
  for (const literal of INFINITE) {
    assert.is(numberFidelity(`{"a":${literal}}`), 'infinite', literal)
    assert.is(numberFidelity(`[9007199254740993,${literal},9007199254740993]`), 'infinite', literal)
  }
})

test('each literal is looked at, wherever it stands', () => {
  assert.is(numberFidelity('9007199254740993'), 'rounded')
  assert.is(numberFidelity('[1,2,9007199254740993]'), 'rounded')
  assert.is(numberFidelity('{"a":{"b":[0.5,-9007199254740993 ]}}'), 'rounded')
  assert.is(numberFidelity('{"a":9007199254740993,"a":1}'), 'rounded')
  assert.is(numberFidelity('[true,false,null,[],{}]'), 'exact')
})

test('digits in strings and keys are no literals', () => {
  assert.is(numberFidelity('{"1e400":"9007199254740993","\\"1e400":"\\\\","b":1}'), 'exact')
})

test('any double written by JSON.stringify is exact, and so is it with zeros added', () => {
  const double = fc.double({ noNaN: true, noDefaultInfinity: true })
  fc.assert(
    fc.property(fc.array(double), double, (numbers, number) => {
      assert.is(numberFidelity(JSON.stringify(numbers)), 'exact')
      const [mantissa, exponent] = JSON.stringify(number).split('e')
      const padded = `${mantissa}${mantissa.includes('.') ? '' : '.'}000${exponent === undefined ? '' : `E${exponent}`}`
      assert.is(numberFidelity(padded), 'exact')
    }),
    settings(100),
  )
})

test('an integer literal is exact just when its double holds that integer, or prints as it', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (integer) => {
      const double = Number(integer)
      const exact = BigInt(double) === integer || integerOf(JSON.stringify(double)) === integer
      assert.is(numberFidelity(`${integer}`) === 'exact', exact, `${integer}`)
    }),
    settings(100),
  )
})

function integerOf(printed: string): bigint {
  const [mantissa, exponent = '0'] = printed.split('e')
  const [whole, fraction = ''] = mantissa.split('.')
  return BigInt(whole + fraction) * 10n ** BigInt(Number(exponent) - fraction.length)
}

test('literals of millions of digits take linear time', () => {
  const started = performance.now()
  assert.is(numberFidelity(`[${'1'.repeat(4_000_000)}]`), 'infinite')
  assert.is(numberFidelity(`[0.${'0'.repeat(2_000_000)}${'10'.repeat(1_000_000)}]`), 'rounded')
  assert.is(numberFidelity(`[1.${'0'.repeat(4_000_000)}]`), 'exact')
  assert.is(numberFidelity(`[${'1,'.repeat(1_000_000)}1]`), 'exact')
  assert.ok(performance.now() - started < 3_000)
})

test.run()
