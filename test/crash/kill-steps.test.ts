/**
 * Battery 2: kill -9 while a store is made, opened, closed, indexed again, while its index is written, while a file is imported
 * or a stream deleted. The next opening completes the step, or does it again.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore, type Store } from '../../src/main.js'
import { cases, figure, type Random, SEED, type Tally } from '../fault/battery.js'
import { holdsPromises, indexIsRebuilt, matchAppends } from '../fault/promises.js'
import type { Promised, Written } from '../fault/written.js'
import { collect } from '../support/collect.js'
import { header } from '../support/records.js'
import { tempFolder } from '../support/temp.js'
import { batchOf, extensionOf, STREAMS } from './batches.js'
import { Victim } from './victim.js'

const KILLS = figure(30, 500)
/** Batches that are there before, so that a step takes some time: they lie behind the index. */
const BEFORE = 50

interface Place {
  folder: string
  /** the batches of each stream that may be there, and whether they must */
  promised: Map<string, Promised[]>
}

/** A store that was killed with much to take in at its next opening. */
async function prepared(): Promise<Place> {
  const folder = join(tempFolder(), 'store')
  const victim = new Victim(['append', folder, SEED, 'process', 0, 0, 0, 0])
  await victim.until(`ack a ${BEFORE}`)
  await victim.kill()
  const promised = new Map<string, Promised[]>()
  for (const session of STREAMS) promised.set(session, [])
  const place = { folder, promised }
  learn(place, victim, 0)
  return place
}

/** Takes over what a child said that began with this batch. */
function learn({ promised }: Place, { said }: Victim, from: number): void {
  for (const session of STREAMS) {
    const known = promised.get(session)!
    for (let n = known.length; n <= (said.tried.get(session) ?? -1); n++) known[n] = 'tried'
    for (let n = from; n <= (said.acknowledged.get(session) ?? -1); n++) known[n] = 'committed'
  }
}

function expected({ promised }: Place): Written[] {
  return [...promised].map(([sessionId, batches]) => ({
    sessionId,
    appends: batches.map((promise, n) => ({ records: batchOf(SEED, sessionId, n), promised: promise })),
  }))
}

/** Kills the child between `begin` and `end` of its step, where that works out; returns whether it did. */
async function killed(victim: Victim, random: Random, tally: Tally, stepMs: number): Promise<void> {
  await victim.until('begin')
  await new Promise((resolve) => setTimeout(resolve, random.next() * stepMs))
  await victim.kill()
  const steps = victim.said.lines.filter((line) => line === 'begin' || line === 'end')
  tally.add(steps.at(-1) === 'begin' ? 'in the step' : 'beside it')
}

async function opensWhole(place: Place, more?: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore(place.folder)
  try {
    await holdsPromises(store, expected(place))
    await more?.(store)
    await indexIsRebuilt(store)
  } finally {
    await store.close()
  }
  const codes = store.notices.map(({ code }) => code)
  assert.equal(
    codes.filter((code) => !['torn_tail', 'index_rebuilt', 'unfinished_stream'].includes(code)),
    [],
  )
  for (const left of ['staging', 'trash']) {
    const folder = join(place.folder, left)
    if (readdirSync(place.folder).includes(left)) assert.equal(readdirSync(folder), [], `${left} is empty`)
  }
}

const STEPS: { [task: string]: number } = { open: 40, close: 25, reindex: 40, flush: 15 }

for (const [task, stepMs] of Object.entries(STEPS)) {
  test(`kill -9 during ${task}, ${KILLS} times: the next opening finds all, and completes or does it again`, async () => {
    let place = await prepared()
    const tally = await cases(`kills during ${task}`, KILLS, async (n, random, counts) => {
      if (n > 0 && n % 10 === 0) place = await prepared()
      const next = Math.max(...[...place.promised.values()].map((batches) => batches.length))
      for (const batches of place.promised.values()) while (batches.length < next) batches.push('tried')
      const victim = new Victim([task, place.folder, SEED, random.pick(['process', 'disk']), next])
      await killed(victim, random, counts, stepMs)
      learn(place, victim, next)
      await opensWhole(place)
    })
    assert.ok(tally.get('in the step') >= KILLS / 4, 'enough of them fall into the step')
  })
}

test(`kill -9 while a store is made, ${KILLS} times: what is left becomes a store, or is one`, async () => {
  await cases('kills during the making', KILLS, async (_, random, tally) => {
    const folder = join(tempFolder(), 'store')
    const victim = new Victim(['create', folder, SEED, random.pick(['process', 'disk'])])
    await killed(victim, random, tally, 60)
    const place: Place = { folder, promised: new Map() }
    for (const session of STREAMS) place.promised.set(session, [])
    learn(place, victim, 0)
    const store = await openStore(folder)
    const there = new Set((await collect(store.streams())).map(({ sessionId }) => sessionId))
    for (const session of STREAMS) if (!there.has(session)) await store.createStream(header(session))
    await store.close()
    await opensWhole(place)
    rmSync(folder, { recursive: true })
  })
})

test(`kill -9 while files are imported, ${KILLS} times: each stream is whole or not there`, async () => {
  const place = await prepared()
  let next = 0
  await cases('kills during imports', KILLS, async (_, random, tally) => {
    const victim = new Victim(['import', place.folder, SEED, random.pick(['process', 'disk']), next])
    await killed(victim, random, tally, 20)
    const begun = next + victim.said.lines.filter((line) => line === 'begin').length
    const done = next + victim.said.lines.filter((line) => line.startsWith('imported')).length
    await opensWhole(place, async (store) => {
      for (let n = next; n < begun; n++) {
        const sessionId = `imported-${n}`
        const records = Array.from({ length: 40 }, (_batch, i) => batchOf(SEED, sessionId, i)).flat()
        const present = await store.stream(sessionId).then(
          (stream) => collect(stream.records()),
          () => [],
        )
        matchAppends(
          present,
          { sessionId, appends: [{ records, promised: n < done ? 'committed' : 'tried' }] },
          'nothing',
        )
      }
    })
    next = begun
  })
})

test(`kill -9 while streams are extended by import, ${KILLS} times: each extension is whole or not there`, async () => {
  const place = await prepared()
  const tally = await cases('kills during extensions', KILLS, async (n, random, counts) => {
    const victim = new Victim(['extend', place.folder, SEED, random.pick(['process', 'disk']), n])
    await killed(victim, random, counts, 120)
    const { lines } = victim.said
    const begun = lines.filter((line) => line === 'begin').length
    const done = lines.filter((line) => line.startsWith('extended')).length
    await opensWhole(place, async (store) => {
      const sessionId = `extended-${n}`
      const appends: Written['appends'] = [{ records: batchOf(SEED, sessionId, 0), promised: 'committed' }]
      for (let i = 0; i < begun; i++)
        appends.push({ records: extensionOf(SEED, sessionId, i), promised: i < done ? 'committed' : 'tried' })
      matchAppends(await collect((await store.stream(sessionId)).records()), { sessionId, appends }, 'nothing')
      await store.deleteStream(sessionId)
    })
  })
  assert.ok(tally.get('in the step') >= KILLS / 4, 'enough of them fall into the step')
})

test(`kill -9 while streams are deleted, ${KILLS} times: each is whole or gone, and what was deleted stays so`, async () => {
  const place = await prepared()
  let next = 0
  await cases('kills during deletions', KILLS, async (_, random, tally) => {
    const victim = new Victim(['delete', place.folder, SEED, random.pick(['process', 'disk']), next])
    await killed(victim, random, tally, 15)
    const deleted = next + victim.said.lines.filter((line) => line.startsWith('deleted')).length
    await opensWhole(place, async (store) => {
      const there = (await collect(store.streams())).map(({ sessionId }) => sessionId)
      for (let n = next; n < deleted; n++) assert.not(there.includes(`short-${n}`), 'it does not come back')
      for (const sessionId of there.filter((name) => name.startsWith('short-'))) {
        const records = batchOf(SEED, sessionId, 0)
        const present = await collect((await store.stream(sessionId)).records())
        matchAppends(present, { sessionId, appends: [{ records, promised: 'tried' }] }, 'nothing')
        await store.deleteStream(sessionId)
      }
    })
    next = deleted + 1
  })
})

test.run()
