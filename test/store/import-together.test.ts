/**
 * Imports beside others at work on the same stream: an extension is one append in meaning (CORE-21). At each call of the log's
 * storage somebody comes between, or the import is ended; readers look on all the while.
 */
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import { type AsrRecord, isAsrError, openStore, type Store, type Stream } from '../../src/main.js'
import { indexIsRebuilt } from '../fault/promises.js'
import { collect, idsOf } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { header, jsonl, message, note } from '../support/records.js'
import { SteppingLog } from '../support/stepping-log.js'

const OLD = 20

/** Short ones go in one write; with long ones the extension is a segment of its own, of three batches. */
const SIZES = { short: { count: 60, words: 10 }, long: { count: 1_100, words: 60 } }
type Size = keyof typeof SIZES

function fileOf(size: Size): AsrRecord[] {
  const { count, words } = SIZES[size]
  const records: AsrRecord[] = Array.from({ length: OLD }, (_, i) => message(`old${i}`))
  for (let i = 0; i < count; i++) {
    // Now and then a line that names no parent, an unusual number, a head: what an extension has to take over as it is.
    const fields = i % 3 === 0 ? {} : { parentId: i % 7 === 0 ? 'old3' : i === 1 ? 'old1' : `new${i - 1}` }
    records.push(message(`new${i}`, { ...fields, filler: `${i}`.padStart(words, 'x'), shape: { [`k${i % 40}`]: i } }))
  }
  return records
}

const FILES = { short: fileOf('short'), long: fileOf('long') }
const LONGER = {
  short: jsonl(header('s', { longer: true }), ...FILES.short),
  long: jsonl(header('s', { longer: true }), ...FILES.long),
}
const SHORTER = jsonl(header(), ...FILES.short.slice(0, OLD))

interface Place {
  log: SteppingLog
  store: Store
  stream: Stream
  /** another store on the same log, as another process has it */
  reader: Store
}

async function place(options: { isNew?: boolean } = {}): Promise<Place> {
  const inner = new MemoryStorage()
  const log = new SteppingLog(inner)
  const store = await openStore({ log, index: new MemoryLevel() })
  if (!options.isNew) await store.importJsonl([SHORTER])
  const reader = await openStore({ log: inner, index: new MemoryLevel() }, { readOnly: true })
  const stream = (options.isNew ? undefined : await store.stream('s')) as Stream
  return { log, store, stream, reader }
}

/** Runs a call; at the n-th call of the log meant by `counts` somebody else comes in. Whether there was such a call. */
async function between(
  { log }: Place,
  n: number,
  work: () => Promise<unknown>,
  come: () => Promise<unknown>,
  look: () => Promise<unknown> = async () => undefined,
): Promise<{ met: boolean; outcome: unknown; other: unknown }> {
  let calls = 0
  let coming: Promise<unknown> | undefined
  const settle = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)
  let isLooking = false
  log.onStep = async (method) => {
    if (isLooking) return
    isLooking = true
    await look()
    isLooking = false
    if (method === 'read' || method === 'size' || ++calls !== n) return
    coming = settle(come())
    await new Promise((resolve) => setTimeout(resolve)) // as far as it gets while this call waits
  }
  const outcome = await settle(work())
  log.onStep = undefined
  return { met: coming !== undefined, outcome, other: await coming }
}

/** The ids of the stream, which must be sound, each once, and the same for the store opened again. */
async function soundIds({ log, store, reader }: Place): Promise<string[]> {
  const stream = await store.stream('s')
  const ids = await idsOf(stream.records())
  assert.is(new Set(ids).size, ids.length, 'no id twice')
  assert.is(stream.length, ids.length)
  assert.equal(
    (await store.verify()).streams.flatMap(({ problems }) => problems.map(({ message: m }) => m)),
    [],
  )
  await indexIsRebuilt(store)
  assert.equal(await idsOf((await reader.stream('s')).records()), ids, 'readers see the same')
  const fresh = await openStore({ log, index: new MemoryLevel() }, { readOnly: true })
  assert.equal(await idsOf((await fresh.stream('s')).records()), ids, 'so does who opens the log anew')
  assert.is(await (await fresh.stream('s')).digest(), await stream.digest())
  assert.equal(await log.list('staging'), [], 'nothing is left')
  return ids
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10))
}

const OLD_IDS = FILES.short.slice(0, OLD).map(({ id }) => id as string)
const idsIn = (size: Size): string[] => FILES[size].map(({ id }) => id as string)

const STEPS_MAX = 60

for (const size of ['short', 'long'] as const) {
  test(`CORE-21: an append at any moment of an extension (${size}) goes before all of it or behind`, async () => {
    let [refused, stored] = [0, 0]
    for (let n = 1; n < STEPS_MAX; n++) {
      const at = await place()
      const { met, outcome, other } = await between(
        at,
        n,
        () => at.store.importJsonl([LONGER[size]]),
        () => at.stream.append(note('between')),
      )
      if (!met) break
      assert.not(other instanceof Error, String(other))
      const ids = await soundIds(at)
      if (outcome instanceof Error) {
        assert.ok(isAsrError(outcome, 'ASR_CONFLICT'), String(outcome))
        assert.is(outcome.actual, OLD + 1)
        assert.equal(ids, [...OLD_IDS, 'between'])
        assert.not((await at.stream.header()).longer, 'nor did its header come in force')
        refused++
      } else {
        assert.equal(ids, [...idsIn(size), 'between'])
        assert.is((await at.stream.header()).longer, true)
        stored++
      }
    }
    assert.ok(refused >= 2 && stored > 0, `${refused} refused, ${stored} stored`)
  })

  test(`CORE-21: two imports of one longer file (${size}), begun at any moment of one another, write it once`, async () => {
    for (let n = 1; n < STEPS_MAX; n++) {
      const at = await place()
      const { met, outcome, other } = await between(
        at,
        n,
        () => at.store.importJsonl([LONGER[size]]),
        () => at.store.importJsonl([LONGER[size]]),
      )
      const reports = [outcome, ...(met ? [other] : [])] as { appended: number; duplicates: number; records: number }[]
      for (const report of reports) {
        assert.not(report instanceof Error, String(report))
        assert.is(report.records, FILES[size].length)
        assert.is(report.appended + report.duplicates, FILES[size].length)
      }
      assert.is(
        reports.reduce((sum, { appended }) => sum + appended, 0),
        FILES[size].length - OLD,
      )
      assert.equal(await soundIds(at), idsIn(size))
      if (!met) break
    }
  })

  test(`two imports of one new session (${size}): one makes it, the other extends it or finds all there`, async () => {
    for (let n = 1; n < STEPS_MAX; n++) {
      const at = await place({ isNew: true })
      const { met, outcome, other } = await between(
        at,
        n,
        () => at.store.importJsonl([n % 2 === 0 ? SHORTER : LONGER[size]]),
        () => at.store.importJsonl([LONGER[size]], { strict: true }),
      )
      for (const report of [outcome, ...(met ? [other] : [])]) assert.not(report instanceof Error, String(report))
      if (met) assert.equal(await soundIds(at), idsIn(size))
      if (!met) break
    }
  })

  test(`an import (${size}) that is aborted at any moment leaves what was there, or all of it`, async () => {
    let aborted = 0
    for (let n = 1; n < STEPS_MAX; n++) {
      const at = await place()
      const controller = new AbortController()
      const { met, outcome } = await between(
        at,
        n,
        () => at.store.importJsonl([LONGER[size]], { signal: controller.signal, strict: n % 2 === 0 }),
        async () => controller.abort(),
      )
      if (!met) break
      const ids = await soundIds(at)
      const isAborted = isAsrError(outcome, 'ASR_ABORTED')
      assert.ok(isAborted || !(outcome instanceof Error), String(outcome))
      assert.equal(ids, isAborted ? OLD_IDS : idsIn(size))
      assert.is((await at.stream.header()).longer, isAborted ? undefined : true)
      if (isAborted) aborted++
      assert.is((await at.stream.append(note('after'))).last, ids.length + 1)
    }
    assert.ok(aborted >= 2, `${aborted} aborted`)
  })

  test(`an import (${size}) that fails at any call leaves what was there, or all of it`, async () => {
    let failed = 0
    for (let n = 1; n < STEPS_MAX; n++) {
      const at = await place()
      let calls = 0
      at.log.onStep = (method) => {
        if (++calls === n) throw Object.assign(new Error(`no ${method}`), { code: 'EIO' })
      }
      const outcome = await at.store.importJsonl([LONGER[size]]).catch((error: unknown) => error)
      at.log.onStep = undefined
      if (calls < n) break
      const stream = await at.store.stream('s')
      const ids = await idsOf(stream.records())
      if (outcome instanceof Error) {
        assert.ok(isAsrError(outcome), String(outcome))
        const isThere = ids.length > OLD
        assert.ok(!isThere || outcome.code === 'ASR_IN_DOUBT' || outcome.code === 'ASR_IO', outcome.code)
        failed++
      }
      assert.equal(ids, ids.length > OLD ? idsIn(size) : OLD_IDS)
      const { appended, duplicates } = await at.store.importJsonl([LONGER[size]])
      assert.is(appended + duplicates, FILES[size].length)
      assert.is((await at.store.verify()).ok, true)
    }
    assert.ok(failed > 5, `${failed} failed`)
  })
}

test('readers of the same process, of another one and followers see an extension all at once', async () => {
  const at = await place()
  // More than is read at once, so that it is taken in by blocks.
  const added = FILES.long.slice(OLD).map((record) => ({ ...record, wide: 'x'.repeat(1_000) }))
  const file = SHORTER + jsonl(...added)
  const whole = FILES.long.length
  const seen = new Set<number>()
  const leaves = new Set<number>()
  const isOneOf = (length: number): void => {
    seen.add(length)
    assert.ok(length === OLD || length === whole, `a reader saw ${length} records`)
  }
  const outside = await at.reader.stream('s')
  const stop = new AbortController()
  const counts = { inside: 0, outside: 0 }
  const follow = async (stream: Stream, who: keyof typeof counts): Promise<void> => {
    try {
      for await (const step of stream.follow({ signal: stop.signal })) {
        if ('caughtUp' in step) isOneOf(counts[who])
        else counts[who]++
      }
    } catch (error) {
      if (!isAsrError(error, 'ASR_ABORTED')) throw error
    }
  }
  const following = [follow(at.stream, 'inside'), follow(outside, 'outside')]
  const look = async (): Promise<void> => {
    isOneOf(at.stream.length)
    isOneOf(outside.length)
    isOneOf((await collect(at.stream.records({ types: ['message'] }))).length)
    for (const { pos } of await at.stream.heads()) isOneOf(pos)
    leaves.add((await at.stream.leaves()).length)
    isOneOf((await collect((await at.reader.stream('s')).records())).length)
    const last = await at.stream.get(`new${SIZES.long.count - 1}`)
    const first = await at.stream.get('new0')
    assert.is(first === undefined, last === undefined)
    assert.is(first === undefined, at.stream.length === OLD)
    const [info] = await collect(at.store.streams())
    isOneOf(info.records)
  }
  try {
    const { outcome } = await between(
      at,
      -1,
      () => at.store.importJsonl([file]),
      async () => undefined,
      look,
    )
    assert.not(outcome instanceof Error, String(outcome))
    await look()
    await Promise.race([until(() => counts.outside >= whole && counts.inside >= whole), Promise.all(following)])
  } finally {
    stop.abort()
  }
  await Promise.all(following)
  assert.equal(counts, { inside: whole, outside: whole })
  assert.equal(
    [...seen].sort((a, b) => a - b),
    [OLD, whole],
  )
  assert.is(leaves.size, 2)
})

test('an extension goes on where a stream with its own shapes, gaps and orphans stands, and can be written on', async () => {
  const at = await place()
  for (const size of ['short', 'long'] as const) {
    const file = await place({ isNew: true })
    await file.store.importJsonl([LONGER[size]])
    await at.store.deleteStream('s')
    await at.store.importJsonl([SHORTER])
    const stream = await at.store.stream('s')
    for (const record of FILES[size].slice(OLD, OLD + 5)) await stream.append(record)
    const { appended } = await at.store.importJsonl([LONGER[size]])
    assert.is(appended, FILES[size].length - OLD - 5)
    assert.is(await stream.digest(), await (await file.store.stream('s')).digest())
    assert.equal(await stream.leaves(), await (await file.store.stream('s')).leaves())
    assert.equal(await stream.heads(), await (await file.store.stream('s')).heads())
    for (const shape of [0, 1, 41, 42])
      await stream.append(message(`after${shape}`, { shape: { [`k${shape}`]: 1, other: shape } }))
    await soundIds(at)
  }
})

test('what a file and the stream both differ in, and what came while it was read, are told apart', async () => {
  const at = await place()
  const other = FILES.short.map((record, i) => (i === 5 ? message('other') : record))
  await fails('ASR_DIVERGED', () => at.store.importJsonl([jsonl(header(), ...other)]))
  await at.stream.append(note('x'))
  await fails('ASR_DIVERGED', () => at.store.importJsonl([LONGER.short]))
})

test.run()
