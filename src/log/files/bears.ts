/**
 * Whether a log still says what somebody has seen of it: one look at the frame that a point stands behind.
 */
import type { LogIdentity, LogPoint } from '../api.js'
import { bodyHolds, FRAME_HEAD_BYTES, readFrame } from '../format/frame.js'
import type { LogStorage } from '../storage/storage.js'
import { offsetOf, type Segment, saltOf, segmentOf } from './segment.js'

/** Whether the frame that a point says it stands behind is there; where more follows, its body too. */
export async function bears(
  storage: LogStorage,
  { identity, segments }: { identity: LogIdentity; segments: readonly Segment[] },
  point: LogPoint,
): Promise<boolean> {
  if (point.location === 0) return true
  const segment = segments.find(({ number }) => number === segmentOf(point.last))
  if (segment === undefined) return false
  const isAtEnd = segment === segments[segments.length - 1] && offsetOf(point.location) === segment.size
  const length = isAtEnd ? FRAME_HEAD_BYTES : point.location - point.last
  const frame = readFrame(await storage.read(segment.file, offsetOf(point.last), length), 0, saltOf(identity))
  if (frame === undefined || frame.check !== point.check) return false
  return point.last + FRAME_HEAD_BYTES + frame.bodyBytes === point.location && (isAtEnd || bodyHolds(frame))
}
