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

const [folder, what, name, count, from] = process.argv.slice(2)
const kept = readKept(folder)
const bytes = kept.image.get(name)!
const BITS = figure(1, 8)

/** Opened, asked, its index built again: all is there, and the index is what the logs say. */
async function rebuilt(store: Store): Promise<string> {
  for (const session of ['s', OTHER.sessionId]) await (await store.stream(session)).activePath()
  await store.rebuildIndex() // a row that nobody has asked for yet may be damaged still
  await holdsPromises(store, [kept.expected, OTHER])
  return store.notices.length > 0 ? 'noticed' : 'without effect'
}

/** Opened and asked, nothing built again on purpose: every answer is right. */
async function answers(store: Store, readOnly: boolean): Promise<string> {
  for (const { sessionId, appends } of [kept.expected, OTHER]) {
    const stream = await store.stream(sessionId)
    const present = await collect(stream.records())
    matchAppends(present, { sessionId, appends }, 'nothing')
    for (const record of present) assert.equal(await stream.get(record.id), record)
    assert.is(await stream.get('not there'), undefined)
  }
  const report = await store.verify()
  const damage = report.streams.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'damage'))
  assert.equal(
    damage.filter(({ code }) => code !== 'index_damaged' && code !== 'lost_stream'),
    [],
  )
  if (damage.length === 0) await holdsPromises(store, [kept.expected, OTHER])
  return `${readOnly ? 'read-only' : 'writing'}: ${damage.length > 0 ? 'said by verify' : 'sound'}`
}

await runCases(Number(count), Number(from), async (n, random) => {
  const at = Math.floor(n / BITS)
  const image = new Map(kept.image).set(name, flippedAt(bytes, at, BITS === 1 ? random.below(8) : n % 8))
  if (what === 'rebuilt') return withStore(image, {}, rebuilt)
  const readOnly = random.chance(0.5)
  return withStore(image, { readOnly }, (store) => answers(store, readOnly))
})
