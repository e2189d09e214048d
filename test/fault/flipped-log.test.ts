/**
 * Battery 6: one bit flipped at every byte of a log. No wrong record is ever returned; the flip costs at most the record it
 * is in, which is named with its place; another stream of the store does not notice.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseSegmentFile } from '../../src/log/files/segment.js'
import { KIND } from '../../src/log/format/frame.js'
import type { AsrError } from '../../src/main.js'
import { fails } from '../support/fails.js'
import { cases, figure, Random, SEED } from './battery.js'
import { flippedAt, framesIn, hitOf } from './damage.js'
import { freshLevel, type Kept, keptStore, levelOf, OTHER, openAt, storageOf } from './place.js'
import { holdsDespiteDamage } from './promises.js'
import { anyRecord, evenRecords } from './written.js'

const RECORDS = 24
const SHAPES = {
  'records of many kinds': Array.from({ length: RECORDS }, (_, n) => anyRecord(new Random(SEED, 6, n), `x${n}`)),
  ...(figure(0, 1) === 0
    ? {}
    : {
        'records that are alike': evenRecords(60),
        'records of new shapes only': Array.from({ length: 60 }, (_, n) => ({
          type: 'state',
          id: `s${n}`,
          [`k${n >> 1}`]: { [`i${n >> 1}`]: n },
        })),
      }),
}

/** Each byte with one bit, in the long tier with each. */
function flips(bytes: Uint8Array): number {
  return bytes.length * figure(1, 8)
}

function flip(bytes: Uint8Array, n: number, random: Random): { at: number; changed: Uint8Array } {
  const at = Math.floor(n / figure(1, 8))
  return { at, changed: flippedAt(bytes, at, figure(1, 8) === 1 ? random.below(8) : n % 8) }
}

async function openDamaged(kept: Kept, changed: Uint8Array, index: 'index' | 'no index') {
  const storage = storageOf(new Map(kept.files).set(kept.file, changed))
  return openAt(storage, index === 'index' ? await levelOf(kept.rows) : freshLevel())
}

for (const [name, records] of Object.entries(SHAPES)) {
  test(`CORE-10: one bit flipped at every byte of a log of ${name}, its index sound: at most one record is lost`, async () => {
    const kept = await keptStore(records)
    const frames = framesIn(kept.file, kept.bytes)
    await cases(`flips with the index, ${name}`, flips(kept.bytes), async (n, random, tally) => {
      const { at, changed } = flip(kept.bytes, n, random)
      const hit = hitOf(frames, at)
      const store = await openDamaged(kept, changed, 'index')
      const { missing, unsalvaged, report } = await holdsDespiteDamage(store, kept.expected, [OTHER])
      const lost = hit.record === undefined ? [] : [hit.record]
      assert.equal(missing, lost, 'by id, only the record itself is lost')
      assert.equal(unsalvaged, lost, 'salvage gives all others')
      const place = hit.record === undefined ? `before position ${hit.pos}` : `at position ${hit.pos}`
      assert.match(report[0], new RegExp(`s ASR_CORRUPT: .* ${place}, at byte ${hit.at} of segment 0`))
      tally.add(lost.length > 0 ? 'that cost one record' : 'that cost none')
      await store.close()
    })
  })

  test(`CORE-10: one bit flipped at every byte of a log of ${name}, its index gone: what is lost is named`, async () => {
    const kept = await keptStore(records)
    const frames = framesIn(kept.file, kept.bytes)
    const last = frames.at(-1)!
    await cases(`flips without the index, ${name}`, flips(kept.bytes), async (n, random, tally) => {
      const { at, changed } = flip(kept.bytes, n, random)
      const hit = hitOf(frames, at)
      const store = await openDamaged(kept, changed, 'no index')
      const { unsalvaged, report, notices } = await holdsDespiteDamage(store, kept.expected, [OTHER])
      if (at >= last.at) assert.equal(unsalvaged, [last.pos], 'without a witness the last append may pass for torn')
      else
        assert.match(
          report[0],
          new RegExp(`s ASR_CORRUPT: .* (before|at|from) position ${hit.pos}\\b.*, at byte ${hit.at} of segment 0`),
        )
      if (hit.kind !== KIND.dictionary)
        assert.ok(unsalvaged.length <= 1, `${unsalvaged.length} records lost by one flip`)
      if (unsalvaged.length > 1) tally.add('that cost more than one record (a dictionary, and the index)')
      tally.add(notices.includes('torn_tail') ? 'taken for a torn tail' : 'named as damage')
      await store.close()
    })
  })
}

test('CORE-10: a writer that finds damage later refuses to write on, and a rebuild of the index does not hide it', async () => {
  const kept = await keptStore(evenRecords(RECORDS))
  const frames = framesIn(kept.file, kept.bytes)
  const middle = frames.find(({ pos, kind }) => kind === KIND.record && pos === 10)!
  const store = await openDamaged(kept, flippedAt(kept.bytes, middle.at + 60, 3), 'index')
  await fails('ASR_CORRUPT', () => store.rebuildIndex())
  const { missing, unsalvaged, report } = await holdsDespiteDamage(store, kept.expected, [OTHER])
  assert.equal(unsalvaged, [10])
  assert.ok(missing.includes(10))
  assert.match(report[0], 'at position 10,')
  await fails('ASR_CORRUPT', async () => (await store.stream('s')).append({ type: 'message' }))
  await store.close()
})

test('CORE-10: a damaged index over a damaged log: nothing wrong is read, and the damage is named', async () => {
  const kept = await keptStore(evenRecords(RECORDS))
  const frames = framesIn(kept.file, kept.bytes)
  const middle = frames.find(({ pos, kind }) => kind === KIND.record && pos === 10)!
  const storage = storageOf(new Map(kept.files).set(kept.file, flippedAt(kept.bytes, middle.at + 60, 3)))
  const { log } = parseSegmentFile(kept.file)!
  for (const [key] of kept.rows.filter(([name]) => name.startsWith(log.incarnation))) {
    const rows = kept.rows.map(([name, value]): [string, Uint8Array] => [
      name,
      name === key ? flippedAt(value, Math.min(9, value.length - 1), 1) : value,
    ])
    const store = await openAt(storage, await levelOf(rows))
    const { unsalvaged, report } = await holdsDespiteDamage(store, kept.expected, [OTHER])
    assert.equal(unsalvaged, [10], key)
    assert.match(report[0], 'at position 10,', key)
    await fails('ASR_CORRUPT', async () => (await store.stream('s')).append({ type: 'message', id: 'm00010' }))
    await store.close()
  }
})

test('CORE-10: the last record damaged under a witness is damage, not a torn tail, and not the index’s fault', async () => {
  const kept = await keptStore(evenRecords(RECORDS))
  const last = framesIn(kept.file, kept.bytes).at(-1)!
  await cases('flips of the last record', last.size, async (n) => {
    const store = await openDamaged(kept, flippedAt(kept.bytes, last.at + n, n % 8), 'index')
    const { missing, unsalvaged, report } = await holdsDespiteDamage(store, kept.expected, [OTHER])
    assert.equal([missing, unsalvaged], [[RECORDS], [RECORDS]])
    assert.match(report[0], new RegExp(`s ASR_CORRUPT: .* at position ${RECORDS}, at byte ${last.at} of segment 0`))
    const stream = await store.stream('s')
    const refused = await store.rebuildIndex({ sessionId: 's' }).then(
      () => 'rebuilt',
      (error: AsrError) => error.code,
    )
    assert.is(refused, 'ASR_CORRUPT', 'a rebuild does not take the record away')
    await fails('ASR_CORRUPT', () => stream.append({ type: 'message', id: 'm00024' }))
    await store.close()
  })
})

test('CORE-10: two damaged records are both named', async () => {
  const kept = await keptStore(evenRecords(RECORDS))
  const frames = framesIn(kept.file, kept.bytes)
  const at = (pos: number): number => frames.find((frame) => frame.kind === KIND.record && frame.pos === pos)!.at + 60
  const store = await openDamaged(kept, flippedAt(flippedAt(kept.bytes, at(7), 0), at(19), 0), 'index')
  const { missing, unsalvaged, report } = await holdsDespiteDamage(store, kept.expected, [OTHER])
  assert.equal(
    [missing, unsalvaged],
    [
      [7, 19],
      [7, 19],
    ],
  )
  assert.match(report.join('\n'), /position 7\b/)
  assert.match(report.join('\n'), /position 19\b/)
  await store.close()
})

test('CORE-10: acceptLoss ends the stream before its first damage, keeps the rest beside it, and goes on', async () => {
  const kept = await keptStore(evenRecords(RECORDS))
  const frames = framesIn(kept.file, kept.bytes)
  await cases('accepted losses', RECORDS, async (n) => {
    const frame = frames.find(({ pos, kind }) => kind === KIND.record && pos === n + 1)!
    const changed = flippedAt(kept.bytes, frame.at + 55, 2)
    const storage = storageOf(new Map(kept.files).set(kept.file, changed))
    const store = await openAt(storage, await levelOf(kept.rows), { acceptLoss: true })
    await store.rebuildIndex().catch(() => undefined)
    await store.close()
    const again = await openAt(storage, freshLevel(), { acceptLoss: true })
    const stream = await again.stream('s')
    assert.is(stream.length, n)
    assert.equal(storage.read(`${kept.file}.cut-${frame.at}`, 0, 1e6), changed.slice(frame.at))
    await stream.append({ type: 'message', id: 'after' })
    assert.is((await again.verify()).ok, true)
    await again.close()
  })
})

test.run()
