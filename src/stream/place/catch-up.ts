/**
 * Takes what the log says into an index: the lag at open, the whole log at a rebuild.
 */

import { throwIfAborted } from '../../base/abort.js'
import { AsrError, isAsrError } from '../../base/error.js'
import { type Flow, runFlow, wait } from '../../base/flow.js'
import { turns } from '../../base/turn.js'
import type { StreamIndex } from '../../index/stream-index.js'
import type { RecordLog } from '../../log/files/record-log.js'
import { type Damage, pointBehind, type ScanEnd, type ScanItem } from '../../log/files/scanner.js'
import { LOG_FORMAT, offsetOf, parseSegmentBody, segmentOf } from '../../log/files/segment.js'
import type { Decoded } from '../../log/format/codec.js'
import { FLAG_GAP, FLAG_ORPHAN, type Frame, KIND } from '../../log/format/frame.js'
import { flawOf } from '../../log/log-entry.js'
import type { Header, StoredRecord } from '../../record/record.js'
import { Lookup } from './lookup.js'
import type { Lineage, Placed } from './placement.js'
import { Staging } from './staging.js'

/** So many records are taken in before the index is written: what waits for it lies in memory. */
const WAITING_RECORDS_MAX = 4_096

export interface CaughtUp {
  /** the first damaged spot that may have cost something; nothing behind it is taken in */
  damage?: Damage
  end: ScanEnd
}

export interface CatchUpOptions {
  /** called for a damaged spot that cost nothing but what is said again elsewhere */
  onScar?: (damage: Damage) => void
  /** called whenever many more are in */
  flush?: () => Promise<void>
  /** sees each record once it is placed */
  onRecord?: (record: StoredRecord, frame: Frame, placed: Pick<Placed, 'entry' | 'faults'>) => void
  onBlock?: (pos: number) => void
  signal?: AbortSignal
}

/** Scans the log from where the index ends. */
export async function catchUp(log: RecordLog, index: StreamIndex, options: CatchUpOptions = {}): Promise<CaughtUp> {
  const scanner = log.scan(index.state.point)
  for (let items = await scanner.next(); items !== undefined; items = await scanner.next()) {
    throwIfAborted(options.signal)
    const damage = await runFlow(takeBlock(log, index, items, scanner.end(), options))
    if (damage !== undefined) return { damage, end: scanner.end() }
    options.onBlock?.(index.length)
    if (options.flush === undefined || index.length - index.persisted.length < WAITING_RECORDS_MAX) continue
    await turns.next() // what is written is put together in one go
    await options.flush()
  }
  return { end: scanner.end() }
}

function* takeBlock(
  log: RecordLog,
  index: StreamIndex,
  items: ScanItem[],
  end: ScanEnd,
  options: CatchUpOptions,
): Flow<Damage | undefined> {
  yield* index.prepare()
  const staging = new Staging(new Lookup(log, index))
  const locations: number[] = []
  let damage: Damage | undefined
  let { header } = index.state
  let point = index.state.point
  for (const item of items) {
    if (turns.isOver()) yield turns.next()
    if (item.frame === undefined) {
      if (costsNothing(item)) {
        options.onScar?.(item)
        continue
      }
      damage = item
      break
    }
    const { frame, at } = item
    if (frame.kind === KIND.segment && !isSegmentOf(log, frame)) {
      damage = { at, to: at, firstPos: frame.pos + 1, lastPos: Number.POSITIVE_INFINITY }
      break
    }
    if (frame.kind === KIND.record || frame.kind === KIND.header) {
      if (!log.codec.knows(frame.shapes)) yield* wait(log.learnShapes(frame, at))
      const value = soundValue(log, frame)
      if (value === undefined) {
        damage = { at, to: at, firstPos: frame.pos, lastPos: frame.pos }
        break
      }
      if (frame.kind === KIND.header) header = { location: at, hash: frame.hash, agent: agentOf(value) }
      else {
        const record = value as unknown as StoredRecord
        const placed = yield* staging.add(record, frame.pos, lineageOf(frame))
        locations.push(at)
        options.onRecord?.(record, frame, placed)
      }
    }
    point = pointBehind(frame, at)
  }
  staging.publish(index, locations, damage === undefined ? end.point : point)
  index.state = { ...index.state, header }
  return damage
}

/** Whether a damaged frame said only what other frames say again. */
function costsNothing({ kind, firstPos, lastPos }: Damage): boolean {
  return lastPos < firstPos && (kind === KIND.dictionary || kind === KIND.segment)
}

/** Whether a segment is of this log. @throws ASR_FORMAT when it was written by a newer version */
function isSegmentOf({ sessionId, identity }: RecordLog, frame: Frame): boolean {
  const body = parseSegmentBody(frame.body)
  if (body !== undefined && body.format > LOG_FORMAT) {
    const message = `stream ${JSON.stringify(sessionId)}: its log has format ${body.format}, not ${LOG_FORMAT}`
    throw new AsrError('ASR_FORMAT', message, { sessionId })
  }
  return body?.sessionId === sessionId && body.incarnation === identity.incarnation
}

/** The value of a record's or header's frame; undefined when its body is not that of one. */
export function soundValue(log: RecordLog, frame: Frame): Decoded | undefined {
  const value = decoded(log, frame)
  return value !== undefined && flawOf(log.sessionId, frame, value) === undefined ? value : undefined
}

export function lineageOf({ parent, flags }: Pick<Frame, 'parent' | 'flags'>): Lineage {
  return { parent, orphan: (flags & FLAG_ORPHAN) !== 0, gap: (flags & FLAG_GAP) !== 0 }
}

function decoded(log: RecordLog, frame: Frame): Decoded | undefined {
  try {
    return log.decode(frame)
  } catch (error) {
    if (isAsrError(error, 'ASR_CORRUPT')) return undefined
    throw error
  }
}

/** The error for a damaged spot (CORE-10). */
export function corrupt(sessionId: string, damage: Damage): AsrError {
  const place = `at byte ${offsetOf(damage.at)} of segment ${segmentOf(damage.at)}`
  const message = `stream ${JSON.stringify(sessionId)}: the log is damaged ${positions(damage)}, ${place}`
  return new AsrError('ASR_CORRUPT', message, { sessionId, pos: damage.firstPos })
}

function positions({ firstPos, lastPos }: Damage): string {
  if (lastPos < firstPos) return `before position ${firstPos}`
  if (lastPos === firstPos) return `at position ${firstPos}`
  return Number.isFinite(lastPos) ? `from position ${firstPos} to ${lastPos}` : `from position ${firstPos} on`
}

export function agentOf(header: Decoded | Header): { name: string; version: string } | null {
  const agent = header.agent as { name?: unknown; version?: unknown } | undefined
  if (typeof agent?.name !== 'string') return null
  return { name: agent.name, version: typeof agent.version === 'string' ? agent.version : '' }
}
