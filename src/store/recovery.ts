/**
 * Opens a stream: the index as far as it is sound, the rest from the log; tells a torn tail, a lost tail and damage apart.
 */

import { MemoryLevel } from 'memory-level'
import type { Root } from '../index/root.js'
import { clearLog, IndexDamaged } from '../index/rows.js'
import { StreamIndex } from '../index/stream-index.js'
import { RecordLog } from '../log/record-log.js'
import type { ScanEnd } from '../log/scanner.js'
import { type LogIdentity, locate, offsetOf, type Segment, STREAMS_FOLDER, segmentOf } from '../log/segment.js'
import { AsrError } from '../record/error.js'
import { counted } from '../record/words.js'
import { headerEntry } from './append-queue.js'
import { type CatchUpOptions, type CaughtUp, catchUp, corrupt } from './catch-up.js'
import { cutLog, putAside, rewriteSegments, sizesNow } from './cut.js'
import { type Environment, note, noteBrokenLevel } from './environment.js'
import { StreamCore } from './stream-core.js'

export interface LogFiles {
  log: LogIdentity
  segments: Segment[]
}

type OpenedIndex = NonNullable<Awaited<ReturnType<typeof StreamIndex.open>>>

/**
 * The stream of a log; undefined when its making was never finished, so that there is none.
 * A stream with damage, or with a lost tail, opens too: it says so at every question that depends on what is lost.
 */
export async function openLog(
  environment: Environment,
  sessionId: string,
  files: LogFiles,
): Promise<StreamCore | undefined> {
  const log = new RecordLog(environment.storage, STREAMS_FOLDER, files.log, sessionId, files.segments)
  const hole = files.segments.findIndex(({ number }, i) => number !== i)
  const opened = hole === -1 ? await openIndex(environment, files.log, sessionId) : undefined
  const lost = opened && lostTail(environment, log, opened.root)
  if (lost?.isFatal && !environment.acceptLoss) return withDamage(environment, sessionId, files, lost.error)
  if (lost !== undefined) note(environment, 'lost_suffix', lost.error.message)
  const index = lost === undefined ? await sound(environment, log, opened) : undefined
  const core = new StreamCore(environment, log, index ?? (await emptyIndex(environment, log)))
  if (opened !== undefined) {
    core.durable = Math.min(opened.root.durable, endOf(files.segments))
    if (index !== undefined) core.persistedAs(opened.root)
  }
  const caughtUp = await catchUpWithAny(core, {
    flush: () => core.flush(),
    goOn: environment.acceptLoss,
    onScar: (damage) =>
      note(environment, 'frame_damaged', `${corrupt(sessionId, damage).message}; no record is lost with it`),
  })
  return settle(core, files, caughtUp, lossFrom(environment, opened?.root))
}

/** Catches up with the index that is there; when that shows damage, with one built anew, and at last with one in memory. */
async function catchUpWithAny(core: StreamCore, options: CatchUpOptions): Promise<CaughtUp> {
  const { environment, log } = core
  const others = [() => emptyIndex(environment, log), () => memoryIndex(environment, log)]
  for (;;) {
    try {
      return await catchUp(log, core.index, options)
    } catch (error) {
      const next = others.shift()
      if (!(error instanceof IndexDamaged) || next === undefined) throw error
      noteRebuilt(environment, log.sessionId, error.message)
      environment.cache.clear()
      core.useIndex(await next())
    }
  }
}

function memoryIndex(environment: Environment, { identity }: RecordLog): StreamIndex {
  return new StreamIndex(new MemoryLevel(), identity.incarnation, environment.cache)
}

async function openIndex(
  environment: Environment,
  log: LogIdentity,
  sessionId: string,
): Promise<OpenedIndex | undefined> {
  try {
    const opened = await StreamIndex.open(environment.level, log.incarnation, environment.cache)
    return opened?.root.sessionId === sessionId ? opened : undefined
  } catch (error) {
    if (!(error instanceof IndexDamaged)) throw error
    noteRebuilt(environment, sessionId, error.message)
    return undefined
  }
}

/** The index, when what it has seen of the log is still what the log says there. */
async function sound(
  environment: Environment,
  log: RecordLog,
  opened: OpenedIndex | undefined,
): Promise<StreamIndex | undefined> {
  if (opened === undefined) return undefined
  const { root, index, dictionary } = opened
  const { point } = root.state
  if (isOtherBoot(environment, root) && root.durable < point.location) {
    noteRebuilt(environment, log.sessionId, 'it has seen more of the log than is known to have outlived the machine')
    return undefined
  }
  if (!(await log.bears(point))) {
    noteRebuilt(environment, log.sessionId, 'it is not of what the log holds now')
    return undefined
  }
  log.codec.dictionary.adopt(dictionary)
  return index
}

/** An index to build anew: in level, or in memory when level can't even be cleared. */
async function emptyIndex(environment: Environment, log: RecordLog): Promise<StreamIndex> {
  const { identity, sessionId } = log
  const { level, cache, mayWriteLevel } = environment
  if (!mayWriteLevel) return memoryIndex(environment, log)
  try {
    await clearLog(level, identity.incarnation)
    return new StreamIndex(level, identity.incarnation, cache)
  } catch (error) {
    noteBrokenLevel(environment, error, sessionId)
    return memoryIndex(environment, log)
  }
}

function noteRebuilt(environment: Environment, sessionId: string, why: string): void {
  note(environment, 'index_rebuilt', `stream ${JSON.stringify(sessionId)}: the index was built again: ${why}`)
}

/** What a process wrote outlives it; only another running of the machine can have lost what was not synced. */
function isOtherBoot(environment: Environment, root: Root): boolean {
  return environment.boot === '' || environment.boot !== root.boot
}

/** From here on a power cut may have taken what was promised to nobody. */
function lossFrom(environment: Environment, root: Root | undefined): number {
  if (root === undefined) return environment.powerCut ? 0 : Number.POSITIVE_INFINITY
  return isOtherBoot(environment, root) ? root.durable : Number.POSITIVE_INFINITY
}

/** Whether the log ends before what its index has seen of it (CORE-10). */
function lostTail(
  environment: Environment,
  log: RecordLog,
  root: Root,
): { isFatal: boolean; error: AsrError } | undefined {
  const end = endOf(log.segments)
  const { location, pos } = root.state.point
  if (end >= location) return undefined
  const vouched = isOtherBoot(environment, root) ? root.durable : location
  const place = `at byte ${offsetOf(end)} of segment ${segmentOf(end)}`
  const { sessionId } = log
  const message = `stream ${JSON.stringify(sessionId)}: the log had ${counted(pos, 'record')} and now ends before that, ${place}`
  return { isFatal: end < vouched, error: new AsrError('ASR_LOST_TAIL', message, { sessionId }) }
}

function endOf(segments: readonly Segment[]): number {
  const last = segments[segments.length - 1]
  return last === undefined ? 0 : locate(last.number, last.size)
}

async function settle(
  core: StreamCore,
  files: LogFiles,
  caughtUp: CaughtUp,
  lossFrom: number,
): Promise<StreamCore | undefined> {
  const { environment, log, sessionId } = core
  const { damage, end } = caughtUp
  if (damage !== undefined) {
    const error = corrupt(sessionId, damage)
    const isUnpromised = damage.at >= lossFrom
    if (environment.readOnly || !(environment.acceptLoss || isUnpromised))
      return withDamage(environment, sessionId, files, error)
    await cutLog(environment.storage, files.segments, damage.at)
    note(environment, isUnpromised ? 'lost_suffix' : 'loss_accepted', `${error.message}; the stream now ends before it`)
    return openLog(environment, sessionId, {
      log: files.log,
      segments: await sizesNow(environment.storage, files.segments),
    })
  }
  if (!environment.readOnly && end.tornBytes > 0 && !end.isBeginning && end.point.location < lossFrom) {
    // No dying process leaves such bytes: what was there has been changed.
    const { location, pos } = end.point
    const changed = { at: location, to: location, firstPos: pos + 1, lastPos: pos + 1 }
    return settle(core, files, { damage: changed, end }, lossFrom)
  }
  await dropEmpty(environment, log.segments, end.point.location)
  log.end = end.point
  if (environment.readOnly) return core.index.state.header.location === 0 ? undefined : core
  if (core.index.state.header.location === 0 && core.length === 0) return unfinished(environment, files, end)
  if (end.tornBytes > 0) {
    await cutLog(environment.storage, log.segments, end.point.location)
    note(
      environment,
      'torn_tail',
      `stream ${JSON.stringify(sessionId)}: an unfinished append of ${counted(end.tornBytes, 'byte')} was cut off and kept aside`,
    )
  }
  if (core.index.state.header.location === 0) await replaceHeader(core)
  if (environment.durability === 'disk') await secure(core)
  else log.distrustSyncs(core.durable)
  return core
}

/** Files that a power cut left empty behind the log's end: what is written next belongs to where the log ends, not to them. */
async function dropEmpty({ storage, readOnly }: Environment, segments: Segment[], end: number): Promise<void> {
  for (let last = segments.at(-1); last?.size === 0 && last.number > segmentOf(end); last = segments.at(-1)) {
    if (!readOnly) await storage.remove(last.file)
    segments.pop()
  }
}

/** Under `'disk'` what is there counts as acknowledged, so it has to be on the disk, also where a sync failed before. */
async function secure(core: StreamCore): Promise<void> {
  const { log, environment } = core
  if (core.durable >= log.end.location) return
  await rewriteSegments(environment.storage, log.segments, core.durable)
  log.distrustSyncs(core.durable)
  await core.sync()
}

/** The header was lost with a damaged frame, and the loss accepted: the least a header says. */
async function replaceHeader(core: StreamCore): Promise<void> {
  const entry = headerEntry({ type: 'header', asr: '1', sessionId: core.sessionId }, core.length)
  const [location] = await core.write([[entry]])
  core.index.state = { ...core.index.state, point: core.log.end, header: { location, hash: entry.hash, agent: null } }
}

/** A log without its header: the stream was never there. */
async function unfinished(environment: Environment, files: LogFiles, end: ScanEnd): Promise<undefined> {
  for (const segment of files.segments) await putAside(environment.storage, segment)
  const message = `${files.segments[0]?.file}: a stream whose making was not finished was put aside, ${counted(end.tornBytes, 'byte')}`
  note(environment, 'unfinished_stream', message)
  return undefined
}

/** The stream for reading what is intact; its index stays in memory, so that nothing on disk is changed. */
async function withDamage(
  environment: Environment,
  sessionId: string,
  files: LogFiles,
  error: AsrError,
): Promise<StreamCore> {
  const apart: Environment = { ...environment, level: new MemoryLevel(), mayWriteLevel: true, readOnly: true }
  const log = new RecordLog(environment.storage, STREAMS_FOLDER, files.log, sessionId, files.segments)
  const core = new StreamCore(apart, log, new StreamIndex(apart.level, files.log.incarnation, apart.cache))
  apart.cache.clear()
  const { damage, end } = await catchUp(log, core.index, { flush: () => core.flush() })
  log.end = end.point
  if (damage !== undefined) core.damage = corrupt(sessionId, damage)
  else if (error.code === 'ASR_CORRUPT') core.damage = error
  else core.damage = new AsrError('ASR_LOST_TAIL', error.message, { sessionId, pos: core.length + 1 })
  return core
}
