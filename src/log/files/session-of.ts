/**
 * Whose a log is, read from the log itself: for logs that the index does not know.
 */

import { name128 } from '../../base/hash.js'
import { type Frame, KIND } from '../format/frame.js'
import type { LogStorage } from '../storage/storage.js'
import { RecordLog } from './record-log.js'
import { LOG_START } from './scanner.js'
import type { LogFiles } from './segment.js'
import { parseSegmentBody, STREAMS_FOLDER } from './segment.js'

/** The session id that the first sound segment or header frame of a log names; undefined when there is none. */
export async function sessionOf(storage: LogStorage, { identity, segments }: LogFiles): Promise<string | undefined> {
  const probe = new RecordLog(storage, STREAMS_FOLDER, identity, '', segments)
  const scanner = probe.scan(LOG_START)
  for (let items = await scanner.next(); items !== undefined; items = await scanner.next()) {
    for (const { frame } of items) {
      const sessionId = frame && sessionNamed(probe, frame)
      // The file's name is made of the session's: a frame that was planted there does not count.
      if (sessionId !== undefined && name128(sessionId) === identity.name) return sessionId
    }
  }
  return undefined
}

function sessionNamed(probe: RecordLog, frame: Frame): string | undefined {
  if (frame.kind === KIND.segment) return parseSegmentBody(frame.body)?.sessionId
  const sessionId: unknown = frame.kind === KIND.header ? probe.decode(frame).sessionId : undefined
  return typeof sessionId === 'string' ? sessionId : undefined
}
