/**
 * Battery 7: one bit flipped at every byte of each file of `index/`, of `FORMAT` and of `LOCK`. The answers are those of the
 * logs, whatever happened to the index: it is built again, or the damage is said, and never a wrong record is read.
 */
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore } from '../../src/main.js'
import { tempFolder } from '../support/temp.js'
import { cases, figure, Random, SEED } from './battery.js'
import { flippedAt } from './damage.js'
import { imageOf, keptFolder, lockOf, putDown } from './folder.js'
import { OTHER } from './place.js'
import { holdsPromises } from './promises.js'
import { anyRecord } from './written.js'

const RECORDS = 24
const kept = await keptFolder(Array.from({ length: RECORDS }, (_, n) => ({ ...anyRecord(new Random(SEED, 7, n), `x${n}`), id: `x${n}` })))
const folder = join(tempFolder(), 'store')
const indexFiles = [...kept.image.keys()].filter((name) => name.startsWith('index/')).sort()
const BITS = figure(1, 8)

for (const name of indexFiles) {
  test(`one bit flipped at every byte of ${name}: the store opens, holds all, and its index is what the logs say`, async () => {
    const bytes = kept.image.get(name)!
    await cases(`flips of ${name}`, bytes.length * BITS, async (n, random, tally) => {
      const at = Math.floor(n / BITS)
      putDown(new Map(kept.image).set(name, flippedAt(bytes, at, BITS === 1 ? random.below(8) : n % 8)), folder)
      const store = await openStore(folder)
      for (const session of ['s', OTHER.sessionId]) await (await store.stream(session)).activePath()
      await store.rebuildIndex() // a row that nobody has asked for yet may be damaged still
      await holdsPromises(store, [kept.expected, OTHER])
      tally.add(store.notices.length > 0 ? 'noticed' : 'without effect')
      await store.close()
    })
  })

  test(`one bit flipped at bytes of ${name}: every answer before any rebuild is right, and verify says what is wrong`, async () => {
    const bytes = kept.image.get(name)!
    await cases(`answers over flips of ${name}`, figure(Math.min(120, bytes.length), bytes.length), async (_, random, tally) => {
      putDown(new Map(kept.image).set(name, flippedAt(bytes, random.below(bytes.length), random.below(8))), folder)
      for (const readOnly of [true, false]) {
        const store = await openStore(folder, { readOnly })
        const report = await store.verify()
        const damage = report.streams.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'damage'))
        assert.equal(damage.filter(({ code }) => code !== 'index_damaged'), [])
        if (damage.length > 0) tally.add('said by verify')
        if (!readOnly && damage.length > 0) await store.rebuildIndex()
        if (!readOnly || damage.length === 0) await holdsPromises(store, [kept.expected, OTHER])
        await store.close()
      }
    })
  })
}

test('one bit flipped at every byte of FORMAT: written again, or refused and left alone; nothing is made over the store', async () => {
  const bytes = kept.image.get('FORMAT')!
  await cases('flips of FORMAT', bytes.length * 8, async (n, _, tally) => {
    putDown(new Map(kept.image).set('FORMAT', flippedAt(bytes, n >> 3, n & 7)), folder)
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
    putDown(new Map(kept.image).set('LOCK', flippedAt(lock, Math.floor(n / BITS), BITS === 1 ? random.below(8) : n % 8)), folder)
    const store = await openStore(folder)
    await holdsPromises(store, [kept.expected, OTHER])
    await store.close()
    assert.equal([...imageOf(folder).keys()].filter((name) => name.startsWith('LOCK')), [])
  })
})

test.run()
