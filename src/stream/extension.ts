/**
 * Many records at once behind a stream, as one append (CORE-21). A few go in one write. More are written apart, as an
 * extension of the log that is taken in whole: nobody sees a part of them, and what is ended on the way was never there.
 */

import { throwIfAborted } from '../base/abort.js'
import { AsrError, isAsrError } from '../base/error.js'
import type { LogPoint } from '../log/api.js'
import type { JudgedEntry } from '../log/log-entry.js'
import type { StoredStream } from './stream.js'

/** What is to come behind a point: its entries, placed, in batches that are written one by one. */
export type Batches = AsyncIterable<JudgedEntry[]>

/**
 * All or nothing; the stream ends at the point, or nothing is written.
 * @throws ASR_CONFLICT when it does not; ASR_ABORTED, ASR_TOO_LARGE; as append
 */
export async function extendLog(
  { core, queue }: StoredStream,
  behind: LogPoint,
  batches: Batches,
  signal: AbortSignal | undefined,
): Promise<void> {
  const iterator = batches[Symbol.asyncIterator]()
  const first = await iterator.next()
  const second = await iterator.next()
  throwIfAborted(signal)
  if (second.done) return queue.appendPlaced(first.value ?? [], behind)
  queue.assertEndsAt(behind)
  const extension = core.log.extension()
  try {
    for (
      let step: IteratorResult<JudgedEntry[]> = first;
      !step.done;
      step = step === first ? second : await iterator.next()
    ) {
      throwIfAborted(signal)
      queue.assertEndsAt(behind)
      if (extension.isFull) throw tooLarge(core.sessionId, extension.bytes)
      await extension.append([step.value])
    }
    throwIfAborted(signal)
    await queue.alone(async () => {
      queue.assertEndsAt(behind)
      await core.extend(extension)
    })
  } catch (error) {
    await extension.remove().catch(() => undefined) // the next opening removes it
    // The stream itself is as it was: nothing is in doubt.
    throw extension.isPoisoned && isAsrError(error, 'ASR_IN_DOUBT') ? error.cause : error
  }
}

function tooLarge(sessionId: string, bytes: number): AsrError {
  const message = `stream ${JSON.stringify(sessionId)}: a file cannot extend it by ${bytes} bytes at once; import its beginning first`
  return new AsrError('ASR_TOO_LARGE', message, { sessionId })
}
