/**
 * Long calls that a signal ends.
 */
import { AsrError } from './error.js'

/** @throws ASR_ABORTED when the signal has come */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AsrError('ASR_ABORTED', 'the call was aborted', { cause: signal.reason })
}
