/**
 * Opens a stream: the index as far as it is sound, the rest from the log; tells a torn tail, a lost tail and damage apart.
 */
import { MemoryLevel } from 'memory-level'
import { answer } from '../index/query.js'
import type { Root } from '../index/root.js'
import { clearLog, IndexDamaged } from '../index/rows.js'
import { StreamIndex } from '../index/stream-index.js'
import { KIND } from '../log/frame.js'
import { RecordLog } from '../log/record-log.js'
import { type ScanEnd, UNKNOWN_CHAIN } from '../log/scanner.js'
import { type LogIdentity, locate, offsetOf, type Segment, STREAMS_FOLDER, segmentOf } from '../log/segment.js'
import type { LogStorage } from '../log/storage.js'
import { AsrError, isAsrError } from '../record/error.js'
import { type CaughtUp, catchUp, corrupt } from './catch-up.js'
import type { Environment } from './environment.js'
import { StreamCore } from './stream-core.js'

export interface LogFiles {
  log: LogIdentity
  segments: Segment[]
}

/**
 * The stream of a log; undefined when its making was never finished, so that there is none.
 * A stream with damage, or with a lost tail, opens too: it says so at every question that depends on what is lost.
 */
export async function openLog(
  environment: Environment,
  sessionId: string,
  files: LogFiles,
): Promise<StreamCore | undefined> {
  const opened = await openIndex(environment, files.log, sessionId)
  const log = new RecordLog(environment.storage, STREAMS_FOLDER, files.log, sessionId, files.segments)
  const witness = opened && lostTail(environment, sessionId, files, opened.root)
  if (opened !== undefined && witness === undefined) {
    log.codec.dictionary.adopt(opened.dictionary)
    const core = new StreamCore(environment, log, opened.index)
    core.durable = opened.root.durable
    core.persistedBytes = opened.root.bytes
    return settle(core, files, await catchUp(log, opened.index, { flush: flushOf(core) }))
  }
  if (witness?.fatal && !environment.acceptLoss) return withDamage(environment, sessionId, files, witness.error)
  if (witness !== undefined) note(environment, 'lost_suffix', witness.error.message)
  await clearLog(environment.level, files.log.incarnation)
  const index = new StreamIndex(environment.level, files.log.incarnation, environment.cache)
  const core = new StreamCore(environment, log, index)
  return settle(core, files, await catchUp(log, index, { flush: flushOf(core) }))
}

function flushOf(core: StreamCore): () => Promise<void> {
  return () => core.flush()
}

async function openIndex(
  environment: Environment,
  log: LogIdentity,
  sessionId: string,
): ReturnType<typeof StreamIndex.open> {
  try {
    const opened = await StreamIndex.open(environment.level, log.incarnation, environment.cache)
    return opened?.root.sessionId === sessionId ? opened : undefined
  } catch (error) {
    if (!(error instanceof IndexDamaged)) throw error
    note(
      environment,
      'index_rebuilt',
      `stream ${JSON.stringify(sessionId)}: ${error.message}; the index was built again`,
    )
    return undefined
  }
}

/** Whether the log ends before what its index has seen of it (CORE-10). */
function lostTail(
  environment: Environment,
  sessionId: string,
  files: LogFiles,
  root: Root,
): { fatal: boolean; error: AsrError } | undefined {
  const last = files.segments[files.segments.length - 1]
  const end = last === undefined ? 0 : locate(last.number, last.size)
  const { location } = root.state.point
  if (end >= location) return undefined
  // What a process wrote outlives it; only another boot can have lost what was not synced.
  const vouched = environment.boot === root.boot ? location : root.durable
  const place = `at byte ${offsetOf(end)} of segment ${segmentOf(end)}`
  const message = `stream ${JSON.stringify(sessionId)}: the log had ${root.state.point.pos} records and now ends before that, ${place}`
  const error = lostTailError(sessionId, message)
  return { fatal: end < vouched, error }
}

async function settle(core: StreamCore, files: LogFiles, caughtUp: CaughtUp): Promise<StreamCore | undefined> {
  const { environment, log } = core
  const { damage, end } = caughtUp
  if (damage !== undefined) {
    const error = corrupt(core.sessionId, damage)
    if (environment.readOnly || !environment.acceptLoss) return withDamage(environment, core.sessionId, files, error)
    await cut(environment, files.segments, damage.at)
    note(environment, 'loss_accepted', `${error.message}; the stream now ends before it`)
    return openLog(environment, core.sessionId, {
      log: files.log,
      segments: await sizes(environment.storage, files.segments),
    })
  }
  log.end = end.point
  if (core.index.state.header.location === 0) return unfinished(environment, files, end)
  if (end.tornBytes > 0 && !environment.readOnly) {
    const lost = await lastFrameFault(core)
    if (lost !== undefined) return withDamage(environment, core.sessionId, files, lost)
    await cut(environment, log.segments, end.point.location)
    note(
      environment,
      'torn_tail',
      `stream ${JSON.stringify(core.sessionId)}: ${end.tornBytes} bytes of an unfinished append were cut off and kept aside`,
    )
  }
  return core
}

/**
 * Before anything is cut: the last frame that the index vouches for has to be where it was. When it is not, bytes came or
 * went in between, and what looks like a torn tail is part of a sound frame.
 */
async function lastFrameFault({ log, index, sessionId }: StreamCore): Promise<AsrError | undefined> {
  const { point, header } = index.state
  const location = index.length > 0 ? (await answer(index.entry(index.length))).location : header.location
  try {
    const frame = await log.frame(location)
    const before = frame.kind === KIND.record ? frame.pos - 1 : frame.pos
    const scanner = log.scan({ location, pos: before, chain: UNKNOWN_CHAIN, check: frame.previous })
    while ((await scanner.next()) !== undefined);
    const reached = scanner.end().point
    if (reached.location === point.location && reached.check === point.check) return undefined
  } catch (error) {
    if (!isAsrError(error, 'ASR_CORRUPT')) throw error
  }
  const message = `stream ${JSON.stringify(sessionId)}: position ${index.length} is not where it was written; bytes before it came or went`
  return new AsrError('ASR_CORRUPT', message, { sessionId, pos: index.length })
}

/** A log without its header: the stream was never there. */
async function unfinished(environment: Environment, files: LogFiles, end: ScanEnd): Promise<undefined> {
  if (environment.readOnly) return undefined
  for (const { file } of files.segments)
    await environment.storage.rename(file, await asideName(environment.storage, file, 0))
  note(
    environment,
    'unfinished_stream',
    `${files.segments[0]?.file}: ${end.tornBytes} bytes of a stream whose making was not finished were put aside`,
  )
  return undefined
}

/** The stream for reading what is intact; its index stays in memory, so that nothing on disk is changed. */
async function withDamage(
  environment: Environment,
  sessionId: string,
  files: LogFiles,
  error: AsrError,
): Promise<StreamCore> {
  const apart: Environment = { ...environment, level: new MemoryLevel(), readOnly: true }
  const log = new RecordLog(environment.storage, STREAMS_FOLDER, files.log, sessionId, files.segments)
  const index = new StreamIndex(apart.level, files.log.incarnation, apart.cache)
  const core = new StreamCore(apart, log, index)
  apart.cache.clear()
  const { damage, end } = await catchUp(log, index, { flush: flushOf(core) })
  log.end = end.point
  if (damage !== undefined) core.damage = corrupt(sessionId, damage)
  else core.damage = error.pos === undefined ? lostTailError(sessionId, error.message, index.length + 1) : error
  return core
}

function lostTailError(sessionId: string, message: string, pos?: number): AsrError {
  return new AsrError('ASR_LOST_TAIL', message, { sessionId, pos })
}

/** Cuts the log at a location; what was behind it is kept in files beside it. */
async function cut(environment: Environment, segments: Segment[], location: number): Promise<void> {
  const { storage } = environment
  for (const segment of [...segments]) {
    if (segment.number < segmentOf(location)) continue
    const keep = segment.number === segmentOf(location) ? offsetOf(location) : 0
    if (keep >= segment.size) continue
    await keepAside(storage, segment, keep)
    if (keep > 0) {
      await storage.truncate(segment.file, keep)
      segment.size = keep
    } else {
      await storage.remove(segment.file)
      segments.splice(segments.indexOf(segment), 1)
    }
  }
}

const COPY_BYTES = 1024 * 1024

async function keepAside(storage: LogStorage, segment: Segment, from: number): Promise<void> {
  const name = await asideName(storage, segment.file, from)
  for (let at = from; at < segment.size; ) {
    const bytes = await storage.read(segment.file, at, Math.min(COPY_BYTES, segment.size - at))
    if (bytes.length === 0) break
    await storage.append(name, bytes)
    at += bytes.length
  }
  await storage.sync(name)
}

async function asideName(storage: LogStorage, file: string, from: number): Promise<string> {
  let name = `${file}.cut-${from}`
  for (let n = 1; (await storage.size(name)) !== undefined; n++) name = `${file}.cut-${from}.${n}`
  return name
}

async function sizes(storage: LogStorage, segments: Segment[]): Promise<Segment[]> {
  const sized: Segment[] = []
  for (const segment of segments) {
    const size = await storage.size(segment.file)
    if (size !== undefined) sized.push({ ...segment, size })
  }
  return sized
}

function note(environment: Environment, code: string, message: string): void {
  environment.notices.push({ code, message, severity: 'note' })
}
