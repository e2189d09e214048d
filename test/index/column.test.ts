import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Column, joinPieces, RisingColumn, splitPieces } from '../../src/index/column.js'
import { RUNS, settings } from '../property/settings.js'

const number = fc.oneof(
  fc.integer({ min: -1, max: 300 }),
  fc.integer({ min: -1, max: Number.MAX_SAFE_INTEGER - 1 }),
  fc.constantFrom(-1, 0, 126, 127, 128, 2 ** 14 - 2, 2 ** 14 - 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 49, 2 ** 53 - 2),
)

test('a column is read as it was written, and goes on from there', () =>
  fc.assert(
    fc.property(fc.array(number), number, (numbers, more) => {
      const column = new Column()
      column.values.push(...numbers)
      const again = new Column(column.encode())
      assert.equal(again.values, numbers)
      again.values.push(more)
      assert.equal(new Column(again.encode()).values, [...numbers, more])
    }),
    settings(RUNS),
  ))

test('a rising column is read as it was written, from any first number', () =>
  fc.assert(
    fc.property(fc.array(number), (numbers) => {
      const rising = numbers.sort((a, b) => a - b)
      const column = new RisingColumn()
      column.values.push(...rising)
      assert.equal(new RisingColumn(column.encode()).values, rising)
    }),
    settings(RUNS),
  ))

test('a number is found in a column that is not decoded, and in one that is', () =>
  fc.assert(
    fc.property(fc.array(number, { minLength: 1 }), fc.array(fc.nat(), { maxLength: 6 }), (numbers, choices) => {
      const rising = [...numbers].sort((a, b) => a - b)
      for (const [values, make] of [
        [numbers, (bytes?: Uint8Array) => new Column(bytes)],
        [numbers, (bytes?: Uint8Array) => new Column(bytes, numbers.length)],
        [rising, (bytes?: Uint8Array) => new RisingColumn(bytes)],
      ] as const) {
        const column = make()
        column.values.push(...values)
        const again = make(column.encode())
        for (const choice of choices) assert.is(again.at(choice % values.length), values[choice % values.length])
      }
    }),
    settings(RUNS),
  ))

test('small numbers take a byte, and so do small steps', () => {
  const [column, rising] = [new Column(), new RisingColumn()]
  for (let i = 0; i < 100; i++) {
    column.values.push(i)
    rising.values.push(2 ** 40 + 100 * i)
  }
  assert.is(column.encode().length, 100)
  assert.is(rising.encode().length, 6 + 99)
})

test('pieces are split as they were joined, wherever they lie', () =>
  fc.assert(
    fc.property(fc.array(fc.uint8Array()), fc.nat(9), (pieces, offset) => {
      const joined = joinPieces(pieces)
      const elsewhere = new Uint8Array(joined.length + offset)
      elsewhere.set(joined, offset)
      assert.equal(
        splitPieces(elsewhere.subarray(offset)).map((piece) => [...piece]),
        pieces.map((piece) => [...piece]),
      )
    }),
    settings(RUNS),
  ))

test.run()
