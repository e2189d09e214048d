import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { IndexLevel } from '../../src/index/level.js'
import { decodeRoot } from '../../src/index/root.js'
import { createRowCache } from '../../src/index/row-cache.js'
import { IndexDamaged, logRows } from '../../src/index/rows.js'
import { StreamIndex } from '../../src/index/stream-index.js'
import { flipped } from '../log/handmade.js'
import { waitingLevel } from '../support/levels.js'
import { emptyIndex, expectAnswers, feed, flush, LOG, PlainIndex, reopened, rowsOf } from './plain-index.js'

const ENCODINGS = { keyEncoding: 'utf8', valueEncoding: 'view' } as const
const SIZE = 20_000
const STEP = 997

async function written(size: number, plain = new PlainIndex(1)) {
  const index = emptyIndex()
  await feed(index, plain, size)
  await flush(index)
  const rows: [string, Uint8Array][] = []
  for await (const [key, bytes] of logRows(index.level, LOG)) rows.push([key, new Uint8Array(bytes)])
  return { index, plain, level: index.level, rows }
}

async function copyOf(level: IndexLevel): Promise<IndexLevel> {
  const copy = waitingLevel()
  for await (const [key, bytes] of logRows(level, LOG)) await copy.put(key, bytes, ENCODINGS)
  return copy
}

/** The answers are right, or the index says that it is damaged: nothing else. */
async function rightOrDamaged(level: IndexLevel, plain: PlainIndex): Promise<'right' | 'damaged' | 'absent'> {
  try {
    const opened = await StreamIndex.open(level, LOG, createRowCache())
    if (opened === undefined) return 'absent'
    await expectAnswers(opened.index, plain, STEP)
    await opened.index.prepare().next().value
    return 'right'
  } catch (error) {
    if (error instanceof IndexDamaged) return 'damaged'
    throw error
  }
}

test('an index opens with its state, its heads and the logState', async () => {
  const { index, level } = await written(5_000)
  const opened = await StreamIndex.open(level, LOG, createRowCache())
  assert.equal(opened?.index.state, index.state)
  assert.equal(opened?.logState, { from: 0, shapes: [['type', 'id']] })
  assert.equal([opened?.root.sessionId, opened?.root.title, opened?.root.boot], ['s', 't', 'b'])
  assert.is(await StreamIndex.open(level, 'ffffffffffffffff', createRowCache()), undefined)
})

test('a reopened index goes on as the one that was not closed', async () => {
  for (const [before, after] of [
    [10, 20],
    [4_095, 4_096],
    [4_096, 4_097],
    [4_100, 9_000],
    [60_000, 70_000],
  ]) {
    const plain = new PlainIndex(after)
    const { index } = await written(before, plain)
    const again = await reopened(index)
    await feed(again, plain, after)
    await expectAnswers(again, plain, STEP)
    await flush(again)
    await expectAnswers(await reopened(again), plain, STEP)
  }
})

test('names are there for the newest records, and for none that level holds', async () => {
  const plain = new PlainIndex(3)
  const index = emptyIndex()
  await feed(index, plain, 4_100)
  assert.equal(index.nameOf(4_100), { id: 'id4100', stated: undefined })
  await flush(index)
  assert.is((await reopened(index)).nameOf(4_100), undefined)
})

for (const [name, change] of [
  ['deleted', undefined],
  ['with a bit turned over', (bytes: Uint8Array) => flipped(bytes, Math.floor(bytes.length / 2), 3)],
  ['cut short', (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 1)],
  ['emptied', () => new Uint8Array(0)],
] as const) {
  test(`CORE-10: with any row ${name} the answers are right, or the index says that it is damaged`, async () => {
    const { level, plain, rows } = await written(SIZE)
    const outcomes = new Map<string, string>()
    for (const [key, bytes] of rows) {
      if (change === undefined) await level.del(key, { keyEncoding: 'utf8' })
      else await level.put(key, change(bytes), ENCODINGS)
      outcomes.set(key, await rightOrDamaged(level, plain))
      await level.put(key, bytes, ENCODINGS)
    }
    assert.is(await rightOrDamaged(level, plain), 'right')
    for (const [key, outcome] of outcomes) assert.is.not(outcome, 'right', `row ${key} is needed`)
  })
}

test('CORE-10: a row of an earlier flush in the place of a later one is found out', async () => {
  const plain = new PlainIndex(9)
  const { index, level, rows: old } = await written(SIZE, plain)
  await feed(index, plain, SIZE + 1_000)
  await flush(index)
  const current = await rowsOf(level)
  let changed = 0
  for (const [key, bytes] of old) {
    if (current.get(key) === Buffer.from(bytes).toString('latin1')) continue
    const now = new Uint8Array((await level.get(key, ENCODINGS)) as Uint8Array)
    await level.put(key, bytes, ENCODINGS)
    const outcome = await rightOrDamaged(level, plain)
    const isRoot = decodeRoot(bytes, index.incarnation) !== undefined
    // A stale root names rows that are no longer there as it knew them; where they still are, it is a shorter truth.
    assert.ok(isRoot || outcome !== 'right', key)
    await level.put(key, now, ENCODINGS)
    changed++
  }
  assert.ok(changed >= 5)
})

test('CORE-10: rows in each other’s places are found out', async () => {
  const { level, plain, rows } = await written(SIZE)
  const pages = rows.filter(([key]) => key.includes('/e/'))
  for (let i = 1; i < pages.length; i++) {
    await level.put(pages[i][0], pages[i - 1][1], ENCODINGS)
    assert.is(await rightOrDamaged(level, plain), 'damaged')
    await level.put(pages[i][0], pages[i][1], ENCODINGS)
  }
})

/** Asks for a key, and has the index written anew once the question has waited so many times. */
async function flushedBetween(index: StreamIndex, key: number, waits: number, flushed: () => Promise<void>) {
  const question = index.candidates(key)
  let step = question.next()
  for (let wait = 0; !step.done; wait++) {
    if (wait === waits) await flushed()
    const settled = await Promise.allSettled([step.value])
    step = settled[0].status === 'fulfilled' ? question.next() : question.throw(settled[0].reason)
  }
  return step.value
}

test('CORE-10: a flush between the steps of a look-up hides no key', async () => {
  const MERGES = 131_072 // records: a flush behind them merges the keys of the second sixteen pages
  const plain = new PlainIndex(5, 16)
  const before = emptyIndex()
  await feed(before, plain, MERGES - 100)
  await flush(before)
  const rows = plain.upTo(MERGES + 100)
  const right = (key: number) => (plain.byKey.get(key) ?? []).filter((pos) => pos <= MERGES + 100)
  const newest = rows.slice(MERGES - 100, MERGES - 1).filter(({ keys }) => keys.length > 0)
  for (const [i, { keys }] of newest.slice(0, 6).entries()) {
    const opened = (await StreamIndex.open(await copyOf(before.level), LOG, createRowCache()))?.index as StreamIndex
    await feed(opened, plain, MERGES - 1)
    const found = await flushedBetween(opened, keys[0], i, async () => {
      await feed(opened, plain, MERGES + 100)
      await flush(opened)
    })
    assert.equal(found, right(keys[0]))
  }
  assert.ok(newest.length >= 6)
})

test('CORE-10: what was read of a page that then grew is not taken for the whole of it', async () => {
  for (const [before, after] of [
    [100, 4_300],
    [4_100, 8_300],
    [60_000, 66_000],
  ]) {
    const plain = new PlainIndex(before)
    const { index } = await written(before, plain)
    const again = await reopened(index)
    await expectAnswers(again, plain) // all of its rows are at hand now
    await feed(again, plain, after)
    await flush(again)
    await expectAnswers(again, plain)
  }
})

test('a level of another log, or of none, holds nothing', async () => {
  assert.is(await StreamIndex.open(waitingLevel(), LOG, createRowCache()), undefined)
})

test('CORE-10: a run of merged keys that is damaged is found out at the first look-up that needs it', async () => {
  const { level, plain, rows } = await written(70_000, new PlainIndex(2, 8))
  const merged = rows.filter(([key]) => /\/[gh]\//.test(key))
  assert.ok(merged.length > 5)
  for (const [key, bytes] of merged) {
    await level.put(key, flipped(bytes, 20), ENCODINGS)
    const opened = await StreamIndex.open(level, LOG, createRowCache())
    let outcome = 'right'
    try {
      await expectAnswers(opened!.index, plain, 97)
    } catch (error) {
      if (!(error instanceof IndexDamaged)) throw error
      outcome = 'damaged'
    }
    assert.is(outcome, 'damaged', key)
    await level.put(key, bytes, ENCODINGS)
  }
})

test.run()
