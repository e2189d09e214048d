/**
 * Takes what the log says into an index: the lag at open, the whole log at a rebuild.
 */

import { throwIfAborted } from '../../base/abort.js'
import { AsrError, isAsrError } from '../../base/error.js'
import { type Flow, runFlow, wait } from '../../base/flow.js'
import { turns } from '../../base/turn.js'
import type { StreamIndex } from '../../index/stream-index.js'
import {
  type Damage,
  type Decoded,
  ENTRY_KIND,
  FLAG_GAP,
  FLAG_ORPHAN,
  type LogScan,
  type RecordLog,
  type ScanEnd,
  type ScanItem,
  type StoredEntry,
} from '../../log/api.js'
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
  onRecord?: (record: StoredRecord, frame: StoredEntry, placed: Pick<Placed, 'entry' | 'faults'>) => void
  onBlock?: (pos: number) => void
  signal?: AbortSignal
}

/** Scans the log from where the index ends. */
export async function catchUp(log: RecordLog, index: StreamIndex, options: CatchUpOptions = {}): Promise<CaughtUp> {
  const scanner = log.scan(index.state.point)
  for (let items = await scanner.next(); items !== undefined; items = await scanner.next()) {
    throwIfAborted(options.signal)
    const damage = await runFlow(takeBlock(log, index, items, scanner, options))
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
  scan: LogScan,
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
    if (item.entry === undefined) {
      if (item.isScar) {
        options.onScar?.(item)
        continue
      }
      damage = item
      break
    }
    const { entry: frame, at } = item
    if (frame.kind === ENTRY_KIND.record || frame.kind === ENTRY_KIND.header) {
      const explained = log.explain(frame, at)
      if (explained !== undefined) yield* wait(explained)
      const value = soundValue(log, frame)
      if (value === undefined) {
        damage = { at, to: at, firstPos: frame.pos, lastPos: frame.pos }
        break
      }
      if (frame.kind === ENTRY_KIND.header) header = { location: at, hash: frame.hash, agent: agentOf(value) }
      else {
        const record = value as unknown as StoredRecord
        const placed = yield* staging.add(record, frame.pos, lineageOf(frame))
        locations.push(at)
        options.onRecord?.(record, frame, placed)
      }
    }
    point = scan.pointAfter(item)
  }
  staging.publish(index, locations, damage === undefined ? scan.end().point : point)
  index.state = { ...index.state, header }
  return damage
}

/** The value of a record's or header's frame; undefined when its body is not that of one. */
export function soundValue(log: RecordLog, frame: StoredEntry): Decoded | undefined {
  const value = decoded(log, frame)
  return value !== undefined && flawOf(log.sessionId, frame, value) === undefined ? value : undefined
}

export function lineageOf({ parent, flags }: Pick<StoredEntry, 'parent' | 'flags'>): Lineage {
  return { parent, orphan: (flags & FLAG_ORPHAN) !== 0, gap: (flags & FLAG_GAP) !== 0 }
}

function decoded(log: RecordLog, frame: StoredEntry): Decoded | undefined {
  try {
    return log.decode(frame)
  } catch (error) {
    if (isAsrError(error, 'ASR_CORRUPT')) return undefined
    throw error
  }
}

/** The error for a damaged spot (CORE-10). */
export function corrupt(log: RecordLog, damage: Damage): AsrError {
  const { sessionId } = log
  const message = `stream ${JSON.stringify(sessionId)}: the log is damaged ${positions(damage)}, ${log.whereIs(damage.at)}`
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
