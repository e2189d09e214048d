/**
 * Assigned fields in a line that is kept as text (CORE-4, CORE-7).
 */
import type { AsrRecord, StoredRecord } from './record.js'

/** The line with the fields that the store assigned written before its last brace. */
export function appendAssigned(text: string, given: AsrRecord, stored: StoredRecord): string {
  let fields = ''
  if (!Object.hasOwn(given, 'seq')) fields += `,"seq":${stored.seq}`
  if (!Object.hasOwn(given, 'id')) fields += `,"id":${JSON.stringify(stored.id)}`
  const brace = text.lastIndexOf('}')
  return text.slice(0, brace) + fields + text.slice(brace)
}
