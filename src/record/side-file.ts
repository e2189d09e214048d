/**
 * The names of files beside the streams, as `native.ref` of a record says them: relative to the store (ASR-723).
 */
import { name128 } from '../base/hash.js'

export const SIDE_FOLDER = 'native'

/** The file that goes with a stream, by the 128 bits that name it: it is deleted with the stream. */
export function sideFileOf(name: string): string {
  return `${SIDE_FOLDER}/${name}.jsonl`
}

/** The file that goes with a session's stream. */
export function sideFile(sessionId: string): string {
  return sideFileOf(name128(sessionId))
}
