/**
 * Whose a log is, read from the log itself: for logs that the index does not know.
 */
import { type Frame, KIND } from '../log/frame.js'
import { RecordLog } from '../log/record-log.js'
import { LOG_START } from '../log/scanner.js'
import { parseSegmentBody, STREAMS_FOLDER } from '../log/segment.js'
import type { LogStorage } from '../log/storage.js'
import { name128 } from '../record/hash.js'
import type { LogFiles } from './recovery.js'

/** The session id that the first sound segment or header frame of a log names; undefined when there is none. */
export async function sessionOf(storage: LogStorage, { log, segments }: LogFiles): Promise<string | undefined> {
  const probe = new RecordLog(storage, STREAMS_FOLDER, log, '', segments)
  const scanner = probe.scan(LOG_START)
  for (let items = await scanner.next(); items !== undefined; items = await scanner.next()) {
    for (const { frame } of items) {
      const sessionId = frame && sessionNamed(probe, frame)
      // The file's name is made of the session's: a frame that was planted there does not count.
      if (sessionId !== undefined && name128(sessionId) === log.name) return sessionId
    }
  }
  return undefined
}

function sessionNamed(probe: RecordLog, frame: Frame): string | undefined {
  if (frame.kind === KIND.segment) return parseSegmentBody(frame.body)?.sessionId
  const sessionId: unknown = frame.kind === KIND.header ? probe.decode(frame).sessionId : undefined
  return typeof sessionId === 'string' ? sessionId : undefined
}
