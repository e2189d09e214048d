/**
 * Every check of a stream: frames, chain, content hashes, what import would say of each record, and the index against
 * the log.
 */
import { type AsrError, type Diagnostic, isAsrError } from '../base/error.js'
import { hashBytes, hashText, hex64 } from '../base/hash.js'
import { LargeSet } from '../base/large.js'
import { turns } from '../base/turn.js'
import { counted } from '../base/words.js'
import { idKey } from '../index/keys/key-run.js'
import { MemoryIndex } from '../index/memory-index.js'
import { decodeRoot, type Root } from '../index/root.js'
import { createRowCache } from '../index/row-cache.js'
import { parseKey } from '../index/row-key.js'
import { logRows } from '../index/rows.js'
import { StreamIndex } from '../index/stream-index.js'
import {
  type Damage,
  ENTRY_KIND,
  FLAG_ORPHAN,
  LOG_START,
  type RecordLog,
  type ScanItem,
  type StoredEntry,
} from '../log/api.js'
import { canonicalText } from '../record/canonical.js'
import type { StoredRecord } from '../record/record.js'
import { otherVersion } from '../record/validate.js'
import type { LongCall } from '../stream/api.js'
import type { Environment } from '../stream/core/environment.js'
import { StreamCore } from '../stream/core/stream-core.js'
import { type Fault, faultOf, type Witness } from '../stream/core/witness.js'
import { catchUp, corrupt, soundValue } from '../stream/place/catch-up.js'
import { badExtent, isBadExtent } from '../stream/read/path-view.js'
import { doublesIn, type Revision } from '../supersede/doubles.js'
import type { VerifyReport } from './api.js'
import { rootsKnown } from './catalog.js'

/** Failures that say nothing of what a stream holds. */
const OF_THE_CALL: readonly string[] = ['ASR_ABORTED', 'ASR_CLOSED', 'ASR_STREAM_NOT_FOUND']

export type StreamReport = VerifyReport['streams'][number]

/** Reads all of a stream's log and compares its index with one built anew; appends wait meanwhile. */
export async function verifyStream(core: StreamCore, options: LongCall = {}): Promise<StreamReport> {
  await core.refresh()
  return core.writing.run(async () => {
    const { sessionId } = core
    const problems: Diagnostic[] = []
    const fresh = await rebuiltApart(core, problems, options)
    const { damage } = core
    if (damage !== undefined && !problems.some(({ code }) => code === damage.code)) problems.unshift(damageOf(damage))
    if (core.damage === undefined && !hasDamage(problems))
      for (const problem of await indexProblems(core, fresh)) problems.push(problem)
    return { sessionId, records: core.length, ok: !hasDamage(problems), problems }
  })
}

/** What is to be said of streams that the index knows and whose logs are gone. Others come and go meanwhile. */
export async function lostStreams({ place, level, withIndexNow }: Environment): Promise<StreamReport[]> {
  const logs = await place.incarnations()
  const gone = (await rootsKnown(level)).filter(({ log }) => !logs.has(log))
  if (gone.length === 0) return []
  const knownNow = await (withIndexNow ?? ((work) => work(level)))(rootsKnown)
  const lost = new Set(knownNow.map(({ log }) => log))
  return gone.filter(({ log }) => lost.has(log)).map(({ root }) => lostStream(root))
}

/** What is said of a stream that can't be opened; of one that is not there, when the index knows it. @throws what says nothing of it */
export async function unopened(environment: Environment, sessionId: string, error: unknown): Promise<StreamReport> {
  const isAbsent = isAsrError(error, 'ASR_STREAM_NOT_FOUND')
  const lost = isAbsent ? (await lostStreams(environment)).find((report) => report.sessionId === sessionId) : undefined
  if (lost !== undefined) return lost
  if (!isAsrError(error) || OF_THE_CALL.includes(error.code)) throw error
  const { code, message } = error
  return { sessionId, records: 0, ok: false, problems: [{ code, message, severity: 'damage' }] }
}

function lostStream({ sessionId, state }: Root): StreamReport {
  const records = state.point.pos
  const name = JSON.stringify(sessionId)
  const message = `stream ${name}: the index knows ${counted(records, 'record')} of it, but its log is gone`
  return { sessionId, records, ok: false, problems: [{ code: 'lost_stream', message, severity: 'damage' }] }
}

function hasDamage(problems: readonly Diagnostic[]): boolean {
  return problems.some(({ severity }) => severity === 'damage')
}

/** The stream with an index of its own in memory, made from the log from its start; what is found on the way is added. */
async function rebuiltApart(core: StreamCore, problems: Diagnostic[], options: LongCall): Promise<StreamCore> {
  const { environment, sessionId } = core
  const level = new MemoryIndex()
  const apart = { ...environment, level, mayWriteLevel: true, cache: createRowCache(), readOnly: true, notices: [] }
  const log = environment.place.open(core.log, sessionId, { isOfAnother: core.log.isOfAnother })
  const fresh = new StreamCore(apart, log, new StreamIndex(level, core.log.identity.incarnation, apart.cache))
  const revisions: Revision[] = []
  const compactions: number[] = []
  const ids = new LargeSet<number>()
  const repeated: { pos: number; id: string }[] = []
  const caughtUp = await catchUp(log, fresh.index, {
    onScar: (scar) => problems.push(scarOf(log, scar)),
    signal: options.signal,
    onBlock: (done) => options.onProgress?.({ done, total: core.length, unit: 'records' }),
    flush: () => fresh.flush(),
    onRecord: (record, frame, { faults, entry }) => {
      checkHash(sessionId, record, frame, problems)
      for (const { code, message } of faults) problems.push({ code, message, recordId: record.id, severity: 'kept' })
      if ((frame.flags & FLAG_ORPHAN) !== 0) problems.push(orphan(record))
      if (record.type === 'compaction') compactions.push(frame.pos)
      const key = idKey(record.id)
      if (ids.has(key)) repeated.push({ pos: frame.pos, id: record.id })
      ids.add(key)
      if (entry.founder === frame.pos) return
      const isRefused = faults.some(({ code }) => code.startsWith('supersedes_'))
      revisions.push({ pos: frame.pos, parent: frame.parent, target: isRefused ? undefined : record.supersedes })
    },
  })
  log.end = caughtUp.end.point
  const witness = { ...core.witness, ...core.reach }
  const fault = faultOf(log, caughtUp, witness)
  if (fault !== undefined) await everyDamage(log, fault, witness, problems)
  await headerProblems(fresh, problems)
  await repeatedIds(fresh, repeated, problems)
  for (const pos of compactions) {
    if (await isBadExtent(fresh, pos)) problems.push(badExtent(await fresh.ask((lookup) => lookup.id(pos))))
  }
  await doubles(fresh, revisions, problems)
  return fresh
}

/** Records with the id of an earlier one: no append and no import lets them in (CORE-4). */
async function repeatedIds(
  core: StreamCore,
  suspects: readonly { pos: number; id: string }[],
  problems: Diagnostic[],
): Promise<void> {
  for (const { pos, id } of suspects) {
    const first = await core.ask((lookup) => lookup.find(id))
    if (first === pos) continue
    const message = `stream ${JSON.stringify(core.sessionId)}: position ${pos} has the id ${JSON.stringify(id)} of position ${first}`
    problems.push({ code: 'ASR_CORRUPT', message, recordId: id, severity: 'damage' })
  }
}

async function headerProblems({ log, index, sessionId }: StreamCore, problems: Diagnostic[]): Promise<void> {
  const { location, hash } = index.state.header
  if (location === 0) return
  const header = log.decode(await log.entry(location)) as unknown as StoredRecord
  const version = otherVersion(header)
  if (version !== undefined) problems.push({ code: 'asr_version', message: version, severity: 'kept' })
  if (contentHash(header) === hash) return
  const message = `stream ${JSON.stringify(sessionId)}: the header does not have the content hash it was stored with`
  problems.push({ code: 'ASR_CORRUPT', message, severity: 'damage' })
}

/** All that is lost of a log, not only the first of it, behind which nothing was taken in. */
async function everyDamage(log: RecordLog, first: Fault, witness: Witness, problems: Diagnostic[]): Promise<void> {
  problems.push(damageOf(first.error))
  await log.learnAll()
  const scanner = log.scan(LOG_START)
  let lost: Damage | undefined
  for (let items = await scanner.next(); items !== undefined; items = await scanner.next()) {
    for (const item of items) {
      if (turns.isOver()) await turns.next()
      if (item.at <= first.at || isOfLog(item)) continue
      const more = lostWith(log, item)
      if (lost !== undefined && more === undefined) problems.push(damageOf(corrupt(log, lost)))
      lost = more && { ...more, at: lost?.at ?? more.at, firstPos: lost?.firstPos ?? more.firstPos }
    }
  }
  if (lost !== undefined) problems.push(damageOf(corrupt(log, lost)))
  const tail = faultOf(log, { end: scanner.end() }, witness)
  if (tail !== undefined && tail.at > first.at) problems.push(damageOf(tail.error))
}

/** A sound entry of the log's own, which says nothing of the stream. */
function isOfLog({ entry }: ScanItem): boolean {
  return entry !== undefined && entry.kind !== ENTRY_KIND.header && entry.kind !== ENTRY_KIND.record
}

/** A damaged spot, or a sound record or header that nobody knows how to read any more. */
function lostWith(log: RecordLog, item: ScanItem): Damage | undefined {
  if (item.entry === undefined) return item
  const { at, entry: frame } = item
  if (soundValue(log, frame) !== undefined) return undefined
  return { at, to: at, firstPos: frame.kind === ENTRY_KIND.record ? frame.pos : frame.pos + 1, lastPos: frame.pos }
}

function orphan(record: StoredRecord): Diagnostic {
  const message = `its parent ${JSON.stringify(record.parentId)} was not there when it came; it is an orphan root`
  return { code: 'orphan_parent', message, recordId: record.id, severity: 'kept' }
}

function checkHash(sessionId: string, record: StoredRecord, frame: StoredEntry, problems: Diagnostic[]): void {
  if (contentHash(record) === frame.hash) return
  const message = `stream ${JSON.stringify(sessionId)}: position ${frame.pos} does not have the content hash it was stored with`
  problems.push({ code: 'ASR_CORRUPT', message, recordId: record.id, severity: 'damage' })
}

/** Undefined when the value is one that no append takes. */
function contentHash(record: StoredRecord): bigint | undefined {
  try {
    return hashText(canonicalText(record))
  } catch (error) {
    if (isAsrError(error)) return undefined
    throw error
  }
}

/** A damaged frame that said only what others say again. */
function scarOf(log: RecordLog, scar: Damage): Diagnostic {
  return {
    code: 'ASR_CORRUPT',
    message: `${corrupt(log, scar).message}; no record is lost with it`,
    severity: 'damage',
  }
}

function damageOf(error: AsrError): Diagnostic {
  return { code: error.code, message: error.message, severity: 'damage' }
}

/** Two revisions of one target on one path: the later wins (CORE-18). */
async function doubles(core: StreamCore, revisions: readonly Revision[], problems: Diagnostic[]): Promise<void> {
  for (const { pos, earlier, target } of await core.ask(({ index }) => doublesIn(index, revisions))) {
    const recordId = await core.ask((lookup) => lookup.id(pos))
    const before = await core.ask((lookup) => lookup.id(earlier))
    const message = `${JSON.stringify(recordId)} and ${JSON.stringify(before)} revise ${JSON.stringify(target)} on one path; the later one is in force`
    problems.push({ code: 'superseded_twice', message, recordId, severity: 'note' })
  }
}

/** Rows of the index that are not what the log says, the root's bookkeeping apart. */
async function indexProblems(core: StreamCore, fresh: StreamCore): Promise<Diagnostic[]> {
  await core.flushAll()
  if (core.index.persisted.length < core.length) return [] // it can't be written, and is believed for nothing
  // A reader is of before what a writer cut off and wrote since.
  if (core.state.point.location !== fresh.state.point.location) return []
  await fresh.flushAll()
  const expected = await rowsOf(fresh)
  const found = await rowsOf(core).catch(() => new Map<string, string>())
  const wrong = [...new Set([...expected.keys(), ...found.keys()])].filter(
    (key) => expected.get(key) !== found.get(key),
  )
  return wrong.map((key) => ({
    code: 'index_damaged',
    message: `stream ${JSON.stringify(core.sessionId)}: row ${key} of the index is not what the log says; \`asr reindex\` makes it anew`,
    severity: 'damage',
  }))
}

/** The check of each row of a stream's index, by key; of the root, what follows from the log. */
async function rowsOf({ index }: StreamCore): Promise<Map<string, string>> {
  const rows = new Map<string, string>()
  for await (const [key, bytes] of logRows(index.level, index.incarnation)) {
    rows.set(key, parseKey(key)?.kind === 'root' ? rootContent(bytes, index.incarnation) : hex64(hashBytes(bytes)))
  }
  return rows
}

function rootContent(bytes: Uint8Array, log: string): string {
  const root = decodeRoot(bytes, log)
  if (root === undefined) return 'damaged'
  const { point, header, lastSeq, updatedAt, defaultIdsTaken } = root.state
  const { title, bytes: logBytes, headsCheck, dictionaryCheck, directories, runs } = root
  const values = {
    lastSeq,
    updatedAt,
    defaultIdsTaken,
    title,
    logBytes,
    headsCheck,
    dictionaryCheck,
    directories,
    runs,
  }
  return JSON.stringify({
    ...values,
    ...point,
    chain: hex64(point.chain),
    header: header.location,
    headerHash: hex64(header.hash),
  })
}
