/**
 * Whose a log is, read from the log itself: for logs that the index does not know.
 */

import { name128 } from '../../base/hash.js'
import { LOG_START } from '../api.js'
import { type Frame, KIND } from '../format/frame.js'
import type { LogStorage } from '../storage/storage.js'
import { FileLog } from './file-log.js'
import { LogScanner } from './scanner.js'
import { type LogFiles, parseSegmentBody, STREAMS_FOLDER, saltOf } from './segment.js'

/** The session id that the first sound segment or header frame of a log names; undefined when there is none. */
export async function sessionOf(storage: LogStorage, { identity, segments }: LogFiles): Promise<string | undefined> {
  const probe = new FileLog(storage, STREAMS_FOLDER, identity, '', segments)
  const scanner = new LogScanner(storage, segments, saltOf(identity), probe.codec, LOG_START)
  for (let items = await scanner.next(); items !== undefined; items = await scanner.next()) {
    for (const { entry } of items) {
      const sessionId = entry && sessionNamed(probe, entry)
      // The file's name is made of the session's: a frame that was planted there does not count.
      if (sessionId !== undefined && name128(sessionId) === identity.name) return sessionId
    }
  }
  return undefined
}

function sessionNamed(probe: FileLog, frame: Frame): string | undefined {
  if (frame.kind === KIND.segment) return parseSegmentBody(frame.body)?.sessionId
  const sessionId: unknown = frame.kind === KIND.header ? probe.decode(frame).sessionId : undefined
  return typeof sessionId === 'string' ? sessionId : undefined
}
