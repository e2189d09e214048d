/**
 * Logs and entries as the cases of a place need them.
 */
import type { FoundEntry, FoundLog, LogPlace, LogPoint, RecordLog, ScanEnd, ScanItem, StoredEntry } from '../log/api.js'
import { ENTRY_KIND, FLAG_GAP, FLAG_ORPHAN, LOG_START } from '../log/api.js'
import { JudgedEntry } from '../log/log-entry.js'
import { exactJson, parseExact } from '../record/exact.js'
import type { StoredRecord } from '../record/record.js'
import type { PlaceSupports } from './api.js'

export const SESSION = 'conformance/é😀'

/** What a case is given: a place, and what is said of it. */
export interface Given extends PlaceSupports {
  place: LogPlace
  /** the place as another process would open it */
  again(): Promise<LogPlace>
}

export interface PlaceCase {
  name: string
  needs?: keyof PlaceSupports
  run(given: Given): Promise<void>
}

export function headerOf(sessionId = SESSION, fields: object = {}, pos = 0): JudgedEntry {
  return JudgedEntry.header(sessionId, { type: 'header', asr: '1', sessionId, ...fields }, pos)
}

export function recordAt(pos: number, fields: object = {}, { parent = pos - 1, flags = 0 } = {}): JudgedEntry {
  const record = { type: 'message', id: `r${pos}`, seq: pos, ...fields } as StoredRecord
  return JudgedEntry.record(SESSION, record, { pos, parent, flags })
}

/** A record that came as a line. */
export function recordOfLine(pos: number, line: string): JudgedEntry {
  const place = { pos, parent: pos - 1, flags: 0 }
  return JudgedEntry.record(SESSION, parseExact(line) as unknown as StoredRecord, place, line)
}

/** What a log has to say of an entry that it was given. */
export function saidOf({ kind, flags, pos, parent, hash, value, text }: JudgedEntry) {
  return { kind, flags, pos, parent, hash, line: text ?? exactJson(value) }
}

/** What a log says of an entry that it holds; its flags as far as they are the engine's. */
export function saidBy(log: RecordLog, entry: StoredEntry) {
  const { kind, flags, pos, parent, hash } = entry
  return { kind, flags: flags & (FLAG_GAP | FLAG_ORPHAN), pos, parent, hash, line: log.line(entry) }
}

export interface Written {
  log: RecordLog
  entries: JudgedEntry[]
  locations: number[]
}

/** A log with a header and so many records, each an append of its own. */
export async function written(place: LogPlace, records: number, options = { staged: false }): Promise<Written> {
  const log = place.create(SESSION, options)
  const entries = [headerOf()]
  for (let pos = 1; pos <= records; pos++) entries.push(recordAt(pos, { content: `text ${pos}`, deep: { pos } }))
  const locations: number[] = []
  for (const entry of entries) {
    const [location] = await log.append([[entry]])
    locations.push(location)
  }
  return { log, entries, locations }
}

/** The published log of a session that is there. */
export async function foundIn(place: LogPlace, { identity }: Pick<FoundLog, 'identity'>): Promise<FoundLog> {
  const logs = await place.list(identity.name)
  const found = logs.find((log) => log.identity.incarnation === identity.incarnation)
  if (found === undefined) throw new Error(`no log ${identity.name}-${identity.incarnation} is listed`)
  return found
}

/** A log as one who comes later opens it, scanned to its end. */
export async function opened(
  place: LogPlace,
  log: Pick<FoundLog, 'identity'>,
  { isOfAnother = false } = {},
): Promise<RecordLog> {
  const copy = place.open(await foundIn(place, log), SESSION, { isOfAnother })
  copy.end = (await scanned(copy)).end.point
  return copy
}

/** All that a scan gives from a point on; of what is only the log's own, nothing. */
export async function scanned(
  log: RecordLog,
  from: LogPoint = LOG_START,
): Promise<{ found: FoundEntry[]; damaged: ScanItem[]; end: ScanEnd; points: LogPoint[] }> {
  const scan = log.scan(from)
  const found: FoundEntry[] = []
  const damaged: ScanItem[] = []
  const points: LogPoint[] = []
  for (let items = await scan.next(); items !== undefined; items = await scan.next()) {
    for (const item of items) {
      if (item.entry === undefined) damaged.push(item)
      else if (isOurs(item.entry)) {
        found.push(item)
        points.push(scan.pointAfter(item))
      }
    }
  }
  return { found, damaged, end: scan.end(), points }
}

export function isOurs({ kind }: StoredEntry): boolean {
  return kind === ENTRY_KIND.header || kind === ENTRY_KIND.record
}
