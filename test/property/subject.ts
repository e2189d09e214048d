/**
 * The engine under test beside the model: runs one command on both, and compares what both answer.
 */
import * as assert from 'uvu/assert'
import { type AsrRecord, type At, type ContextView, type Header, memoryLocation, openStore } from '../../src/main.js'
import type { Store, StoreLocation } from '../../src/store/api.js'
import type { Stream } from '../../src/stream/api.js'
import { waitingLocation } from '../support/levels.js'
import { plain, type Rec } from './json.js'
import { isFault, type ModelAt, ModelStream } from './model.js'
import { entityId, isHead, type Row, revisedTwice } from './rows.js'

export const HEADER: Rec = { type: 'header', asr: '1', sessionId: 'property/é😀', agent: { name: 'a', version: '1' } }

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

export async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all = await collect(chunks)
  const bytes = new Uint8Array(all.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of all) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

export const exportText = async (stream: Stream) => new TextDecoder().decode(await bytesOf(stream.exportJsonl()))

/** What a call came to: its value, or the code of the error. A failure without a code is no answer. */
export async function outcomeOf<T>(call: () => Promise<T>): Promise<{ code: string } | { value: T }> {
  try {
    return { value: await call() }
  } catch (error) {
    const code = (error as { code?: unknown }).code
    if (typeof code !== 'string' || (error as Error).name !== 'AsrError') throw error
    return { code }
  }
}

export class Subject {
  stream!: Stream
  model = new ModelStream(HEADER)

  constructor(
    public store: Store,
    private location: StoreLocation,
  ) {}

  static async create(location: StoreLocation = waitingLocation()): Promise<Subject> {
    const subject = new Subject(await openStore(location), location)
    subject.stream = await subject.store.createStream(HEADER as Header)
    return subject
  }

  /** From now on the stream of this session, which the model says to be so. */
  async attend(sessionId: string, model: ModelStream): Promise<void> {
    this.stream = await this.store.stream(sessionId)
    this.model = model
  }

  async reopen(): Promise<void> {
    await this.store.close()
    this.store = await openStore(this.location)
    this.stream = await this.store.stream(this.stream.sessionId)
  }

  async compareExport(): Promise<Uint8Array> {
    const bytes = await bytesOf(this.stream.exportJsonl())
    assert.is(new TextDecoder().decode(bytes), this.model.exportText(), 'exported text')
    return bytes
  }

  /** CORE-26: the stream imported into an empty store must be the same stream; `stay` goes on with the copy. */
  async copyElsewhere(stay: boolean): Promise<void> {
    const bytes = await this.compareExport()
    const location = memoryLocation()
    const copy = new Subject(await openStore(location), location)
    const report = await copy.store.importJsonl([bytes])
    assert.is(report.appended, this.model.rows.length, 'records of the copy')
    await copy.attend(this.stream.sessionId, this.model)
    if (stay) {
      await this.store.close()
      this.store = copy.store
      this.stream = copy.stream
      this.location = location
    } else {
      await compareAll(copy.stream, copy.model)
      await copy.store.close()
    }
  }

  /** No damage, and the note of CORE-18 where it belongs. */
  async verify(): Promise<void> {
    const { ok, streams } = await this.store.verify({ sessionId: this.stream.sessionId })
    const [{ records, problems }] = streams
    assert.equal(
      problems.filter(({ severity }) => severity === 'damage'),
      [],
      'damage',
    )
    assert.equal([ok, streams.length, records], [true, 1, this.model.rows.length], 'verified streams and records')
    const twice = problems.some(({ code }) => code === 'superseded_twice')
    assert.is(twice, revisedTwice(this.model.rows), 'whether a record was revised twice on a path')
  }

  /** The call is made before anything is waited for, so that several can be under way at once. */
  async append(records: Rec[], options: { expected?: number; head?: string }): Promise<void> {
    const call = outcomeOf(() => this.stream.append(records as AsrRecord[], options))
    const expected = this.model.append(records, options)
    const outcome = await call
    assert.equal('value' in outcome ? outcome.value : outcome, expected, 'receipt or code')
  }

  async setHead(name: string, recordId: string | null): Promise<void> {
    const call = outcomeOf(() => this.stream.setHead(name, recordId))
    const expected = this.model.setHead(name, recordId)
    const outcome = await call
    assert.equal('value' in outcome ? outcome.value : outcome, expected, 'receipt or code')
  }

  async reviseHeader(patch: Rec): Promise<void> {
    const call = outcomeOf(() => this.stream.reviseHeader(patch))
    const expected = this.model.reviseHeader(patch)
    const outcome = await call
    if (isFault(expected)) assert.equal(outcome, expected, 'code of a refused header revision')
    else assert.is('value' in outcome ? plain(outcome.value as Rec) : outcome.code, plain(expected), 'revised header')
  }
}

/** The failure with the log that led to it, which says more than the commands do. */
export function told(error: unknown, { model }: Subject): Error {
  const cause = error instanceof Error ? error : new Error(String(error))
  const details = (cause as { details?: unknown }).details
  return new Error(`${cause.message}\n${details ?? cause.stack}\nthe log as the model has it:\n${model.exportText()}`, {
    cause,
  })
}

const texts = (rows: readonly Row[]) => rows.map((row) => plain(row.record))
const textsOf = async (records: AsyncIterable<unknown>) =>
  (await collect(records)).map((record) => plain(record as Rec))
const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)

export async function compareState(stream: Stream, model: ModelStream): Promise<void> {
  assert.is(stream.length, model.rows.length, 'length')
  assert.is(await stream.digest(), model.digest(), 'digest')
  assert.equal((await stream.heads()).toSorted(byName), model.heads().toSorted(byName), 'heads')
  const sorted = (leaf: { heads: string[] }) => ({ ...leaf, heads: leaf.heads.toSorted() })
  assert.equal((await stream.leaves()).map(sorted), model.leaves().map(sorted), 'leaves')
}

/** Path, resolved path and context view at one place. */
export async function compareAt(stream: Stream, model: ModelStream, at: ModelAt): Promise<void> {
  const where = JSON.stringify(at)
  const path = model.path(at)
  const outcome = await outcomeOf(() => stream.activePath(at as At))
  if (path === undefined) {
    assert.equal(outcome, { code: 'ASR_NOT_FOUND' }, `path at ${where}`)
    assert.equal(await outcomeOf(() => stream.contextView(at as At)), { code: 'ASR_NOT_FOUND' }, `view at ${where}`)
    return
  }
  if ('code' in outcome) assert.unreachable(`path at ${where}: ${outcome.code}`)
  else {
    const expected = model.view(path)
    const { value } = outcome
    assert.equal(
      await collect(value.ids()),
      path.map((row) => row.id),
      `ids of the path at ${where}`,
    )
    assert.equal([value.length, value.cut, value.gaps], [path.length, expected.cut, expected.gaps], `path at ${where}`)
    assert.equal(await textsOf(value.resolved()), texts(model.resolved(path)), `resolved path at ${where}`)
    await compareView(await stream.contextView(at as At), expected, 'head' in at ? at.head : null, where)
  }
}

async function compareView(
  view: ContextView,
  expected: ReturnType<ModelStream['view']>,
  head: string | null,
  where: string,
): Promise<void> {
  assert.equal(await textsOf(view.entries()), texts(expected.entries), `entries of the view at ${where}`)
  const { compaction, openCalls, danglingResults, cut, gaps } = expected
  const found = {
    compaction: view.compaction && plain(view.compaction),
    diagnostics: view.diagnostics.map(({ code, recordId }) => ({ code, recordId })),
    ...{ head: view.head, length: view.length, openCalls: view.openCalls, danglingResults: view.danglingResults },
    ...{ cut: view.cut, gaps: view.gaps },
  }
  const wanted = {
    compaction: compaction && plain(compaction.record),
    diagnostics: expected.diagnostics,
    ...{ head, length: expected.entries.length, openCalls, danglingResults, cut, gaps },
  }
  assert.equal(found, wanted, `view at ${where}`)
}

export async function compareRecord(stream: Stream, model: ModelStream, row: Row): Promise<void> {
  const stored = await stream.get(row.id)
  assert.is(stored && plain(stored), plain(row.record), `record ${row.id}`)
  assert.is(await stream.hash(row.id), model.hash(row.id), `hash of ${row.id}`)
  assert.is(await stream.position(row.id), row.pos, `position of ${row.id}`)
}

export async function compareEntity(
  stream: Stream,
  model: ModelStream,
  type: string,
  id: string,
  at: ModelAt | 'anywhere',
): Promise<void> {
  const where = `entities ${type} ${JSON.stringify(id)} at ${JSON.stringify(at)}`
  const outcome = await outcomeOf(() => stream.entity(type, id, at === 'anywhere' ? { anywhere: true } : (at as At)))
  const expected = model.entity(type, id, at)
  if (expected === undefined) assert.equal(outcome, { code: 'ASR_NOT_FOUND' }, where)
  else {
    const found = 'value' in outcome ? outcome.value : []
    const shown = (entity: { first: unknown; inForce: unknown; revisions: unknown[] }) => ({
      first: plain(entity.first as Rec),
      inForce: entity.inForce === null ? null : plain(entity.inForce as Rec),
      revisions: entity.revisions.map((record) => plain(record as Rec)),
    })
    assert.equal(found.map(shown), expected.map(shown), where)
  }
}

/** Every record, path, view and stated entity. */
export async function compareAll(stream: Stream, model: ModelStream): Promise<void> {
  await compareState(stream, model)
  assert.is(plain((await stream.header()) as Rec), plain(model.header), 'header')
  await compareRanges(stream, model)
  await compareAt(stream, model, { head: 'primary' })
  for (const { name } of model.heads()) await compareAt(stream, model, { head: name })
  for (const row of model.rows) {
    await compareRecord(stream, model, row)
    await compareAt(stream, model, { at: row.id })
    if (isHead(row)) continue
    for (const at of ['anywhere', { head: 'primary' }] as const) await compareEntity(stream, model, ...nameOf(row), at)
    await compareEntity(stream, model, row.record.type as string, row.id, { at: row.id })
  }
}

async function compareRanges(stream: Stream, model: ModelStream): Promise<void> {
  const { rows } = model
  assert.equal(await textsOf(stream.records()), texts(rows), 'records in log order')
  const [from, to] = [Math.ceil(rows.length / 3), Math.ceil((rows.length * 2) / 3)].map((pos) => Math.max(pos, 1))
  const between = rows.filter((row) => row.pos >= from && row.pos <= to)
  assert.equal(await textsOf(stream.records({ from, to })), texts(between), 'records of a range')
  const backwards = await textsOf(stream.records({ from, to, reverse: true }))
  assert.equal(backwards, texts(between).toReversed(), 'records of a range, the last first')
  const types = ['message', 'head', '']
  const ofTypes = rows.filter((row) => types.includes(row.record.type as string))
  assert.equal(await textsOf(stream.records({ types })), texts(ofTypes), 'records of some types')
}

/** The type and id by which a record's entity is looked up (CORE-20). */
export function nameOf(row: Row): [string, string] {
  return [row.record.type as string, entityId(row.founder)]
}
