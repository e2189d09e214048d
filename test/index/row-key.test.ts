import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { formatKey, logRange, parseKey, type RowKey } from '../../src/index/row-key.js'
import { RUNS, settings } from '../property/settings.js'

const incarnation = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((n) => n.toString(16).padStart(16, '0'))
const number = fc.oneof(fc.nat(20), fc.nat(2 ** 48 - 1))
const rowKey: fc.Arbitrary<RowKey> = fc.oneof(
  fc.record({ kind: fc.constantFrom('root' as const), incarnation }),
  fc.record({ kind: fc.constantFrom('heads' as const, 'dictionary' as const), incarnation }),
  fc.record({ kind: fc.constantFrom('directory' as const), incarnation, number }),
  fc.record({ kind: fc.constantFrom('page' as const, 'keys' as const), incarnation, number }),
  fc.record({ kind: fc.constantFrom('run' as const), incarnation, level: fc.nat(255), number }),
  fc.record({ kind: fc.constantFrom('bucket' as const), incarnation, level: fc.nat(255), number, bucket: number }),
)

test('a key is taken apart as it was made', () =>
  fc.assert(
    fc.property(rowKey, (key) => {
      assert.equal(parseKey(formatKey(key)), { ...key })
    }),
    settings(RUNS),
  ))

const KINDS = ['root', 'heads', 'dictionary', 'directory', 'page', 'keys', 'run', 'bucket']

/** The order that the rows are to have: by log, kind, then their numbers. */
function parts(key: RowKey): (string | number)[] {
  const { incarnation, kind, level = 0, number = 0, bucket = 0 } = { level: 0, number: 0, bucket: 0, ...key }
  return [incarnation, KINDS.indexOf(kind), level, number, bucket]
}

function compare(a: (string | number)[], b: (string | number)[]): number {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1
  return 0
}

test('the order of keys is the order of what they name', () =>
  fc.assert(
    fc.property(rowKey, rowKey, (a, b) => {
      const [x, y] = [formatKey(a), formatKey(b)]
      assert.is(Math.sign(compare(parts(a), parts(b))), x < y ? -1 : x > y ? 1 : 0)
    }),
    settings(RUNS),
  ))

test('the range of a log holds its rows and no other', () =>
  fc.assert(
    fc.property(rowKey, incarnation, (key, other) => {
      const { gte, lt } = logRange(other)
      const text = formatKey(key)
      assert.is(text >= gte && text < lt, key.incarnation === other)
    }),
    settings(RUNS),
  ))

test('any other text is no key', () => {
  const good = formatKey({ kind: 'page', incarnation: '0011223344556677', number: 3 })
  const others = [
    good.toUpperCase(),
    `${good}0`,
    good.slice(0, -1),
    `${good}/000000000001`,
    `x${good}`,
    '',
    '/',
    'a/b/c',
  ]
  for (const text of [
    ...others,
    '0011223344556677/a/000000000001',
    '0011223344556677/z',
    '0011223344556677/e/00000000000g',
  ]) {
    assert.is(parseKey(text), undefined, text)
  }
})

test.run()
