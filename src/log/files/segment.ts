/**
 * Where a log's bytes lie: segment files, their names, and locations over all of them.
 */
import type { FoundLog, LogIdentity } from '../api.js'
import type { LogStorage, StoredFile } from '../storage/storage.js'

export const LOG_FORMAT = 1
export const STREAMS_FOLDER = 'streams'
/** Logs in the making, and logs on their way out: nothing there counts, and the next open removes it. */
export const STAGING_FOLDER = 'staging'
export const TRASH_FOLDER = 'trash'
/** A segment is closed when it has reached this size; the last append may carry it beyond. */
export const SEGMENT_BYTES = 64 * 1024 * 1024

/** A location is a segment's number times this, plus an offset. */
const SEGMENT_SPAN = 2 ** 32

export interface Segment {
  number: number
  file: string
  size: number
}

/** What is there of a log. */
export class LogFiles implements FoundLog {
  constructor(
    readonly identity: LogIdentity,
    readonly segments: Segment[],
  ) {}

  get bytes(): number {
    return this.segments.reduce((sum, { size }) => sum + size, 0)
  }

  get storedEnd(): number {
    return endOf(this.segments)
  }
}

/** The body of a segment frame. */
export interface SegmentBody {
  format: number
  sessionId: string
  incarnation: string
  segment: number
}

export function segmentFile(folder: string, log: LogIdentity, segment: number): string {
  return `${folder}/${log.name}-${log.incarnation}-${String(segment).padStart(6, '0')}.log`
}

/** What a segment frame says; undefined when that is no segment's, whatever its checks say. */
export function parseSegmentBody(body: Uint8Array): SegmentBody | undefined {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as Partial<SegmentBody> | null
    const isSound = typeof value?.format === 'number' && typeof value.sessionId === 'string'
    return isSound ? (value as SegmentBody) : undefined
  } catch {
    return undefined
  }
}

/** The inverse of `segmentFile`; undefined for other files. */
export function parseSegmentFile(file: string): { log: LogIdentity; segment: number } | undefined {
  const match = /^(?:.*\/)?([0-9a-f]{32})-([0-9a-f]{16})-([0-9]{6,})\.log$/.exec(file)
  if (match === null) return undefined
  return { log: { name: match[1], incarnation: match[2] }, segment: Number(match[3]) }
}

/** Seeds the head checks of one log, so that a frame planted in a body, or left by another log, does not pass. */
export function saltOf(log: LogIdentity): bigint {
  return BigInt(`0x${log.incarnation.slice(8)}`)
}

export function locate(segment: number, offset: number): number {
  return segment * SEGMENT_SPAN + offset
}

export function segmentOf(location: number): number {
  return Math.floor(location / SEGMENT_SPAN)
}

export function offsetOf(location: number): number {
  return location % SEGMENT_SPAN
}

/** The location behind the last byte there is. */
export function endOf(segments: readonly Segment[]): number {
  const last = segments[segments.length - 1]
  return last === undefined ? 0 : locate(last.number, last.size)
}

/** Segments as they are now; those of a log grow. */
export function copyOf(segments: readonly Segment[]): Segment[] {
  return segments.map((segment) => ({ ...segment }))
}

/** Whether two looks at the files of a log found the same. */
export function areSame(one: readonly Segment[], other: readonly Segment[]): boolean {
  return (
    one.length === other.length && one.every(({ file, size }, i) => file === other[i].file && size === other[i].size)
  )
}

/** Whether no segment between others, nor the first, is missing. */
export function areDense(segments: readonly Segment[]): boolean {
  return segments.every(({ number }, i) => number === i)
}

/** The logs of a folder with their segments in order. */
export async function listLogs(storage: LogStorage, folder: string, prefix?: string): Promise<LogFiles[]> {
  return groupLogs(await storage.list(folder, prefix))
}

/** Whether a log was deleted since its segments were seen, or is just being deleted. */
export async function isDeleted(
  storage: LogStorage,
  { incarnation }: LogIdentity,
  seen: readonly Segment[],
): Promise<boolean> {
  const going = await listLogs(storage, TRASH_FOLDER)
  if (going.some(({ identity }) => identity.incarnation === incarnation)) return true
  return (await storage.size(seen[0].file)) === undefined
}

/** The logs that some files make up; other files count for nothing. */
export function groupLogs(files: readonly StoredFile[]): LogFiles[] {
  const logs = new Map<string, LogFiles>()
  for (const { name, size } of files) {
    const parsed = parseSegmentFile(name)
    if (parsed === undefined) continue
    const key = `${parsed.log.name}-${parsed.log.incarnation}`
    let entry = logs.get(key)
    if (entry === undefined) {
      entry = new LogFiles(parsed.log, [])
      logs.set(key, entry)
    }
    entry.segments.push({ number: parsed.segment, file: name, size })
  }
  for (const { segments } of logs.values()) segments.sort((a, b) => a.number - b.number)
  return [...logs.values()]
}
