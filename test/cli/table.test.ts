import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { humanBytes, table } from '../../src/cli/table.js'

test('a table has no borders, and its columns are as wide as what they hold', () => {
  const drawn = table(
    [{ name: 'N', align: 'right' }, { name: 'NAME' }, { name: 'REST' }],
    [
      ['1', '漢字', 'x'],
      ['100', 'b', ''],
    ],
  )
  assert.equal(drawn, [[{ text: '  N  NAME  REST', colour: 'dim' }], '  1  漢字  x', '100  b'])
})

test('only the last column is cut, and what it holds cannot break the line', () => {
  const before = process.env.COLUMNS
  process.env.COLUMNS = '20'
  try {
    const drawn = table([{ name: 'ID' }, { name: 'TITLE' }], [['0123456789', 'a title\nof two lines']])
    assert.equal(drawn.slice(1), ['0123456789  a title…'])
  } finally {
    if (before === undefined) delete process.env.COLUMNS
    else process.env.COLUMNS = before
  }
})

test('a table takes no square of time, and any number of rows', () => {
  const cpuOf = (count: number): number => {
    const rows = Array.from({ length: count }, (_, n) => [`${n}`, `record ${n}`, 'primary'])
    const before = process.cpuUsage()
    assert.is(table([{ name: 'POS', align: 'right' }, { name: 'RECORD' }, { name: 'HEADS' }], rows).length, count + 1)
    return process.cpuUsage(before).user / 1_000
  }
  // What takes less than 20 ms is not measured, and whatever else runs only adds to a measure.
  const growth = (): number => cpuOf(150_000) / Math.max(cpuOf(15_000), 20)
  assert.ok(Math.min(growth(), growth(), growth()) < 25)
})

test('sizes are told in the unit that fits', () => {
  assert.equal([0, 999, 1_000, 9_949, 10_400, 999_499, 999_500, 5e9].map(humanBytes), [
    '0 B',
    '999 B',
    '1.0 kB',
    '9.9 kB',
    '10 kB',
    '999 kB',
    '1.0 MB',
    '5.0 GB',
  ])
})

test.run()
