/**
 * Battery 1: kill -9 at random moments while another process appends batches to four streams at a time. All that was
 * acknowledged is there, each batch whole or not at all, and the next opening takes less than a second.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore } from '../../src/main.js'
import { cases, figure, SEED } from '../fault/battery.js'
import { holdsPromises } from '../fault/promises.js'
import type { Written } from '../fault/written.js'
import { tempFolder } from '../support/temp.js'
import { batchOf, STREAMS } from './batches.js'
import { Victim } from './victim.js'

const REOPEN_MS_MAX = 1_000
/** A folder serves for so many kills: the store in it goes through many hands, and grows. */
const KILLS_A_FOLDER = 5

interface History {
  folder: string
  /** by stream: how many batches are there */
  present: Map<string, number>
}

function begin(): History {
  return { folder: join(tempFolder(), 'store'), present: new Map(STREAMS.map((session) => [session, 0])) }
}

/** What may be there after a kill: everything acknowledged, and of each stream the batch that was under way. */
function expectedOf(history: History, victim: Victim): Written[] {
  return STREAMS.map((session) => {
    const acknowledged = (victim.said.acknowledged.get(session) ?? history.present.get(session)! - 1) + 1
    const tried = (victim.said.tried.get(session) ?? acknowledged - 1) + 1
    const appends = Array.from({ length: tried }, (_, n) => ({
      records: batchOf(SEED, session, n),
      promised: n < acknowledged ? ('committed' as const) : ('tried' as const),
    }))
    return { sessionId: session, appends }
  })
}

test(`kill -9 at random moments while batches of 1 to 10 are appended to four streams, ${figure(200, 5_000)} times`, async () => {
  let history = begin()
  let [slowest, batches] = [0, 0]
  const tally = await cases('kills while appending', figure(200, 5_000), async (n, random, counts) => {
    if (n % KILLS_A_FOLDER === 0) {
      rmSync(history.folder, { recursive: true, force: true })
      history = begin()
    }
    const next = STREAMS.map((session) => history.present.get(session)!)
    const victim = new Victim(['append', history.folder, SEED, random.pick(['process', 'process', 'disk']), ...next])
    await victim.until('open')
    await new Promise((resolve) => setTimeout(resolve, random.below(100)))
    assert.is(await victim.kill(), 'SIGKILL')
    const started = performance.now()
    const store = await openStore(history.folder)
    const expected = expectedOf(history, victim)
    for (const { sessionId } of expected) await store.stream(sessionId).catch(() => undefined)
    const took = performance.now() - started
    slowest = Math.max(slowest, took)
    try {
      const held = await holdsPromises(store, expected)
      for (const [i, { sessionId, appends }] of expected.entries()) {
        const records = held[i].present.length
        let [count, sum] = [0, 0]
        while (sum < records) sum += appends[count++].records.length
        const acknowledged = appends.filter(({ promised }) => promised === 'committed').length
        counts.add('batches in doubt that were there', count - acknowledged)
        batches += count - history.present.get(sessionId)!
        history.present.set(sessionId, count)
      }
    } finally {
      await store.close()
    }
    const others = store.notices.filter(({ code }) => code !== 'torn_tail')
    assert.equal(others, [])
    counts.add('torn tails', store.notices.length)
    assert.ok(took < REOPEN_MS_MAX * figure(1, 3), `opening took ${took.toFixed()} ms`)
  })
  process.stdout.write(
    `figure: ${batches} batches in ${tally.get('cases')} kills; the slowest opening took ${slowest.toFixed()} ms\n`,
  )
})

test.run()
