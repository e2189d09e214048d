/**
 * What a test wrote into a stream, and what it was promised of it.
 */
import type { AsrRecord, StoredRecord } from '../../src/main.js'
import type { Random } from './battery.js'

/** `tried`: no answer, or in doubt. `committed`: has to survive the process. `durable`: has to survive a power cut. */
export type Promised = 'tried' | 'committed' | 'durable'

export interface Append {
  records: AsrRecord[]
  promised: Promised
}

/** A stream's appends in the order in which they were tried. */
export interface Written {
  sessionId: string
  appends: Append[]
}

export function written(sessionId: string, records: readonly AsrRecord[], promised: Promised = 'committed'): Written {
  return { sessionId, appends: records.map((record) => ({ records: [record], promised })) }
}

/** The record as it is stored at a position, when all before it have no `seq` of their own. */
export function asStored(record: AsrRecord, pos: number): StoredRecord {
  const seq = record.seq ?? pos
  const withSeq = Object.hasOwn(record, 'seq') ? record : { ...record, seq }
  return (Object.hasOwn(withSeq, 'id') ? withSeq : { ...withSeq, id: `r${seq}` }) as StoredRecord
}

const WORDS = ['disk', 'page', 'tail', 'frame', 'chain', 'head', 'torn', 'sound']

/** A record that differs from all others: new shapes come up all the time, and each way of keeping a body. */
export function anyRecord(random: Random, mark: string): AsrRecord {
  const words = (): string => Array.from({ length: 1 + random.below(6) }, () => random.pick(WORDS)).join(' ')
  const id = random.chance(0.2) ? {} : { id: mark }
  switch (random.below(8)) {
    case 0:
      return { type: 'tool_call', ...id, callId: `c-${mark}`, name: 'read', input: { path: words() } }
    case 1:
      return { type: 'tool_result', ...id, callId: `c-${mark}`, status: 'completed', output: words() }
    case 2:
      return {
        type: 'state',
        ...id,
        mark,
        [`key-${random.below(12)}`]: { [`inner-${random.below(6)}`]: random.next() },
      }
    case 3:
      return { type: 'message', ...id, role: 'user', mark, content: `half an emoji \ud83d ${words()}` }
    case 4:
      return {
        type: 'org.example/blob',
        ...id,
        mark,
        text: `${words()} `.repeat(1 + random.below(random.chance(0.1) ? 900 : 8)),
      }
    default:
      return { type: 'message', ...id, role: 'assistant', mark, content: [{ type: 'text', text: words() }] }
  }
}

/** Records that are alike and small: so many bytes each, whatever they hold. */
export function evenRecords(count: number, prefix = 'm'): AsrRecord[] {
  return Array.from({ length: count }, (_, i) => {
    const id = `${prefix}${String(i + 1).padStart(5, '0')}`
    return { type: 'message', id, role: 'user', content: [{ type: 'text', text: `text of ${id}` }] }
  })
}
