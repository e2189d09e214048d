/**
 * Battery 8: sectors zeroed, pages swapped, blocks of an older version put back, in a log and in the files of the index.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KIND } from '../../src/log/format/frame.js'
import { collect } from '../support/collect.js'
import { cases, figure, Random, SEED } from './battery.js'
import { casesApart } from './cases-apart.js'
import { anyDamage, framesIn } from './damage.js'
import { keptFolder, writeKept } from './folder.js'
import { freshLevel, keptStore, levelOf, OTHER, openAt, storageOf } from './place.js'
import { holdsDespiteDamage } from './promises.js'
import { anyRecord, evenRecords } from './written.js'

const RECORDS = 120
const records = Array.from({ length: RECORDS }, (_, n) => anyRecord(new Random(SEED, 8, n), `x${n}`))

test('CORE-10: blocks of a log zeroed, swapped, or older than the rest: nothing wrong is read, what is lost is named', async () => {
  const kept = await keptStore(records)
  const older = new Uint8Array(kept.bytes.length)
  older.set(kept.bytes.subarray(0, Math.floor(kept.bytes.length / 2)))
  const frames = framesIn(kept.file, kept.bytes).filter(({ kind }) => kind === KIND.record)
  await cases('blocks of a log', figure(200, 5_000), async (n, random, tally) => {
    const changed = anyDamage(kept.bytes, older, random)
    if (changed === undefined || changed.every((byte, at) => byte === kept.bytes[at])) return
    const storage = storageOf(new Map(kept.files).set(kept.file, changed))
    const store = await openAt(storage, n % 2 === 0 ? await levelOf(kept.rows) : freshLevel())
    const { unsalvaged, notices } = await holdsDespiteDamage(store, kept.expected, [OTHER])
    const touched = frames.filter(({ at, size }) =>
      changed.subarray(at, at + size).some((byte, i) => byte !== kept.bytes[at + i]),
    )
    const isTouched = new Set(touched.map(({ pos }) => pos))
    if (n % 2 === 0)
      assert.is(
        unsalvaged.filter((pos) => !isTouched.has(pos)).join(),
        '',
        'with the index, only what was touched is lost',
      )
    tally.add(notices.includes('torn_tail') ? 'taken for a torn tail' : 'named as damage')
    tally.add('records lost', unsalvaged.length)
    await store.close()
  })
})

test('CORE-10: a block of a log’s own past, from before a loss was accepted, is detected by the chain', async () => {
  const all = evenRecords(20)
  const kept = await keptStore(all)
  const cutAt = framesIn(kept.file, kept.bytes).find(({ kind, pos }) => kind === KIND.record && pos === 10)!.at
  const storage = storageOf(new Map(kept.files).set(kept.file, kept.bytes.subarray(0, cutAt)))
  const level = await levelOf(kept.rows)
  const store = await openAt(storage, level, { acceptLoss: true })
  const stream = await store.stream('s')
  assert.is(stream.length, 9)
  for (const record of evenRecords(11, 'n')) await stream.append(record)
  await store.close()
  const present = storage.read(kept.file, 0, storage.size(kept.file)!)
  const [frame, was] = [present, kept.bytes].map(
    (bytes) => framesIn(kept.file, bytes).find(({ kind, pos }) => kind === KIND.record && pos === 12)!,
  )
  assert.equal([frame.at, frame.size], [was.at, was.size], 'the old frame fits exactly')
  const stale = present.slice()
  stale.set(kept.bytes.subarray(was.at, was.at + was.size), was.at)
  storage.truncate(kept.file, 0)
  storage.append(kept.file, stale)
  for (const index of [level, freshLevel()]) {
    const again = await openAt(storage, index)
    const report = await again.verify()
    const problems = report.streams.find(({ sessionId }) => sessionId === 's')!.problems.map(({ message }) => message)
    assert.match(problems[0], 'at position 12,')
    if (index !== level) {
      const there = await collect((await again.stream('s')).records()).catch(() => [])
      assert.ok(
        there.every(({ id }) => id !== 'm00012'),
        'a scan does not take the old record in',
      )
    }
    await again.close()
  }
})

test('blocks of the index’s files zeroed, swapped, or older than the rest: every answer is right, a rebuild mends it', async () => {
  const kept = await keptFolder(
    Array.from({ length: 600 }, (_, n) => ({ ...anyRecord(new Random(SEED, 9, n), `x${n}`), id: `x${n}` })),
  )
  const child = new URL('./blocks-child.js', import.meta.url)
  const { ended } = await casesApart('blocks of the index', child, [writeKept(kept)], figure(120, 3_000))
  assert.equal(
    ended.filter(({ how }) => how !== 'SIGABRT'),
    [],
    'but for level’s own assertions, no process ends over a damaged index (docs/promises.md)',
  )
})

test.run()
