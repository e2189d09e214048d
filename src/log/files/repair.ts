/**
 * Changes to logs that no append makes: cutting, putting aside, writing again. What is cut off is kept in a file beside.
 */

import { turns } from '../../base/turn.js'
import type { LogStorage } from '../storage/storage.js'
import { offsetOf, type Segment, segmentOf } from './segment.js'

const COPY_BYTES = 1024 * 1024

/** Cuts a log at a location; what was behind it goes to `<file>.cut-<offset>` first. */
export async function cutLog(storage: LogStorage, segments: Segment[], location: number): Promise<void> {
  for (const segment of [...segments].reverse()) {
    if (segment.number < segmentOf(location)) continue
    const keep = segment.number === segmentOf(location) ? offsetOf(location) : 0
    if (keep === 0) {
      await putAside(storage, segment)
      segments.splice(segments.indexOf(segment), 1)
    } else if (keep < segment.size) {
      await copy(storage, segment, keep, await asideName(storage, segment.file, keep))
      await storage.truncate(segment.file, keep)
      segment.size = keep
    }
  }
}

/** Renames a whole segment to a name that is no log's. */
export async function putAside(storage: LogStorage, { file }: Segment): Promise<void> {
  await storage.rename(file, await asideName(storage, file, 0))
}

/**
 * Writes segments again from a location on, from what reads give, so that they can be synced: after a failed sync the system
 * may hold pages as clean that never reached the disk, and a further sync would pass over them. What lies before was synced.
 */
export async function rewriteSegments(storage: LogStorage, segments: readonly Segment[], from: number): Promise<void> {
  for (const segment of segments) {
    if (segment.number < segmentOf(from)) continue
    const offset = segment.number === segmentOf(from) ? offsetOf(from) : 0
    if (storage.rewrite !== undefined) await storage.rewrite(segment.file, offset)
    else await replaceByCopy(storage, segment)
  }
}

async function replaceByCopy(storage: LogStorage, segment: Segment): Promise<void> {
  const fresh = `${segment.file}.new`
  if ((await storage.size(fresh)) !== undefined) await storage.remove(fresh)
  await copy(storage, segment, 0, fresh)
  await storage.rename(fresh, segment.file)
}

/** The segments that are still there, with their sizes as they are. */
export async function sizesNow(storage: LogStorage, segments: readonly Segment[]): Promise<Segment[]> {
  const sized: Segment[] = []
  for (const segment of segments) {
    const size = await storage.size(segment.file)
    if (size !== undefined) sized.push({ ...segment, size })
  }
  return sized
}

/** Copies a segment from an offset on into a new file, and syncs that; leaves none when it fails. */
async function copy(storage: LogStorage, segment: Segment, from: number, to: string): Promise<void> {
  try {
    for (let at = from; at < segment.size; ) {
      const bytes = await storage.read(segment.file, at, Math.min(COPY_BYTES, segment.size - at))
      if (bytes.length === 0) break
      await storage.append(to, bytes)
      at += bytes.length
      turns.spend(bytes.length)
      if (turns.isOver()) await turns.next()
    }
    await storage.sync(to)
  } catch (error) {
    if ((await storage.size(to)) !== undefined) await storage.remove(to)
    throw error
  }
}

async function asideName(storage: LogStorage, file: string, from: number): Promise<string> {
  let name = `${file}.cut-${from}`
  for (let n = 1; (await storage.size(name)) !== undefined; n++) name = `${file}.cut-${from}.${n}`
  return name
}
