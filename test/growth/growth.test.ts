/**
 * Work grows with the stream, and not with its square: each call on streams of each shape, at one size and at ten times that.
 * Told by the processor time, with so much room that only a square fails: ten times the records would take a hundred times.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compareContextViews, losses, replay } from '../../src/acp/main.js'
import { type AsrRecord, memoryLocation, openStore, type Store, type Stream } from '../../src/main.js'
import { figure } from '../fault/battery.js'
import { header, message, note } from '../support/records.js'

/** The larger size; the long tier takes 300,000. */
const RECORDS = figure(6_000, 300_000)
const TIMES = 10
/** Linear work takes 10 times as long; more memory is slower memory. */
const GROWTH_MAX = 45
/** What takes less is not measured, but taken for so much, in ms. */
const CPU_MIN = figure(8, 40)
const BATCH = 1_000

type Shape = (records: number) => Iterable<AsrRecord>

function* counted(records: number, recordAt: (n: number) => AsrRecord, ...first: AsrRecord[]): Iterable<AsrRecord> {
  yield* first
  for (let n = 0; n < records; n++) yield recordAt(n)
}

/** What can be long in a stream, each alone. */
const SHAPES: { [name: string]: Shape } = {
  'a session as they are': (records) =>
    counted(records, (n) => {
      if (n % 5 === 1) return { type: 'tool_call', id: `n${n}`, callId: `c${n}`, name: 'read' }
      if (n % 5 === 2) return { type: 'tool_result', id: `n${n}`, callId: `c${n - 1}`, status: 'completed' }
      return message(`n${n}`)
    }),
  'revisions of one target, a branch each': (records) =>
    counted(records, (n) => message(`n${n}`, { supersedes: 'm', parentId: 'm' }), message('m')),
  'revisions of one target, one behind the other': (records) =>
    counted(records, (n) => message(`n${n}`, { supersedes: 'm' }), message('m')),
  'a plan that is updated on another branch than it began': (records) =>
    counted(
      records,
      (n) => ({ type: 'plan', id: `n${n}`, planId: 'p', parentId: n === 0 ? 'b' : `n${n - 1}`, entries: [] }),
      message('m'),
      { type: 'plan', id: 'first', planId: 'p', parentId: 'm', entries: [] },
      message('b', { parentId: 'm' }),
    ),
  'a compaction that is updated on another branch than it began': (records) =>
    counted(
      records,
      (n) => ({
        type: 'compaction',
        id: `n${n}`,
        supersedes: n === 0 ? 'first' : `n${n - 1}`,
        parentId: n === 0 ? 'b' : `n${n - 1}`,
        replaces: { throughId: 'nobody' },
      }),
      message('m'),
      { type: 'compaction', id: 'first', parentId: 'm' },
      message('b', { parentId: 'm' }),
    ),
  compactions: (records) =>
    counted(records, (n) =>
      n % 2 === 0 ? message(`n${n}`) : { type: 'compaction', id: `n${n}`, replaces: { throughId: `n${n - 1}` } },
    ),
  'records of one seq': (records) => counted(records, () => ({ type: 'message', role: 'user', seq: 7 })),
  'calls of one id that stay open': (records) =>
    counted(records, (n) => ({ type: 'tool_call', id: `n${n}`, callId: 'c', name: 'read' })),
  'calls of one id, then their results': (records) =>
    counted(records, (n) =>
      n < records / 2
        ? { type: 'tool_call', id: `n${n}`, callId: 'c', name: 'read' }
        : { type: 'tool_result', id: `n${n}`, callId: 'c', status: 'completed' },
    ),
  'calls that use a hundred ids again and again': (records) =>
    counted(records, (n) => {
      const callId = `c${(n >> 1) % 100}`
      return n % 2 === 0
        ? { type: 'tool_call', id: `n${n}`, callId, name: 'read' }
        : { type: 'tool_result', id: `n${n}`, callId, status: 'completed' }
    }),
  'heads at one record': (records) =>
    counted(records, (n) => ({ type: 'head', id: `n${n}`, name: `h${n}`, recordId: 'm' }), message('m')),
  'one head that moves': (records) =>
    counted(
      records,
      (n) => ({ type: 'head', id: `n${n}`, name: 'h', recordId: n % 2 === 0 ? 'm' : 'b' }),
      message('m'),
      message('b'),
    ),
  'tombstones, and a branch beside': (records) =>
    counted(
      records,
      (n) => (n % 2 === 0 ? message(`n${n}`) : { type: 'tombstone', id: `n${n}`, targetId: `n${n - 1}` }),
      message('m'),
      note('beside', { parentId: 'm', head: 'other' }),
    ),
  'a comb: a record beside each of the path': (records) =>
    counted(
      records,
      (n) =>
        n % 2 === 0
          ? message(`n${n}`, { parentId: n === 0 ? 'm' : `n${n - 2}` })
          : note(`n${n}`, { parentId: `n${n - 1}`, head: 'other' }),
      message('m'),
    ),
  'a fan of branches': (records) =>
    counted(records, (n) => message(`n${n}`, { parentId: 'm', head: 'f' }), message('m')),
  'titles and settings': (records) =>
    counted(records, (n) =>
      n % 2 === 0 ? { type: 'session_info', id: `n${n}`, title: `t${n}` } : { type: 'config_change', id: `n${n}` },
    ),
}

interface Place {
  store: Store
  stream: Stream
  jsonl: Uint8Array[]
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

const CALLS: { [name: string]: (place: Place) => Promise<unknown> } = {
  records: ({ stream }) => drain(stream.records()),
  'records of a type': ({ stream }) => drain(stream.records({ types: ['plan'] })),
  'records, the last first': ({ stream }) => drain(stream.records({ reverse: true })),
  follow: async ({ stream }) => {
    for await (const step of stream.follow()) if ('caughtUp' in step) return
  },
  'path ids': async ({ stream }) => drain((await stream.activePath()).ids()),
  'path resolved': async ({ stream }) => drain((await stream.activePath()).resolved()),
  contextView: async ({ stream }) => drain((await stream.contextView()).entries()),
  'entity on the path': async ({ stream }) => {
    for (const [type, id] of [
      ['plan', 'p'],
      ['message', 'm'],
      ['tool_call', 'c'],
    ])
      await stream.entity(type, id)
  },
  'entity anywhere': async ({ stream }) => {
    for (const [type, id] of [
      ['plan', 'p'],
      ['message', 'm'],
      ['tool_call', 'c'],
      ['compaction', 'first'],
    ])
      await stream.entity(type, id, { anywhere: true })
  },
  'heads and leaves': async ({ stream }) => [await stream.heads(), await stream.leaves()],
  export: ({ stream }) => drain(stream.exportJsonl()),
  'export of what is intact': ({ stream }) => drain(stream.exportJsonl({ salvage: true })),
  streams: ({ store }) => drain(store.streams()),
  replay: ({ stream }) => drain(replay(stream)),
  losses: ({ stream }) => losses(stream),
  compareContextViews: ({ stream }) => compareContextViews(stream, stream),
  verify: ({ store }) => store.verify(),
  rebuildIndex: ({ store }) => store.rebuildIndex(),
  'import of what is there': ({ store, jsonl }) => store.importJsonl(jsonl),
  import: async ({ jsonl }) => {
    const fresh = await openStore(memoryLocation())
    await fresh.importJsonl(jsonl)
    await fresh.close()
  },
}

async function cpuOf(call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await call()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

async function filled(shape: Shape, records: number): Promise<Place & { cpu: number }> {
  const store = await openStore(memoryLocation())
  const stream = await store.createStream(header())
  const cpu = await cpuOf(async () => {
    let batch: AsrRecord[] = []
    for (const record of shape(records)) {
      if (batch.push(record) < BATCH) continue
      await stream.append(batch)
      batch = []
    }
    await stream.append(batch)
  })
  const jsonl: Uint8Array[] = []
  for await (const chunk of stream.exportJsonl()) jsonl.push(chunk)
  return { store, stream, jsonl, cpu }
}

/** The growth of a measure; of several takes the least, since whatever else runs only adds to one. */
async function growthOf(take: () => Promise<[small: number, large: number]>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 3 && least > GROWTH_MAX; tries++) {
    const [small, large] = await take()
    least = Math.min(least, large / Math.max(small, CPU_MIN))
  }
  return least
}

for (const [name, shape] of Object.entries(SHAPES)) {
  test(`${name}: no call takes a square of time`, async () => {
    const small = await filled(shape, RECORDS / TIMES)
    const large = await filled(shape, RECORDS)
    assert.is(large.stream.length >= RECORDS, true)
    const squares: string[] = []
    const appended = await growthOf(async () => [
      (await filled(shape, RECORDS / TIMES)).cpu,
      (await filled(shape, RECORDS)).cpu,
    ])
    if (appended > GROWTH_MAX) squares.push(`append: ${appended.toFixed(0)} times`)
    for (const [call, run] of Object.entries(CALLS)) {
      const growth = await growthOf(async () => [await cpuOf(() => run(small)), await cpuOf(() => run(large))])
      if (growth > GROWTH_MAX) squares.push(`${call}: ${growth.toFixed(0)} times`)
    }
    assert.equal(squares, [])
    await small.store.close()
    await large.store.close()
  })
}

test.run()
