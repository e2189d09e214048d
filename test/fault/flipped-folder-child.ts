/**
 * One bit flipped, a case each: `node flipped-folder-child.js <image folder> <what> <file> <count> <from>`. Level may end the
 * process over a damaged table, so this runs in one of its own.
 */
import * as assert from 'uvu/assert'
import type { Store } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { figure } from './battery.js'
import { runCases } from './cases-apart.js'
import { flippedAt } from './damage.js'
import { readKept, withStore } from './folder.js'
import { OTHER } from './place.js'
import { holdsPromises, matchAppends } from './promises.js'

const [folder, name, count, from] = process.argv.slice(2)
const kept = readKept(folder)
const bytes = kept.image.get(name)!
const BITS = figure(1, 8)

/** Opened and asked: every answer is right, whatever is rebuilt on the way, or nothing is. */
async function answers(store: Store): Promise<void> {
  for (const { sessionId, appends } of [kept.expected, OTHER]) {
    const stream = await store.stream(sessionId)
    const present = await collect(stream.records())
    matchAppends(present, { sessionId, appends }, 'nothing')
    for (const record of present) assert.equal(await stream.get(record.id), record)
    assert.is(await stream.get('not there'), undefined)
    assert.is((await stream.activePath()).length, present.length)
  }
}

/** What verify says of the index, as long as nobody has built it again. */
async function said(store: Store): Promise<string> {
  const report = await store.verify()
  const damage = report.streams.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'damage'))
  const others = damage.filter(({ code }) => code !== 'index_damaged' && code !== 'lost_stream')
  assert.equal(others, [])
  if (damage.length > 0) return 'said by verify'
  return store.notices.length > 0 ? 'noticed' : 'without effect'
}

await runCases(Number(count), Number(from), async (n, random) => {
  const at = Math.floor(n / BITS)
  const image = new Map(kept.image).set(name, flippedAt(bytes, at, BITS === 1 ? random.below(8) : n % 8))
  if (random.chance(0.2)) await withStore(image, { readOnly: true }, answers)
  return withStore(image, {}, async (store) => {
    await answers(store)
    const what = await said(store)
    if (what !== 'without effect') await store.rebuildIndex()
    await holdsPromises(store, [kept.expected, OTHER])
    return what
  })
})
