/**
 * Lists of records, for the commands that print one record a line.
 */
import type { StoredRecord } from '../main.js'
import type { Output, Shown } from './output.js'
import { recordLine } from './record-line.js'
import { outputWidth } from './style.js'

/** Records with a number in front, which is as wide as `largest`. */
export function numberedRecords(largest: number): Shown<{ number: number; record: StoredRecord }> {
  const line = { numberColumns: String(largest).length, columns: outputWidth() }
  return {
    json: ({ record }) => record,
    text: ({ number, record }) => [recordLine(record, { ...line, number })],
  }
}

/** Records of a path, with their seq in front. */
export async function listBySeq(out: Output, records: AsyncIterable<StoredRecord>, length: number): Promise<void> {
  const shown = numberedRecords(length)
  await out.list(records, { text: (record) => shown.text({ number: record.seq, record }) })
}
