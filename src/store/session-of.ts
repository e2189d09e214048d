/**
 * Whose a log is, read from the log itself: for logs that the index does not know.
 */
import { KIND } from '../log/frame.js'
import { RecordLog } from '../log/record-log.js'
import { LOG_START } from '../log/scanner.js'
import { STREAMS_FOLDER } from '../log/segment.js'
import type { LogStorage } from '../log/storage.js'
import type { LogFiles } from './recovery.js'

/** The session id that the first sound segment or header frame of a log names; undefined when there is none. */
export async function sessionOf(storage: LogStorage, { log, segments }: LogFiles): Promise<string | undefined> {
  const probe = new RecordLog(storage, STREAMS_FOLDER, log, '', segments)
  const scanner = probe.scan(LOG_START)
  for (let items = await scanner.next(); items !== undefined; items = await scanner.next()) {
    for (const { frame } of items) {
      if (frame === undefined) continue
      if (frame.kind === KIND.segment)
        return (JSON.parse(new TextDecoder().decode(frame.body)) as { sessionId: string }).sessionId
      if (frame.kind === KIND.header) return probe.decode(frame).sessionId as string
    }
  }
  return undefined
}
