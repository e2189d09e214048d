/** Keys of the index: their order is the order of what they name, and reading a key undoes writing it. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { formatKey, logRange, parseKey, type RowKey } from '../../src/index/row-key.js'
import { RUNS, settings } from './settings.js'

const KINDS = ['root', 'heads', 'dictionary', 'directory', 'page', 'keys', 'run', 'bucket'] as const

const incarnation = fc.oneof(
  fc.constantFrom('0000000000000000', '0000000000000001', '00000000000000ff', 'ffffffffffffffff'),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((n) => n.toString(16).padStart(16, '0')),
)
const number = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 48 - 1 }))
const rowKey: fc.Arbitrary<RowKey> = fc.oneof(
  fc.record({ kind: fc.constantFrom('root', 'heads', 'dictionary'), incarnation }),
  fc.record({ kind: fc.constantFrom('directory', 'page', 'keys'), incarnation, number }),
  fc.record({ kind: fc.constant('run'), incarnation, level: fc.nat(255), number }),
  fc.record({ kind: fc.constant('bucket'), incarnation, level: fc.nat(255), number, bucket: number }),
)

/** What orders keys, the weightiest first. */
function rank(key: RowKey): (string | number)[] {
  return [
    key.incarnation,
    KINDS.indexOf(key.kind),
    'level' in key ? key.level : 0,
    'number' in key ? key.number : 0,
    'bucket' in key ? key.bucket : 0,
  ]
}

function compare<T>(a: readonly T[], b: readonly T[]): number {
  const at = a.findIndex((item, i) => item !== b[i])
  if (at === -1) return 0
  return a[at] < b[at] ? -1 : 1
}

test('the order of two keys as UTF-8 is the order of the rows they name', () =>
  fc.assert(
    fc.property(rowKey, rowKey, fc.boolean(), (a, other, sameLog) => {
      const b = sameLog ? { ...other, incarnation: a.incarnation } : other
      const bytes = (key: RowKey) => [...new TextEncoder().encode(formatKey(key))]
      assert.is(compare(bytes(a), bytes(b)), compare(rank(a), rank(b)), `${formatKey(a)} and ${formatKey(b)}`)
    }),
    settings(RUNS * 10),
  ))

test('parsing a key gives what was formatted', () =>
  fc.assert(
    fc.property(rowKey, (key) => assert.equal(parseKey(formatKey(key)), { ...key })),
    settings(RUNS * 10),
  ))

test('a text that is no key is not parsed as one', () => {
  const damaged = fc.tuple(rowKey, fc.nat(60), fc.string({ maxLength: 3, unit: 'binary' })).map(([key, at, text]) => {
    const formatted = formatKey(key)
    return formatted.slice(0, at % (formatted.length + 1)) + text + formatted.slice((at * 7) % (formatted.length + 1))
  })
  fc.assert(
    fc.property(fc.oneof(damaged, fc.string()), (text) => {
      const key = parseKey(text)
      if (key !== undefined) assert.is(formatKey(key), text)
    }),
    settings(RUNS * 10),
  )
  for (const text of [
    '',
    '/',
    '0000000000000000',
    '0000000000000000/z',
    '0000000000000000/a/1',
    'x/a',
    '0000000000000000/e',
  ])
    assert.is(parseKey(text), undefined, text)
})

test('the range of a log holds its keys and no other', () =>
  fc.assert(
    fc.property(incarnation, rowKey, fc.boolean(), (own, key, mine) => {
      const text = formatKey(mine ? { ...key, incarnation: own } : key)
      const { gte, lt } = logRange(own)
      assert.is(text >= gte && text < lt, mine || key.incarnation === own)
    }),
    settings(RUNS * 10),
  ))

test.run()
