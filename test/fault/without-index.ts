/**
 * A stream as its log alone tells it: what was acknowledged has to be there when the index is gone.
 */
import * as assert from 'uvu/assert'
import { openStore, type Store, type Stream } from '../../src/main.js'
import { collect, linesOf } from '../support/collect.js'
import type { MemoryLocation } from '../support/stores.js'
import { freshLevel } from './place.js'

/** What a store answers of each of its streams. */
async function answersOf(store: Store): Promise<unknown[]> {
  const answers: unknown[] = []
  for await (const info of store.streams()) {
    const stream = await store.stream(info.sessionId)
    answers.push([info, await told(stream)])
  }
  return answers
}

async function told(stream: Stream): Promise<unknown> {
  const { cut, gaps, ids } = await stream.activePath()
  return {
    lines: await linesOf(stream.exportJsonl()),
    records: (await collect(stream.records())).map((record) => JSON.stringify(record)),
    header: JSON.stringify(await stream.header()),
    heads: await stream.heads(),
    leaves: await stream.leaves(),
    path: [cut, gaps, await collect(ids())],
    digest: await stream.digest(),
  }
}

/**
 * Closes a store, opens it as it is and then without its index, and expects the same answers and no damage each time;
 * the store as its log alone tells it.
 */
export async function sameWithoutIndex({ log, index }: MemoryLocation, store: Store): Promise<Store> {
  const before = await answersOf(store)
  await store.close()
  for (const level of [index, freshLevel()]) {
    const again = await openStore({ log, index: level })
    assert.equal(await answersOf(again), before)
    const { ok, streams } = await again.verify()
    assert.ok(ok, JSON.stringify(streams))
    if (level !== index) return again
    await again.close()
  }
  throw new Error('there are two levels')
}
