/**
 * A store in a folder whose index may be damaged: every answer is that of the logs, and a rebuild mends what verify names.
 */
import * as assert from 'uvu/assert'
import type { Store } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { type Image, type KeptFolder, withStore } from './folder.js'
import { OTHER } from './place.js'
import { holdsPromises, matchAppends } from './promises.js'

/** Every answer is right, whatever is rebuilt on the way, or nothing is. */
async function answers(store: Store, { expected }: KeptFolder): Promise<void> {
  for (const { sessionId, appends } of [expected, OTHER]) {
    const stream = await store.stream(sessionId)
    const present = await collect(stream.records())
    matchAppends(present, { sessionId, appends }, 'nothing')
    for (const record of present) assert.equal(await stream.get(record.id), record)
    assert.is(await stream.get('not there'), undefined)
    assert.is((await stream.activePath()).length, present.length)
  }
  const listed = await collect(store.streams())
  assert.equal(
    listed.map(({ sessionId, records }) => [sessionId, records]),
    [OTHER, expected].map(({ sessionId, appends }) => [sessionId, appends.length]),
  )
}

/** What verify says of the index, as long as nobody has built it again. */
async function said(store: Store): Promise<string> {
  const report = await store.verify()
  const damage = report.streams.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'damage'))
  assert.equal(
    damage.filter(({ code }) => code !== 'index_damaged'),
    [],
  )
  if (damage.length > 0) return 'said by verify'
  return store.notices.length > 0 ? 'noticed' : 'without effect'
}

/** Opened to read (in some cases) and to write; returns what became of the damage. */
export async function answersDespite(kept: KeptFolder, image: Image, toRead: boolean): Promise<string> {
  if (toRead) await withStore(image, { readOnly: true }, (store) => answers(store, kept))
  return withStore(image, {}, async (store) => {
    await answers(store, kept)
    const what = await said(store)
    if (what !== 'without effect') await store.rebuildIndex()
    await holdsPromises(store, [kept.expected, OTHER])
    return what
  })
}
