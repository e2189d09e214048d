import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readTime } from '../../../src/acp/recorder/time.js'

const EARLIEST = Date.parse('1973-03-03T09:46:40Z')
const LATEST = Date.parse('2286-11-20T17:46:39Z')

/** An instant, as captures of all kinds write it down, and by how much that may be off. */
function renderings(ms: number): [unknown, number][] {
  const iso = new Date(ms).toISOString()
  const ahead = new Date(ms + 5.5 * 3_600_000).toISOString().replace('Z', '')
  const behind = new Date(ms - 8 * 3_600_000).toISOString().replace('Z', '')
  return [
    [Math.floor(ms / 1000), 1000],
    [ms / 1000, 1],
    [ms, 1],
    [ms + 0.25, 1],
    [ms * 1000, 1],
    [ms * 1e6, 1],
    [String(Math.floor(ms / 1000)), 1000],
    [(ms / 1000).toFixed(6), 1],
    [String(ms), 1],
    [` ${ms}000 `, 1],
    [`${ms}000000`, 1],
    [(ms / 1000).toExponential(), 1],
    [new Date(ms), 0],
    [iso, 0],
    [iso.toLowerCase().replace('t', ' '), 0],
    [iso.replace('.', ','), 0],
    [iso.replace('Z', ''), 0],
    [iso.replace('Z', '456789+00:00'), 0],
    [iso.replace(/\.\d+Z/, 'Z'), 1000],
    [iso.replace(/:\d\d\.\d+Z/, 'Z'), 60_000],
    [`${ahead}+05:30`, 0],
    [`${ahead}+0530`, 0],
    [`${behind}-08`, 0],
  ]
}

test('ASR-707: an instant is read from whatever it is written down as, and what is not as asked for is said', () => {
  const property = fc.property(fc.integer({ min: EARLIEST, max: LATEST }), (ms) => {
    for (const [given, off] of renderings(ms)) {
      const read = readTime(given)
      assert.ok(read !== undefined, `${given}`)
      const { time } = read
      assert.ok(Math.abs(Date.parse(time) - ms) <= off, `${given} is read as ${time}`)
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/)
    }
  })
  fc.assert(property, { numRuns: 300, seed: 3 })
})

test('ASR-707: what is as asked for is taken without a word', () => {
  for (const given of [1_793_025_000_000, new Date(), '2026-10-26T14:30:00Z', '2026-10-26T14:30:00.123456+02:00'])
    assert.is(readTime(given)?.readAs, undefined, `${given}`)
  assert.is(readTime('2026-10-26T14:30:00.123456+02:00')?.time, '2026-10-26T14:30:00.123456+02:00', 'digit for digit')
  for (const [given, readAs] of [
    [1_793_025_000, 'seconds of the epoch'],
    ['1793025000000', 'milliseconds of the epoch'],
    [1_793_025_000_000_000, 'microseconds of the epoch'],
    ['1793025000000000001', 'nanoseconds of the epoch'],
    ['2026-10-26T14:30:00', 'UTC, as they name no offset'],
  ] as const)
    assert.is(readTime(given)?.readAs, readAs)
})

test('ASR-707: what tells no time is not read as one', () => {
  const other = [0, 1, 12_345.678, 99_999_999, 1e10, 1e13, 1e16, 1e19, 1e20, 1e300, Number.NaN, Infinity, -Infinity]
  const negative = [-1, -1_793_025_000, -1_793_025_000_000, '-1793025000', '-0']
  const digits = ['', ' ', '2026', '20261026', '20261026143000', '20261026143000123', '0x6ae0d4e8', '1_793_025_000']
  const texts = ['yesterday', 'May 5', '12', '2026-10-26', '14:30:00', '26/10/2026 14:30', '2026-10-26T14:30:00Zulu']
  const wrong = [
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-10-26T25:00:00Z',
    '2026-10-26T14:60:00Z',
    '2026-10-26T14:30:00+99:00',
  ]
  const kinds = [null, undefined, true, {}, [], [1_793_025_000], 1_793_025_000n, Symbol('now'), new Date(Number.NaN)]
  for (const given of [...other, ...negative, ...digits, ...texts, ...wrong, ...kinds])
    assert.is(readTime(given), undefined, String(given))
})

test.run()
