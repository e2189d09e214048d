/**
 * Headers and their revisions (CORE-3).
 */

import { AsrError } from '../base/error.js'
import { canonicalText } from './canonical.js'
import type { Header } from './record.js'
import { badHeader, otherVersion } from './validate.js'

/** A header as it is stored: with what it lacks of `type` and `asr`, in front. @throws ASR_BAD_RECORD, ASR_BAD_VALUE */
export function newHeader(given: Header): Header {
  if (typeof given !== 'object' || given === null) throw new AsrError('ASR_BAD_RECORD', 'a header is an object')
  if (typeof given.sessionId === 'string' && !given.sessionId.isWellFormed()) {
    throw new AsrError('ASR_BAD_VALUE', '`sessionId` holds a lone surrogate')
  }
  const fault = badHeader(given) ?? otherVersion(given)
  if (fault !== undefined) throw new AsrError('ASR_BAD_RECORD', fault)
  const front: Partial<Header> = {}
  if (!Object.hasOwn(given, 'type')) front.type = 'header'
  if (!Object.hasOwn(given, 'asr')) front.asr = '1'
  return { ...front, ...given }
}

/** The header with a patch applied: a key replaces, null removes; undefined when nothing changes. @throws ASR_BAD_RECORD */
export function revisedHeader(current: Header, patch: Record<string, unknown>): Header | undefined {
  const revised: Record<string, unknown> = { ...current }
  for (const [key, value] of Object.entries(patch)) {
    if (isFixed(key) && value !== current[key]) {
      throw new AsrError('ASR_BAD_RECORD', `\`${key}\` of a header can be neither changed nor removed`, {
        sessionId: current.sessionId,
      })
    }
    if (value === null) delete revised[key]
    else if (key === '__proto__')
      Object.defineProperty(revised, key, { value, enumerable: true, writable: true, configurable: true })
    else revised[key] = value
  }
  return canonicalText(revised) === canonicalText(current) ? undefined : (revised as Header)
}

function isFixed(key: string): boolean {
  return key === 'type' || key === 'asr' || key === 'sessionId'
}
