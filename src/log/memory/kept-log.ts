/**
 * What a log in memory consists of: entries in an array, with their values as lines of JSON. An entry's location is 1 + its index;
 * a point has the location of what comes after it.
 */
import { check32 } from '../../base/hash.js'
import { exactJson } from '../../record/exact.js'
import { chainAfter, LOG_START, type LogEntry, type LogIdentity, type LogPoint, type StoredEntry } from '../api.js'

export interface MemoryEntry extends StoredEntry {
  readonly location: number
  /** tells this entry, with all before it, from others that might stand there */
  readonly check: number
  readonly line: string
  /** the line came as text, or no other form keeps the value */
  readonly isText: boolean
}

/** The one log that all who open it share. */
export interface KeptLog {
  readonly identity: LogIdentity
  readonly sessionId: string
  readonly entries: MemoryEntry[]
  /** of all entries */
  bytes: number
  /** where it is in its life; `making` until its first append, `gone` when it was removed */
  stage: 'making' | 'staged' | 'published' | 'aside' | 'retired' | 'gone'
  /** what it becomes with its first append */
  readonly begins: 'staged' | 'published'
}

const encoder = new TextEncoder()

/** The entries of appends as they lie after a point. */
export function entriesAfter(before: LogPoint, appends: readonly LogEntry[][]): MemoryEntry[] {
  const entries: MemoryEntry[] = []
  let point = before
  for (const { kind, value, plain, text, flags, pos, parent, hash } of appends.flat()) {
    const line = text ?? (plain ? JSON.stringify(value) : exactJson(value))
    const bytes = encoder.encode(line)
    const chain = chainAfter(point.chain, { kind, hash })
    const entry = {
      ...{ kind, flags, pos, parent, hash, chain, line, isText: text !== undefined || !plain },
      bodyBytes: bytes.length,
      location: Math.max(point.location, 1),
      check: check32(bytes, BigInt(point.check)),
    }
    entries.push(entry)
    point = pointAfter(entry)
  }
  return entries
}

/** The point after an entry; without one, before all. */
export function pointAfter(entry: MemoryEntry | undefined): LogPoint {
  if (entry === undefined) return LOG_START
  const { location, pos, chain, check } = entry
  return { location: location + 1, last: location, pos, chain, check }
}

/** Whether the entry that a point says it stands after is there. */
export function bears(entries: readonly MemoryEntry[], { location, last, check }: LogPoint): boolean {
  return location === 0 || (location === last + 1 && entries[last - 1]?.check === check)
}

/** The location after so many entries. */
export function locationAfter(entries: number): number {
  return entries === 0 ? 0 : entries + 1
}

/** How many entries lie before a location. */
export function entriesBefore(location: number): number {
  return Math.max(location - 1, 0)
}

/** Leaves so many entries of a log; those that were cut off. */
export function shorten(kept: KeptLog, entries: number): MemoryEntry[] {
  const cut = kept.entries.splice(entries)
  kept.bytes -= bytesOf(cut)
  return cut
}

export function bytesOf(entries: readonly MemoryEntry[]): number {
  return entries.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0)
}
