/**
 * Battery 27 and 28: the clock jumps, stands still, or says what no clock should. Order and positions never come from it, times are
 * stored as they are given, nothing waits for it.
 */
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AsrRecord, openStore } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { header } from '../support/records.js'
import { tempFolder } from '../support/temp.js'
import { cases } from './battery.js'

const HOUR = 3_600_000
const YEAR = 8_766 * HOUR
const RealDate = Date

/** `new Date()` and `Date.now()` give these one after the other, from the first again at the end. */
function setClock(times: readonly number[]): void {
  let at = 0
  const now = (): number => times[at++ % times.length]
  class JumpingDate extends RealDate {
    constructor(...args: [] | [number | string]) {
      if (args.length === 0) super(now())
      else super(args[0])
    }

    static override now(): number {
      return now()
    }
  }
  globalThis.Date = JumpingDate as DateConstructor
}

const START = RealDate.UTC(2026, 5, 1)
const CLOCKS: [string, number[]][] = [
  ['back by a millisecond', [START, START - 1]],
  ['back by an hour', [START, START - HOUR]],
  ['back by ten years', [START, START - 10 * YEAR]],
  ['forward by a century', [START, START + 100 * YEAR]],
  ['standing still', [START]],
  ['before 1970', [-START]],
  ['beyond the year 9999', [253_402_300_800_000]],
  [
    'over a leap second and the change to summer time',
    [RealDate.UTC(2016, 11, 31, 23, 59, 59, 999), RealDate.UTC(2017, 0, 1), RealDate.UTC(2026, 2, 29, 1)],
  ],
]

test('a clock that jumps changes no order and no position, and keeps nobody from opening or following', async () => {
  await cases('clocks', CLOCKS.length, async (n) => {
    const folder = join(tempFolder(), 'store')
    setClock(CLOCKS[n][1])
    try {
      for (let round = 0; round < 3; round++) {
        const store = await openStore(folder)
        const stream = round === 0 ? await store.createStream(header('s')) : await store.stream('s')
        for (let i = 0; i < 5; i++) {
          const { last } = await stream.append({ type: 'message', id: `${round}.${i}`, ts: new Date().toISOString() })
          assert.is(last, round * 5 + i + 1, CLOCKS[n][0])
        }
        const followed: number[] = []
        for await (const item of stream.follow()) {
          if ('caughtUp' in item) break
          followed.push(item.pos)
        }
        assert.equal(
          followed,
          Array.from({ length: round * 5 + 5 }, (_, i) => i + 1),
        )
        assert.is((await store.verify()).ok, true)
        await store.close()
      }
    } finally {
      globalThis.Date = RealDate
    }
  })
})

test('CORE-6: times in records are data: kept as they are, whatever they say, and sort nothing', async () => {
  const times: unknown[] = [
    '2026-01-01T00:00:00Z',
    '2025-01-01T00:00:00Z',
    '+275760-09-13T00:00:00.000Z',
    '2016-12-31T23:59:60Z',
    'yesterday',
    '',
    0,
    -1,
    1e300,
    null,
    [],
    '9999-99-99',
  ]
  const store = await openStore(join(tempFolder(), 'store'))
  const stream = await store.createStream(header('s'))
  for (const ts of times) await stream.append({ type: 'message', ts, observedAt: ts } as AsrRecord)
  const found = await collect(stream.records())
  assert.equal(
    found.map(({ ts }) => ts),
    times,
  )
  assert.equal(
    found.map(({ seq }) => seq),
    times.map((_, i) => i + 1),
  )
  const [{ updatedAt }] = await collect(store.streams())
  assert.is(updatedAt, '9999-99-99')
  await store.close()
})

test.run()
