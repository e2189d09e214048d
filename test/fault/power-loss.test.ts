/**
 * Battery 3 and 4: the power fails at every change of a file that a run makes, and again while the store recovers. Under
 * `'disk'` nothing acknowledged is lost; under `'process'` the newest may be, and never one before another. The index may be
 * as of any earlier moment, or gone. No state is one that cannot be opened.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { decodeRoot } from '../../src/index/root.js'
import { type AsrRecord, isAsrError, type Store, type Stream } from '../../src/main.js'
import type { StreamStore } from '../../src/store/store.js'
import { bytesOf, collect } from '../support/collect.js'
import { header, jsonl } from '../support/records.js'
import { cases, figure, Random, SEED, type Tally } from './battery.js'
import { FaultyStorage, type Method } from './faulty-storage.js'
import {
  appendInNewSegment,
  coreOf,
  type Files,
  filesOf,
  freshLevel,
  levelOf,
  type Options,
  openAt,
  type Rows,
  storageOf,
} from './place.js'
import { matchAppends } from './promises.js'
import { CUTS, type Cut, momentOf, RecordingStorage } from './trace.js'
import { type Append, anyRecord, asStored } from './written.js'

type Durability = 'process' | 'disk'

/** What the test knows of a stream at a moment. */
interface KnownStream {
  appends: Append[]
  deleted: 'no' | 'tried' | 'promised'
  /** the revision of the header that is promised, and one that is tried */
  revision: number
}

type Known = Map<string, KnownStream>

const APPENDS = figure(90, 1_000)
const SESSIONS = ['a', 'b', 'c']

class Run {
  readonly storage = new RecordingStorage<Known>()
  store!: StreamStore
  private n = 0

  constructor(
    readonly durability: Durability,
    readonly random: Random,
  ) {}

  async open(level: Awaited<ReturnType<typeof levelOf>>): Promise<void> {
    this.store = await openAt(this.storage, level, { durability: this.durability, boot: 'before' })
  }

  /** Tries something; when it comes about, it is promised. */
  async promise(session: string, records: AsrRecord[], call: () => Promise<unknown>): Promise<void> {
    const at = { n: -1 }
    this.storage.note((known) => {
      const stream = streamIn(known, session)
      at.n = stream.appends.push({ records, promised: 'tried' }) - 1
    })
    await call()
    const promised = this.durability === 'disk' ? 'durable' : 'committed'
    this.storage.note((known) => {
      streamIn(known, session).appends[at.n] = { records, promised }
    })
  }

  async append(session: string, how: (stream: Stream, records: AsrRecord[]) => Promise<unknown>): Promise<void> {
    const records = Array.from({ length: 1 + this.random.below(4) }, () =>
      anyRecord(this.random, `${session}${this.n++}`),
    )
    const stream = await this.store.stream(session)
    await this.promise(session, records, () => how(stream, records))
  }

  /** A file of a new stream, which comes whole or not at all. */
  async import(session: string): Promise<void> {
    const records = Array.from({ length: 8 }, () => anyRecord(this.random, `${session}${this.n++}`))
    await this.promise(session, records, () => this.store.importJsonl([jsonl(header(session), ...records)]))
  }

  /** A file that has more than the stream: a few records go in one write, more come as a segment of their own. */
  async extend(session: string): Promise<void> {
    const records = Array.from({ length: this.random.pick([2, 9]) }, () =>
      anyRecord(this.random, `${session}${this.n++}`),
    )
    const known = await bytesOf((await this.store.stream(session)).exportJsonl())
    await this.promise(session, records, () => this.store.importJsonl([known, jsonl(...records)]))
  }

  async revise(session: string): Promise<void> {
    const revision = ++this.n
    await (await this.store.stream(session)).reviseHeader({ revision })
    if (this.durability === 'disk') this.storage.note((known) => Object.assign(streamIn(known, session), { revision }))
  }

  async delete(session: string): Promise<void> {
    this.storage.note((known) => Object.assign(streamIn(known, session), { deleted: 'tried' }))
    await this.store.deleteStream(session)
    this.storage.note((known) => Object.assign(streamIn(known, session), { deleted: 'promised' }))
  }
}

function streamIn(known: Known, session: string): KnownStream {
  const stream = known.get(session) ?? { appends: [], deleted: 'no', revision: 0 }
  known.set(session, stream)
  return stream
}

/** Streams made, written to, imported, extended by import, given new segments, deleted; closed and opened again, once after a kill. */
async function recorded(durability: Durability): Promise<Run> {
  const run = new Run(durability, new Random(SEED, durability.length))
  const { random } = run
  const level = await run.storage.watch(freshLevel())
  await run.open(level)
  for (const session of SESSIONS) await run.promise(session, [], () => run.store.createStream(header(session)))
  for (let n = 0; n < APPENDS; n++) {
    const session = random.pick(SESSIONS)
    await run.append(session, (stream, records) =>
      random.chance(0.03) ? appendInNewSegment(stream, records) : stream.append(records),
    )
    if (random.chance(0.04)) await coreOf(await run.store.stream(session)).flush()
    if (random.chance(0.02)) await run.revise(session)
    if (random.chance(0.08)) await run.extend(session)
    if (n === Math.floor(APPENDS / 4)) await run.import('imported')
    if (n === Math.floor(APPENDS / 3)) await run.delete('imported')
    if (n === Math.floor(APPENDS / 2)) await run.store.close()
    if (n === Math.floor((APPENDS * 3) / 4)) await run.import('another')
    if (n === Math.floor(APPENDS / 2) || n === Math.floor(APPENDS * 0.8)) await run.open(level)
  }
  await run.store.close()
  return run
}

/** The index as it was at some moment up to now, mostly the last, or none. */
function anyIndex(indexes: readonly Rows[], random: Random): Rows | undefined {
  if (indexes.length === 0 || random.chance(0.2)) return undefined
  return random.chance(0.5) ? indexes[indexes.length - 1] : random.pick(indexes)
}

async function openAfter(files: Files, rows: Rows | undefined, options: Options) {
  const storage = storageOf(files)
  return { storage, store: await openAt(storage, rows === undefined ? freshLevel() : await levelOf(rows), options) }
}

/** Every stream holds what it was promised, the checks are clean, and it can be written on and opened again. */
async function holds(
  store: StreamStore,
  known: Known,
  loss: 'nothing' | 'committed',
  rows: Rows | undefined,
  tally: Tally,
): Promise<void> {
  for (const [session, stream] of known) await holdsStream(store, session, stream, loss, rows, tally)
  const report = await store.verify()
  const allowed = ({ code }: { code: string }, session: string) =>
    code === 'lost_stream' && (loss === 'committed' || known.get(session)?.deleted !== 'no')
  const problems = report.streams.flatMap(({ sessionId, problems: found }) =>
    found.filter((one) => one.severity === 'damage' && !allowed(one, sessionId)).map(({ message }) => message),
  )
  assert.equal(problems, [], 'verify')
}

async function holdsStream(
  store: StreamStore,
  session: string,
  { appends, deleted, revision }: KnownStream,
  loss: 'nothing' | 'committed',
  rows: Rows | undefined,
  tally: Tally,
): Promise<void> {
  const stream = await found(store, session)
  if (stream === undefined && deleted !== 'no') return
  if (deleted === 'promised') assert.is(loss, 'committed', `${session}, whose end was promised, is back`)
  const isMade = appends.some(({ promised }) => promised !== 'tried')
  if (stream === undefined && isMade) assert.is(loss, 'committed', `${session} is gone`)
  const present = stream === undefined ? [] : await collect(stream.records())
  const { lost } = matchAppends(present, { sessionId: session, appends }, loss)
  if (lost > 0) tally.add('records lost that were only committed', lost)
  if (stream === undefined) return
  for (const [i, record] of present.entries()) assert.is(await stream.position(record.id), i + 1)
  const { revision: there = 0 } = (await stream.header()) as { revision?: number }
  if (loss === 'nothing') assert.ok(there >= revision, `${session}: header ${there} instead of ${revision}`)
  const seen = witnessed(rows, session)
  if (seen > present.length) {
    tally.add('losses that the index knew of')
    const codes = store.notices.map(({ code }) => code)
    assert.ok(
      codes.some((code) => code === 'lost_suffix' || code === 'index_rebuilt'),
      `${session}: ${seen} records were known, ${present.length} are there, and nobody says so: ${codes}`,
    )
  }
}

async function found(store: Store, session: string): Promise<Stream | undefined> {
  try {
    return await store.stream(session)
  } catch (error) {
    if (isAsrError(error, 'ASR_STREAM_NOT_FOUND')) return undefined
    throw error
  }
}

/** How many records of a stream the index had seen. */
function witnessed(rows: Rows | undefined, session: string): number {
  const roots = (rows ?? [])
    .filter(([key]) => key.endsWith('/a'))
    .map(([key, value]) => decodeRoot(value, key.slice(0, -2)))
  return Math.max(0, ...roots.filter((root) => root?.sessionId === session).map((root) => root!.state.point.pos))
}

/** Written on after the recovery, and opened once more: all of it is there, and nothing is left to say. */
async function goesOn(store: StreamStore, files: () => Files, durability: Durability): Promise<void> {
  const before = new Map<string, number>()
  for await (const { sessionId, records } of store.streams()) before.set(sessionId, records)
  for (const sessionId of before.keys()) {
    await (await store.stream(sessionId)).append([
      { type: 'message', id: 'after', mark: 'after' },
      { type: 'state', id: 'after2', mark: { after: true } },
    ])
  }
  await store.close()
  const { store: again } = await openAfter(files(), undefined, { boot: 'after', durability })
  for (const [sessionId, length] of before) {
    const stream = await again.stream(sessionId)
    assert.is(stream.length, length + 2)
    assert.equal(await stream.get('after'), asStored({ type: 'message', id: 'after', mark: 'after' }, length + 1))
  }
  assert.is((await again.verify()).ok, true)
  assert.equal(again.notices, [])
}

const runs: { [durability in Durability]: Run } = { process: await recorded('process'), disk: await recorded('disk') }

for (const durability of ['process', 'disk'] as const) {
  const { steps } = runs[durability].storage
  const boundaries = steps.length

  test(`power loss under '${durability}': at each of the run’s changes, whatever is lost of unsynced bytes and names`, async () => {
    const cuts = CUTS.slice(1)
    await cases(`power cuts, ${durability}`, (boundaries + 1) * cuts.length, async (n, random, tally) => {
      const cut: Cut = cuts[n % cuts.length]
      const moment = momentOf<Known>(
        new Map(),
        steps,
        Math.floor(n / cuts.length),
        new Map(),
        random.pick([1, 1, random.next()]),
      )
      const rows = anyIndex(moment.indexes, random)
      const { storage, store } = await openAfter(moment.disk.after(cut, random), rows, {
        durability,
        boot: 'after',
        powerCut: true,
      })
      await holds(store, moment.known, durability === 'disk' ? 'nothing' : 'committed', rows, tally)
      if (n % 8 === 0) await goesOn(store, () => filesOf(storage), durability)
    })
  })

  test(`a killed process under '${durability}': at each of the run’s changes all that is acknowledged is there`, async () => {
    await cases(`kills by replay, ${durability}`, boundaries + 1, async (n, random, tally) => {
      const moment = momentOf<Known>(new Map(), steps, n, new Map(), random.pick([1, random.next()]))
      const rows = random.chance(0.2) ? undefined : moment.indexes.at(-1)
      const { storage, store } = await openAfter(moment.disk.after('keep', random), rows, {
        durability,
        boot: 'before',
      })
      await holds(store, moment.known, 'nothing', rows, tally)
      if (n % 8 === 0) await goesOn(store, () => filesOf(storage), durability)
    })
  })

  test(`power loss under '${durability}': again while the store recovers, or right after, with an index of either time`, async () => {
    await cases(`second power cuts, ${durability}`, figure(300, 5_000), async (_, random, tally) => {
      const moment = momentOf<Known>(new Map(), steps, random.below(boundaries + 1), new Map())
      const files = moment.disk.after(random.pick(CUTS.slice(1)), random)
      const storage = new RecordingStorage<Known>(storageOf(files))
      const rows = anyIndex(moment.indexes, random)
      const level = await storage.watch(rows === undefined ? freshLevel() : await levelOf(rows))
      const store = await openAt(storage, level, { durability, boot: 'between', powerCut: true })
      const known = await secondRun(store, storage, moment.known, durability, random)
      const again = momentOf<Known>(files, storage.steps, random.below(storage.steps.length + 1), known, random.next())
      const index = anyIndex([...moment.indexes, ...(rows === undefined ? [] : [rows]), ...again.indexes], random)
      const { store: last } = await openAfter(again.disk.after(random.pick(CUTS.slice(1)), random), index, {
        durability,
        boot: 'after',
        powerCut: true,
      })
      await holds(last, again.known, durability === 'disk' ? 'nothing' : 'committed', undefined, tally)
    })
  })

  test(`a failure while the store recovers under '${durability}': the next opening completes it`, async () => {
    const methods: Method[] = ['append', 'read', 'size', 'sync', 'truncate', 'rename', 'remove', 'list']
    await cases(`failures in recovery, ${durability}`, figure(300, 5_000), async (_, random, tally) => {
      const moment = momentOf<Known>(new Map(), steps, random.below(boundaries + 1), new Map(), random.next())
      const storage = storageOf(moment.disk.after(random.pick(CUTS.slice(1)), random))
      const rows = anyIndex(moment.indexes, random)
      const level = rows === undefined ? freshLevel() : await levelOf(rows)
      const faulty = new FaultyStorage(storage)
      faulty.fail({
        method: random.pick(methods),
        call: 1 + random.below(6),
        code: random.pick(['EIO', 'ENOSPC']),
        forGood: random.chance(0.5),
      })
      await touchAll(faulty, level, { durability, boot: 'after', powerCut: true }, tally)
      const store = await openAt(storage, level, { durability, boot: 'after', powerCut: true })
      await holds(store, moment.known, durability === 'disk' ? 'nothing' : 'committed', undefined, tally)
      await goesOn(store, () => filesOf(storage), durability)
    })
  })
}

/** After the recovery what is there counts; a few more appends come, each promised. */
async function secondRun(
  store: StreamStore,
  storage: RecordingStorage<Known>,
  known: Known,
  durability: Durability,
  random: Random,
): Promise<Known> {
  const promised = durability === 'disk' ? 'durable' : 'committed'
  for (const session of known.keys()) {
    const stream = await found(store, session)
    if (stream === undefined) continue
    const present = await collect(stream.records())
    storage.note((now) => {
      const { appends } = streamIn(now, session)
      const there = new Set(present.map(({ id }) => id))
      const kept = appends.filter(
        ({ records }, n) => records.length === 0 || there.has(asStored(records[0], firstOf(appends, n, there)).id),
      )
      streamIn(now, session).appends = kept.map((append) => (durability === 'disk' ? { ...append, promised } : append))
    })
    for (let n = 0; n < 3; n++) {
      const records = [anyRecord(random, `second-${session}${n}`)]
      storage.note((now) => streamIn(now, session).appends.push({ records, promised: 'tried' }))
      await stream.append(records)
      storage.note((now) => {
        streamIn(now, session).appends.splice(-1, 1, { records, promised })
      })
      if (random.chance(0.3)) await coreOf(stream).flush()
    }
  }
  return known
}

/** The position that an append's first record would have among those that are there. */
function firstOf(appends: readonly Append[], n: number, there: ReadonlySet<string>): number {
  let pos = 1
  for (const { records } of appends.slice(0, n))
    if (records.length > 0 && there.has(asStored(records[0], pos).id)) pos += records.length
  return pos
}

/** Opens the store and each stream, and lets what fails fail, with a code of ours. */
async function touchAll(
  storage: FaultyStorage,
  level: Parameters<typeof openAt>[1],
  options: Options,
  tally: Tally,
): Promise<void> {
  const attempt = async (call: () => Promise<unknown>): Promise<void> => {
    try {
      await call()
    } catch (error) {
      if (!isAsrError(error)) throw error
      if (!['ASR_IO', 'ASR_NO_SPACE', 'ASR_IN_DOUBT', 'ASR_STREAM_NOT_FOUND', 'ASR_POISONED'].includes(error.code))
        throw error
      tally.add(`met ${error.code}`)
    }
  }
  await attempt(async () => {
    const store = await openAt(storage, level, options)
    for (const session of [...SESSIONS, 'imported', 'another']) await attempt(() => store.stream(session))
    await attempt(() => store.close())
  })
}

test.run()
