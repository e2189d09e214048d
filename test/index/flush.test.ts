/**
 * What is written to level says the same as what was in memory, and is the same whenever it was written.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PAGE_POSITIONS } from '../../src/index/page.js'
import { parseKey } from '../../src/index/row-key.js'
import { waitingLevel } from '../support/levels.js'
import { dice, emptyIndex, expectAnswers, feed, flush, PlainIndex, reopened, rowsOf } from './plain-index.js'

const SIZES = [
  1,
  2,
  4_095,
  4_096,
  4_097,
  20_000,
  16 * PAGE_POSITIONS - 2,
  16 * PAGE_POSITIONS - 1,
  16 * PAGE_POSITIONS,
  70_000,
]

for (const size of SIZES) {
  test(`answers from memory, after a flush and after reopening are the same at ${size} records`, async () => {
    const plain = new PlainIndex(size, 4)
    const step = Math.max(1, Math.floor(size / 1_500))
    const index = emptyIndex()
    await feed(index, plain, size)
    await expectAnswers(index, plain, step)
    await flush(index)
    assert.is(index.persisted.length, size)
    await expectAnswers(index, plain, step)
    await expectAnswers(await reopened(index), plain, step)
  })
}

/** The rows of an index that was flushed whenever it had grown to one of these lengths. */
async function flushedAt(plain: PlainIndex, lengths: readonly number[], reopen = false): Promise<Map<string, string>> {
  let index = emptyIndex(waitingLevel())
  for (const length of lengths) {
    await feed(index, plain, length)
    await flush(index)
    if (reopen) index = await reopened(index)
  }
  return rowsOf(index.level)
}

function randomLengths(size: number, seed: number, largest: number): number[] {
  const roll = dice(seed)
  const lengths: number[] = []
  for (let length = 1; length < size; length += 1 + Math.floor(roll() * largest)) lengths.push(length)
  return [...lengths, size]
}

function expectSameRows(found: Map<string, string>, expected: Map<string, string>): void {
  assert.equal([...found.keys()], [...expected.keys()])
  for (const [key, bytes] of expected) assert.ok(found.get(key) === bytes, `row ${key}`)
}

for (const size of [1, 4_095, 8_192, 70_000]) {
  test(`the rows of ${size} records are the same bytes whatever the flush points`, async () => {
    const plain = new PlainIndex(size)
    const expected = await flushedAt(plain, [size])
    const regular = Array.from({ length: Math.floor(size / 4_096) }, (_, i) => (i + 1) * 4_096)
    expectSameRows(await flushedAt(plain, [...regular, size]), expected)
    expectSameRows(await flushedAt(plain, randomLengths(size, 2, size / 10 + 2), true), expected)
    expectSameRows(await flushedAt(plain, [size, size]), expected)
  })
}

test('a flush after each record leaves no more rows than one at the end', async () => {
  const plain = new PlainIndex(3)
  const lengths = Array.from({ length: 60 }, (_, i) => i + 4_060)
  expectSameRows(await flushedAt(plain, lengths), await flushedAt(plain, [lengths.at(-1)!]))
})

test('a million records are merged twice, and both the merged and the newest are found', async () => {
  const size = 257 * PAGE_POSITIONS + 10
  const plain = new PlainIndex(1, 50)
  const index = emptyIndex()
  for (const length of [100_000, 900_000, 1_040_000, size]) {
    await feed(index, plain, length)
    await flush(index)
  }
  const levels = (rows: Iterable<string>, kind: string) =>
    [...rows].flatMap((row) => {
      const key = parseKey(row)
      return key?.kind === kind ? ['level' in key ? key.level : key.kind] : []
    })
  const rows = await rowsOf(index.level)
  assert.equal(levels(rows.keys(), 'run'), [2], 'the runs of level 1 are gone')
  assert.is(levels(rows.keys(), 'keys').length, 2, 'and so are the keys of merged pages')
  await expectAnswers(index, plain, 30_011)
  await expectAnswers(await reopened(index), plain, 30_011)
})

test('records that come while a flush is under way stay in memory and are flushed by the next', async () => {
  const plain = new PlainIndex(5)
  const index = emptyIndex()
  await feed(index, plain, 10_000)
  const flushing = flush(index)
  await feed(index, plain, 14_000)
  await flushing
  assert.is(index.persisted.length, 10_000)
  await expectAnswers(index, plain, 13)
  await expectAnswers(await reopened(index), plain, 13)
  await flush(index)
  expectSameRows(await rowsOf(index.level), await flushedAt(plain, [14_000]))
})

test('after a flush only the page that grows stays in memory', async () => {
  const plain = new PlainIndex(6)
  const index = emptyIndex()
  await feed(index, plain, 20_000)
  assert.is(index.growing.size, 5)
  await flush(index)
  assert.is(index.growing.size, 1)
})

test('a flush that level refuses changes nothing, and the next one writes all', async () => {
  const plain = new PlainIndex(7)
  const level = waitingLevel()
  const index = emptyIndex(level)
  await feed(index, plain, 5_000)
  await flush(index)
  await feed(index, plain, 70_000)
  const { batch } = level
  level.batch = (() => Promise.reject(new Error('full'))) as unknown as typeof level.batch
  await flush(index).then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'full'),
  )
  level.batch = batch
  assert.is(index.persisted.length, 5_000)
  await expectAnswers(index, plain, 501)
  await flush(index)
  expectSameRows(await rowsOf(level), await flushedAt(plain, [70_000]))
})

test.run()
