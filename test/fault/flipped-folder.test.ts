/**
 * Battery 7: one bit flipped in every third byte of each file of `index/` (the deep tier: all bits of all), and at every byte of
 * `FORMAT` and of `LOCK`. The answers are those of the
 * logs, whatever happened to the index: it is built again, or the damage is said, and never a wrong record is read.
 */
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore } from '../../src/main.js'
import { tempFolder } from '../support/temp.js'
import { cases, figure, Random, SEED } from './battery.js'
import { casesApart } from './cases-apart.js'
import { flippedAt } from './damage.js'
import { imageOf, keptFolder, lockOf, putDown, withStore, writeKept } from './folder.js'
import { OTHER } from './place.js'
import { holdsPromises } from './promises.js'
import { anyRecord } from './written.js'

const RECORDS = 16
const kept = await keptFolder(
  Array.from({ length: RECORDS }, (_, n) => ({ ...anyRecord(new Random(SEED, 7, n), `x${n}`), id: `x${n}` })),
  2,
)
const place = writeKept(kept)
const folder = join(tempFolder(), 'store')
/** Level's own record of its doings, LOG, is read by nobody. */
const indexFiles = [...kept.image.keys()].filter((name) => /^index\/(?!LOG|LOCK)/.test(name)).sort()
const CHILD = new URL('./flipped-folder-child.js', import.meta.url)
const BITS = figure(1, 8)
const STEP = figure(3, 1)

for (const name of indexFiles) {
  const flips = Math.ceil(kept.image.get(name)!.length / STEP) * BITS

  test(`one bit flipped all along ${name}: every answer is right, verify says what is wrong, a rebuild mends it`, async () => {
    const { ended } = await casesApart(`flips of ${name}`, CHILD, [place, name], flips)
    assert.equal(
      ended.filter(({ how }) => how !== 'SIGABRT'),
      [],
      'but for level’s own assertions, no process ends over a damaged index (docs/promises.md)',
    )
  })
}

test('one bit flipped at every byte of FORMAT: written again, or refused and left alone; nothing is made over the store', async () => {
  const bytes = kept.image.get('FORMAT')!
  await cases('flips of FORMAT', bytes.length * BITS, async (n, random, tally) => {
    const changed = flippedAt(bytes, Math.floor(n / BITS), BITS === 1 ? random.below(8) : n % 8)
    putDown(new Map(kept.image).set('FORMAT', changed), folder)
    const before = imageOf(folder)
    const store = await openStore(folder).catch((error: unknown) => error as Error & { code: string })
    if (store instanceof Error) {
      assert.is(store.code, 'ASR_FORMAT', store.message)
      assert.equal(imageOf(folder), before)
      tally.add('refused as a newer format')
      return
    }
    assert.ok(store.notices.some(({ code }) => code === 'format_rewritten'))
    await holdsPromises(store, [kept.expected, OTHER])
    await store.close()
    tally.add('written again')
  })
})

test('one bit flipped at every byte of a LOCK that was left: it blocks nobody, and its text is believed for nothing', async () => {
  const lock = new TextEncoder().encode(lockOf('some boot'))
  await cases('flips of LOCK', lock.length * BITS, async (n, random) => {
    const changed = flippedAt(lock, Math.floor(n / BITS), BITS === 1 ? random.below(8) : n % 8)
    await withStore(new Map(kept.image).set('LOCK', changed), {}, async (store, folder) => {
      await holdsPromises(store, [kept.expected, OTHER])
      await store.close()
      assert.equal(
        [...imageOf(folder).keys()].filter((name) => name.startsWith('LOCK')),
        [],
      )
    })
  })
})

test.run()
