/**
 * A look-up waits for rows of the index, and meanwhile the stream grows and its index is written: pages leave memory, keys move
 * into runs. Whenever that comes, the look-up finds what was there when it began.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runFlow } from '../../src/base/flow.js'
import { pageOf } from '../../src/index/page.js'
import { IndexDamaged } from '../../src/index/rows.js'
import type { StreamIndex } from '../../src/index/stream-index.js'
import { memoryLocation } from '../../src/main.js'
import { emptyIndex, feed, flush, PlainIndex, reopened } from '../index/plain-index.js'
import { cases } from './battery.js'

const PAGE = 4_096

/** Records in level, in memory when the look-up begins, and when the index is written during it. */
const SHAPES: [written: number, begun: number, flushed: number][] = [
  [PAGE - 1, 2 * PAGE - 1, 2 * PAGE + 10], // a page of which level knows nothing is written
  [PAGE + 5, 2 * PAGE - 1, 2 * PAGE + 10], // one that level knows in part
  [PAGE - 1, 3 * PAGE, 3 * PAGE + 1],
  [16 * PAGE - 1, 17 * PAGE - 1, 17 * PAGE + 1],
  [15 * PAGE + 7, 16 * PAGE - 1, 16 * PAGE + 1], // its keys, and those of fifteen more, are merged
]

/** Asks for a key; after so many waits something else happens. Undefined when it waited less often. */
async function askedWhile(
  index: StreamIndex,
  key: number,
  waits: number,
  happens: () => Promise<void>,
): Promise<number[] | undefined> {
  const question = index.candidates(key)
  let step = question.next()
  let isDone = false
  for (let wait = 0; !step.done; wait++) {
    await step.value
    if (wait === waits) await happens()
    isDone ||= wait === waits
    step = question.next()
  }
  return isDone ? step.value : undefined
}

for (const [written, begun, flushed] of SHAPES) {
  test(`CORE-10: ${written} records in level and ${begun} in all: a flush at any moment of a look-up hides no key`, async () => {
    const plain = new PlainIndex(written, 61)
    const keyed = plain.upTo(flushed).filter(({ entry, keys }) => entry.pos <= begun && keys.length > 0)
    const chosen = [
      keyed[0],
      keyed[Math.floor(keyed.length / 2)],
      ...keyed.slice(-3),
      keyed.find((row) => row.entry.pos > written)!,
    ]
    let waits = 0
    await cases(`flushes in look-ups, ${written}`, chosen.length * 6, async (n, _, tally) => {
      const first = emptyIndex()
      await feed(first, plain, written)
      await flush(first)
      const index = await reopened(first)
      await feed(index, plain, begun)
      const [key] = chosen[n % chosen.length].keys
      try {
        const found = await askedWhile(index, key, Math.floor(n / chosen.length), async () => {
          waits++
          await feed(index, plain, flushed)
          await flush(index)
        })
        if (found === undefined) return
        const right = plain.byKey.get(key)!
        assert.equal(
          found.filter((pos) => pos <= begun),
          right.filter((pos) => pos <= begun),
        )
        tally.add('found')
      } catch (error) {
        if (!(error instanceof IndexDamaged)) throw error
        tally.add('asked again') // as the engine does when the index is not the one it was
      }
    })
    assert.ok(waits > 0, 'the look-up waits at all')
  })
}

test('CORE-10: a look-up at any moment of a flush, in a level that answers at once, is right', async () => {
  const { index: level } = memoryLocation()
  await level.open()
  const plain = new PlainIndex(3, 61)
  const index = emptyIndex(level)
  let asked = 0
  for (let length = PAGE - 3; length < 18 * PAGE; length += 1_531) {
    await feed(index, plain, length)
    const keyed = plain.upTo(length).filter(({ keys }) => keys.length > 0)
    const ofEachPage = keyed.filter(({ entry }, i) => i === 0 || pageOf(entry.pos) !== pageOf(keyed[i - 1].entry.pos))
    let isDone = false
    const flushing = flush(index).finally(() => {
      isDone = true
    })
    while (!isDone) {
      index.cache.clear() // as if there were many streams
      for (const { entry, keys } of ofEachPage) {
        const found = await runFlow(index.candidates(keys[0]))
        assert.equal(
          found,
          plain.byKey.get(keys[0])!.filter((pos) => pos <= length),
          `${length}: key of ${entry.pos}`,
        )
        assert.equal(await runFlow(index.entry(entry.pos)), entry)
        asked++
      }
      await Promise.resolve()
    }
    await flushing
  }
  assert.ok(asked > 100, `${asked} look-ups`)
})

test.run()
