/**
 * Opens a stream: the index as far as it is sound, the rest from the log; tells a torn tail, a lost tail and damage apart.
 */

import { counted } from '../../base/words.js'
import { MemoryIndex } from '../../index/memory-index.js'
import type { Root } from '../../index/root.js'
import { rootOf } from '../../index/root-row.js'
import { clearBelowRoot, IndexDamaged } from '../../index/rows.js'
import { StreamIndex } from '../../index/stream-index.js'
import { asItIs, ENTRY_KIND, type FoundLog, type RecordLog, type ScanEnd } from '../../log/api.js'
import { JudgedEntry } from '../../log/log-entry.js'
import { type Environment, note, noteBrokenLevel } from '../core/environment.js'
import { StreamCore } from '../core/stream-core.js'
import { type Fault, faultOf, NO_WITNESS, whyDoubted, witnessOf } from '../core/witness.js'
import { type CatchUpOptions, type CaughtUp, catchUp, corrupt } from '../place/catch-up.js'

/**
 * The stream of a log; undefined when its making was never finished, so that there is none.
 * A stream with damage, or with a lost tail, opens too: it says so at every question that depends on what is lost.
 * With `acceptLoss` the log is read whole: the index may cover what is damaged, and is not asked.
 */
export async function openLog(
  environment: Environment,
  sessionId: string,
  files: FoundLog,
): Promise<StreamCore | undefined> {
  const found = asItIs(files)
  const core = await open(environment, sessionId, files, false)
  if (core !== undefined && (core.damage !== undefined || core.isFrozen)) core.judged = found
  return core
}

/** Whether what a stream was opened from is still what is there; of a damaged one, just as much of it. */
export function isAsFound({ log, judged }: StreamCore, found: FoundLog | undefined): boolean {
  if (found?.identity.incarnation !== log.identity.incarnation) return false
  return judged === undefined || (judged.bytes === found.bytes && judged.storedEnd === found.storedEnd)
}

/** `isForgiven`: what the log once held does not count any more, since it ends earlier with good reason. */
async function open(
  environment: Environment,
  sessionId: string,
  files: FoundLog,
  isForgiven: boolean,
): Promise<StreamCore | undefined> {
  const log = environment.place.open(files, sessionId, { isOfAnother: environment.readOnly })
  const known = await rootOf(environment.level, files.identity)
  const root = known?.sessionId === sessionId ? known : undefined
  const index = environment.acceptLoss ? undefined : await openIndex(environment, log, files, root)
  const core = new StreamCore(environment, log, index ?? (await emptyIndex(environment, log)))
  core.witness = isForgiven ? NO_WITNESS : witnessOf(environment, root)
  if (root !== undefined) core.durable = Math.min(root.durable, files.storedEnd)
  if (root !== undefined && index !== undefined) core.persistedAs(root)
  const caughtUp = await catchUpWithAny(core, {
    flush: () => core.flush(),
    onScar: (damage) =>
      note(environment, 'frame_damaged', `${corrupt(log, damage).message}; no record is lost with it`),
  })
  return settle(core, caughtUp, isForgiven)
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
  return new StreamIndex(new MemoryIndex(), identity.incarnation, environment.cache)
}

/** The index, when what it has seen of the log is still what the log says there. */
async function openIndex(
  environment: Environment,
  log: RecordLog,
  files: FoundLog,
  root: Root | undefined,
): Promise<StreamIndex | undefined> {
  const { incarnation } = log.identity
  try {
    const opened = await StreamIndex.open(environment.level, incarnation, environment.cache)
    if (opened === undefined || root === undefined) return undefined
    const doubt = await whyDoubted(environment, files, root)
    if (doubt !== undefined) throw new IndexDamaged(doubt)
    log.adoptState(opened.logState)
    return opened.index
  } catch (error) {
    if (!(error instanceof IndexDamaged)) throw error
    noteRebuilt(environment, log.sessionId, error.message)
    return undefined
  }
}

/** An index to build anew: in level, or in memory when level can't even be cleared. */
async function emptyIndex(environment: Environment, log: RecordLog): Promise<StreamIndex> {
  const { identity, sessionId } = log
  const { level, cache, mayWriteLevel } = environment
  if (!mayWriteLevel) return memoryIndex(environment, log)
  try {
    await clearBelowRoot(level, identity.incarnation)
    return new StreamIndex(level, identity.incarnation, cache)
  } catch (error) {
    noteBrokenLevel(environment, error, sessionId)
    return memoryIndex(environment, log)
  }
}

function noteRebuilt(environment: Environment, sessionId: string, why: string): void {
  note(environment, 'index_rebuilt', `stream ${JSON.stringify(sessionId)}: the index was built again: ${why}`)
}

async function settle(core: StreamCore, caughtUp: CaughtUp, wasForgiven: boolean): Promise<StreamCore | undefined> {
  const { environment, log, sessionId } = core
  const { end } = caughtUp
  if (faultOf(log, caughtUp, core.witness) !== undefined) await hearNow(core)
  const fault = faultOf(log, caughtUp, core.witness)
  if (fault !== undefined) {
    const isUnpromised = fault.at >= core.witness.lossFrom
    // A reader can't give a stream the header that it lost.
    const canEnd = !environment.readOnly || core.index.state.header.location > 0
    if (!canEnd || !(environment.acceptLoss || isUnpromised)) return withDamage(core)
    await noteLoss(core, fault, isUnpromised)
    // What was taken in may hold the beginning of an append that the damage is in; or a reader has to look no further.
    if (caughtUp.damage !== undefined || (environment.readOnly && end.tornBytes > 0))
      return open(environment, sessionId, await environment.place.endAt(log, fault.at, environment.readOnly), true)
    core.witness = NO_WITNESS
  }
  const isForgiven = wasForgiven || fault !== undefined
  await log.dropEmpty(end.point.location, environment.readOnly)
  log.end = end.point
  const hasHeader = core.index.state.header.location > 0
  if (environment.readOnly) {
    core.isFrozen = wasForgiven
    return hasHeader ? core : undefined
  }
  if (!hasHeader && core.length === 0 && !(isForgiven && environment.acceptLoss))
    return unfinished(environment, log, end)
  if (end.tornBytes > 0) {
    await log.cut(end.point.location)
    const message = `stream ${JSON.stringify(sessionId)}: an unfinished append of ${counted(end.tornBytes, 'byte')} was cut off and kept aside`
    if (!isForgiven) note(environment, 'torn_tail', message)
  }
  if (!hasHeader) await replaceHeader(core)
  if (environment.durability === 'disk') await secure(core)
  else log.distrustSyncs(core.durable)
  if (isForgiven) await core.flush() // else the next opening would miss again what is given up
  return core
}

/** A loss that was accepted since a reader got its copy of the index is one to it, too. */
async function hearNow(core: StreamCore): Promise<void> {
  const { environment, log } = core
  const now = await environment.withIndexNow?.((level) => rootOf(level, log.identity))
  if (now?.sessionId !== core.sessionId || now.reach.location >= core.witness.location) return
  core.witness = witnessOf(environment, now)
}

/** Tells what it costs that a stream ends before its first fault. */
async function noteLoss({ environment, log }: StreamCore, { at, error }: Fault, isUnpromised: boolean): Promise<void> {
  if (isUnpromised) return note(environment, 'lost_suffix', `${error.message}; the stream now ends before that`)
  let behind = 0
  for await (const found of log.leftEntries()) if (found.entry.kind === ENTRY_KIND.record && found.at >= at) behind++
  if (behind === 0) return note(environment, 'loss_accepted', `${error.message}; the stream now ends before that`)
  const sound = `${counted(behind, 'sound record')} behind it`
  const cost = environment.readOnly
    ? `the stream is shown as ending before that, without ${sound}; \`asr export --salvage\` gives them`
    : `the stream now ends before that, and ${sound} went to a file beside the log; \`asr export --salvage\` before accepting keeps them`
  note(environment, 'loss_accepted', `${error.message}; ${cost}`)
}

/** Under `'disk'` what is there counts as acknowledged, so it has to be on the disk, also where a sync failed before. */
async function secure(core: StreamCore): Promise<void> {
  const { log, environment } = core
  if (core.durable >= log.end.location) return
  await environment.place.rewrite(log, core.durable)
  log.distrustSyncs(core.durable)
  await core.sync()
}

/** The header was lost with a damaged frame, and the loss accepted: the least a header says. */
async function replaceHeader(core: StreamCore): Promise<void> {
  const { sessionId } = core
  const entry = JudgedEntry.header(sessionId, { type: 'header', asr: '1', sessionId }, core.length)
  const [location] = await core.write([[entry]])
  core.index.state = { ...core.index.state, point: core.log.end, header: { location, hash: entry.hash, agent: null } }
}

/** A log without its header: the stream was never there. */
async function unfinished(environment: Environment, files: FoundLog, end: ScanEnd): Promise<undefined> {
  const message = `${await environment.place.putAside(files)}: a stream whose making was not finished was put aside, ${counted(end.tornBytes, 'byte')}`
  note(environment, 'unfinished_stream', message)
  return undefined
}

/** The stream for reading what is intact; its index stays in memory, so that nothing on disk is changed. */
async function withDamage({ environment, log: found, witness }: StreamCore): Promise<StreamCore> {
  const apart: Environment = { ...environment, level: new MemoryIndex(), mayWriteLevel: true, readOnly: true }
  const log = found.apart()
  const core = new StreamCore(apart, log, new StreamIndex(apart.level, log.identity.incarnation, apart.cache))
  core.witness = witness
  apart.cache.clear()
  const caughtUp = await catchUp(log, core.index, { flush: () => core.flush() })
  log.end = caughtUp.end.point
  core.damage = faultOf(log, caughtUp, witness)?.error
  return core
}
