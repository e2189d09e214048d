/**
 * What a log is judged by: what the scan of it found, and what its index's root row has seen of it. Every opening, a
 * reader's look at what is new, a rebuild of the index and `verify` judge here, so that they say the same.
 */

import { AsrError } from '../../base/error.js'
import { counted } from '../../base/words.js'
import type { Reach, Root } from '../../index/root.js'
import type { FoundLog, RecordLog } from '../../log/api.js'
import { type CaughtUp, corrupt } from '../place/catch-up.js'
import type { Environment } from './environment.js'

export interface Witness extends Reach {
  /** from this location on a power cut may have taken what was promised to nobody */
  lossFrom: number
}

/** Nothing is known of the log but what it says itself. */
export const NO_WITNESS: Witness = { location: 0, pos: 0, lossFrom: Number.POSITIVE_INFINITY }

export function witnessOf(environment: Environment, root: Root | undefined): Witness {
  if (root === undefined) return { ...NO_WITNESS, lossFrom: environment.powerCut ? 0 : Number.POSITIVE_INFINITY }
  return { ...root.reach, lossFrom: isOtherBoot(environment, root) ? root.durable : Number.POSITIVE_INFINITY }
}

/** What a process wrote outlives it; only another running of the machine can have lost what was not synced. */
function isOtherBoot(environment: Environment, root: Root): boolean {
  return environment.boot === '' || environment.boot !== root.boot
}

/** Why an index can't be believed for a log, in words; undefined when what it has seen is still what the log says there. */
export async function whyDoubted(environment: Environment, found: FoundLog, root: Root): Promise<string | undefined> {
  const { point } = root.state
  if (isOtherBoot(environment, root) && root.durable < point.location)
    return 'it has seen more of the log than is known to have outlived the machine'
  return environment.place.doubtOf(found, point)
}

export function farther(one: Reach, other: Reach): Reach {
  const { location, pos } = one.location > other.location ? one : other
  return { location, pos }
}

export interface Fault {
  /** the stream ends soundly at this location */
  at: number
  /** the last lost position, as far as is known; infinite when it is not, and less than the first bad one when there is none */
  lastPos: number
  error: AsrError
}

/** What is wrong with a log that was scanned to its end, or to its first damage (CORE-10); undefined when nothing is. */
export function faultOf(log: RecordLog, { damage, end }: CaughtUp, witness: Witness): Fault | undefined {
  const { sessionId } = log
  if (damage !== undefined) return { at: damage.at, lastPos: damage.lastPos, error: corrupt(log, damage) }
  const { location, pos } = end.point
  const isShort = location < witness.location
  if (isShort && log.storedEnd < witness.location) {
    const place = log.whereIs(location)
    const message = `stream ${JSON.stringify(sessionId)}: the log had ${counted(witness.pos, 'record')} and now ends behind ${pos}, ${place}`
    const error = new AsrError('ASR_LOST_TAIL', message, { sessionId, pos: pos + 1 })
    return { at: location, lastPos: witness.pos, error }
  }
  // No dying process, and no writer at work, leaves such bytes: what was there has been changed.
  const isChanged = end.tornBytes > 0 && !end.isBeginning && location < witness.lossFrom
  if (!isShort && !isChanged) return undefined
  const lastPos = isShort ? witness.pos : Number.POSITIVE_INFINITY
  const error = corrupt(log, { at: location, to: location, firstPos: pos + 1, lastPos })
  return { at: location, lastPos, error }
}
