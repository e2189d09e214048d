/**
 * Logs made without a store, and their frames one by one.
 */

import { hashText, name128 } from '../../src/base/hash.js'
import { LOG_START, type LogEntry, type ScanEnd, type ScanItem } from '../../src/log/api.js'
import { FileLog } from '../../src/log/files/file-log.js'
import { listLogs, SEGMENT_BYTES, type Segment, saltOf } from '../../src/log/files/segment.js'
import { FRAME_HEAD_BYTES, type Frame, KIND, readFrame } from '../../src/log/format/frame.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import type { LogStorage } from '../../src/log/storage/storage.js'
import { canonicalize } from '../../src/record/canonical.js'

export const FOLDER = 'streams'
export const INCARNATION = '0011223344556677'

type Value = { [field: string]: unknown }

export function recordEntry(value: Value, pos: number, more: Partial<LogEntry> = {}): LogEntry {
  const { text, plain } = canonicalize(value)
  const size = text.length
  return { kind: KIND.record, value, plain, flags: 0, pos, parent: pos - 1, hash: hashText(text), size, ...more }
}

export function headerEntry(sessionId: string, pos = 0, more: Value = {}): LogEntry {
  const value = { type: 'header', asr: '1', sessionId, ...more }
  return recordEntry(value, pos, { kind: KIND.header, parent: 0 })
}

export async function emptyLog(sessionId = 's', storage: LogStorage = new MemoryStorage()): Promise<FileLog> {
  const identity = { name: name128(sessionId), incarnation: INCARNATION }
  return new FileLog(storage, FOLDER, identity, sessionId, [])
}

export interface HandmadeLog {
  storage: MemoryStorage
  log: FileLog
}

/** A log with its header, and each of these appends. */
export async function logOf(...appends: Value[][]): Promise<HandmadeLog> {
  const storage = new MemoryStorage()
  const log = await emptyLog('s', storage)
  await log.append([[headerEntry('s')]])
  let pos = 0
  for (const values of appends) await log.append([values.map((value) => recordEntry(value, ++pos))])
  return { storage, log }
}

/** The same log as somebody finds it who opens it; `end` is not known yet. */
export async function found(storage: LogStorage, sessionId = 's'): Promise<FileLog> {
  const [{ identity, segments }] = await listLogs(storage, FOLDER)
  return new FileLog(storage, FOLDER, identity, sessionId, segments)
}

export interface Scanned {
  items: ScanItem[]
  end: ScanEnd
}

export async function scanAll(log: FileLog, from = LOG_START): Promise<Scanned> {
  const scanner = log.scan(from)
  const items: ScanItem[] = []
  for (let block = await scanner.next(); block !== undefined; block = await scanner.next()) items.push(...block)
  return { items, end: scanner.end() }
}

/** What a scan gives, in few words: `3` a record, `h` a header, `!3-4` lost positions, `!` damage without any. */
export function brief(items: readonly ScanItem[]): string[] {
  const words: string[] = []
  for (const item of items) {
    if (item.entry === undefined) {
      const { firstPos, lastPos } = item
      words.push(lastPos < firstPos ? '!' : `!${firstPos}-${lastPos}`)
    } else if (item.entry.kind === KIND.record) words.push(String(item.entry.pos))
    else if (item.entry.kind === KIND.header) words.push('h')
  }
  return words
}

export interface Placed extends Frame {
  at: number
  size: number
}

/** The frames of one file, which must be sound. */
export function framesOf(bytes: Uint8Array, salt = saltOf({ name: '', incarnation: INCARNATION })): Placed[] {
  const frames: Placed[] = []
  for (let at = 0; at < bytes.length; ) {
    const frame = readFrame(bytes, at, salt)
    if (frame === undefined) throw new Error(`no frame at ${at}`)
    const size = FRAME_HEAD_BYTES + frame.bodyBytes
    frames.push({ ...frame, hash: frame.hash, chain: frame.chain, at, size })
    at += size
  }
  return frames
}

/** What is appended meanwhile goes into a segment of its own, as if the last one had reached its size. */
export async function inNewSegment<T>(log: object, append: () => T | Promise<T>): Promise<T> {
  const { segments } = log as FileLog
  const last = segments[segments.length - 1]
  const { size } = last
  last.size = SEGMENT_BYTES
  try {
    return await append()
  } finally {
    last.size = size
  }
}

export function bytesOfSegment(storage: MemoryStorage, segment: Segment): Uint8Array {
  return storage.read(segment.file, 0, storage.size(segment.file) ?? 0)
}

/** Puts other bytes in a file's place. */
export function replace(storage: MemoryStorage, file: string, bytes: Uint8Array): void {
  storage.truncate(file, 0)
  storage.append(file, bytes)
}

/** A copy with one bit of a byte turned over. */
export function flipped(bytes: Uint8Array, at: number, bit = 0): Uint8Array {
  return bytes.with(at, bytes[at] ^ (1 << bit))
}
