/**
 * Dictionary frames that are damaged, alone and with those that say the same again: records that nobody knows how to read any
 * more are lost like damaged ones, at the end of a log too, and every door says all of them (CORE-10).
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KIND } from '../../src/log/format/frame.js'
import type { AsrRecord, Store } from '../../src/main.js'
import { linesOf } from '../support/collect.js'
import { header } from '../support/records.js'
import { cases } from './battery.js'
import { flippedAt, framesIn } from './damage.js'
import { filesOf, freshLevel, levelOf, openAt, rowsOf, storageOf } from './place.js'

/** Each shape comes twice: at its second sight it gets a number, told in a dictionary frame before that record. */
const RECORDS: AsrRecord[] = Array.from({ length: 24 }, (_, n) => ({
  type: 'message',
  id: `m${n + 1}`,
  [`key${n >> 1}`]: n,
}))

async function whole() {
  const storage = storageOf(new Map())
  const level = freshLevel()
  const store = await openAt(storage, level)
  const stream = await store.createStream(header('s'))
  for (const record of RECORDS) await stream.append(record)
  await store.close()
  const [[name, bytes]] = filesOf(storage)
  return { name, bytes, rows: await rowsOf(level), frames: framesIn(name, bytes) }
}

/** The positions that salvage has gaps for, and those that it gives. */
async function salvagedOf(store: Store): Promise<{ lost: number[]; kept: number[] }> {
  const lines = (await linesOf((await store.stream('s')).exportJsonl({ salvage: true }))).slice(1)
  const records = lines.map((line) => JSON.parse(line) as AsrRecord & { from: number; to: number })
  const gaps = records.filter(({ type }) => type === 'gap')
  return {
    lost: gaps.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, n) => from + n)),
    kept: records.filter(({ type }) => type === 'message').map(({ id }) => Number(id?.slice(1))),
  }
}

/** The positions that `verify` names. */
async function namedBy(store: Store): Promise<number[]> {
  const [{ problems }] = (await store.verify()).streams
  return problems.flatMap(({ message }) => {
    const [, from, to] = / (?:at|from) position (\d+)(?: to (\d+))?/.exec(message) ?? []
    return from === undefined ? [] : Array.from({ length: Number(to ?? from) - Number(from) + 1 }, (_, n) => +from + n)
  })
}

test('CORE-10: what can not be read for want of its shape is lost like what is damaged, and all of it is said', async () => {
  const { name, bytes, rows, frames } = await whole()
  const dictionaries = frames.filter(({ kind }) => kind === KIND.dictionary)
  assert.ok(dictionaries.length > 8)
  await cases('lost shapes', dictionaries.length * 3, async (n, random, tally) => {
    const from = Math.floor(n / 3)
    const hit = dictionaries.slice(from, from + 1 + (n % 3))
    // Now and then a record further on, too; not the last, of which nobody would know that it was.
    const behind = frames.filter(({ kind, at, pos }) => kind === KIND.record && at > hit[0].at && pos < RECORDS.length)
    if (behind.length > 0 && random.chance(0.5)) hit.push(random.pick(behind))
    const damaged = hit.reduce((all, { at, size }) => flippedAt(all, at + size - 1, 1), bytes)
    for (const index of [rows, []]) {
      for (const readOnly of [true, false]) {
        const store = await openAt(storageOf(new Map([[name, damaged]])), await levelOf(index), { readOnly })
        const { lost, kept } = await salvagedOf(store)
        assert.equal(
          [...lost, ...kept].sort((a, b) => a - b),
          RECORDS.map((_, i) => i + 1),
        )
        const named = new Set(await namedBy(store))
        for (const pos of lost) assert.ok(named.has(pos), `position ${pos} is named`)
        // What the index tells of shapes the log alone does not: that much less is lost as long as there is one.
        if (index === rows)
          assert.equal(lost, hit.map(({ kind, pos }) => (kind === KIND.record ? pos : 0)).filter(Boolean))
        else assert.is(named.size, lost.length)
        tally.add('lost records', lost.length)
        await store.close()
      }
    }
  })
})

test.run()
