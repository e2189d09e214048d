import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { floorIndex, Sparse, Steps } from '../../src/index/sparse.js'
import { RUNS, settings } from '../property/settings.js'

const rising = fc
  .uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 30 })
  .map((items) => items.sort((a, b) => a - b))

test('the last position at or before another is found', () =>
  fc.assert(
    fc.property(rising, fc.nat(110), (positions, pos) => {
      assert.is(floorIndex(positions, pos), positions.filter((one) => one <= pos).length - 1)
    }),
    settings(RUNS),
  ))

test('a sparse column has values at their positions only', () =>
  fc.assert(
    fc.property(rising, (positions) => {
      const column = new Sparse()
      for (const pos of positions) column.push(pos, pos * 2)
      for (let pos = 0; pos <= 101; pos++) assert.is(column.at(pos), positions.includes(pos) ? pos * 2 : undefined)
    }),
    settings(RUNS),
  ))

test('a column of steps keeps each value up to the next, and repeats none', () =>
  fc.assert(
    fc.property(fc.array(fc.nat(3), { maxLength: 40 }), (values) => {
      const column = new Steps()
      for (const [i, value] of values.entries()) column.push(i + 1, value)
      for (const [i, value] of values.entries()) assert.is(column.at(i + 1), value)
      assert.is(column.at(0), 0)
      assert.not(column.values.values.some((value, i) => i > 0 && value === column.values.values[i - 1]))
    }),
    settings(RUNS),
  ))

test.run()
