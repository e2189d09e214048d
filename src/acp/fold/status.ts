/**
 * The statuses of calls and compactions.
 */
import { patchedText } from './patch.js'

const FINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled'])

/** Nothing is said to come any more (ASR-705). */
export function isFinalStatus(status: unknown): boolean {
  return FINAL.has(status)
}

/** Whether a status would take a final one back: only another final one may come behind it. */
export function isUndone(current: unknown, value: unknown): boolean {
  return isFinalStatus(current) && !isFinalStatus(value)
}

/** The status as an update leaves it: a final one stays, whatever comes late, until there is another, or null clears it (ASR-704). */
export function patchedStatus(current: string | undefined, value: unknown): string | undefined {
  return value !== null && isUndone(current, value) ? current : patchedText(current, value)
}
