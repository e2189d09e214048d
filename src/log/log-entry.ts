/**
 * The gate of the log: what reading takes for damage is not written. One judgement serves both, so that the two can't
 * come to differ, and the class has no other way in than through it.
 */

import { AsrError } from '../base/error.js'
import { hashText } from '../base/hash.js'
import { canonicalize } from '../record/canonical.js'
import type { Header, StoredRecord } from '../record/record.js'
import { badField, badHeader } from '../record/validate.js'
import { type Decoded, ENTRY_KIND, FLAG_GAP, FLAG_ORPHAN, type LogEntry, type StoredEntry } from './api.js'

type Place = Pick<StoredEntry, 'pos' | 'parent'>

/** What is wrong with the value of a header's or record's frame in a stream's log, or undefined (CORE-3, CORE-4, CORE-12). */
export function flawOf(
  sessionId: string,
  { kind, pos, parent }: Pick<StoredEntry, 'kind'> & Place,
  value: unknown,
): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is no object'
  const fields = value as { [field: string]: unknown }
  if (kind === ENTRY_KIND.header) {
    return badHeader(fields) ?? (fields.sessionId === sessionId ? undefined : 'the header is of another session')
  }
  if (fields.type === 'header') return 'a record can not be of type "header"'
  if (typeof fields.id !== 'string' || typeof fields.seq !== 'number') return 'a stored record has `seq` and `id`'
  return badField(fields) ?? (parent < pos ? undefined : 'its parent does not come before it')
}

function throwForFlaw(sessionId: string, frame: Parameters<typeof flawOf>[1], value: unknown): void {
  const flaw = flawOf(sessionId, frame, value)
  if (flaw !== undefined) throw new AsrError('ASR_BAD_RECORD', flaw, { sessionId })
}

/** A header or record that the log may hold. */
export class JudgedEntry implements LogEntry {
  private constructor(
    readonly kind: LogEntry['kind'],
    readonly value: Header | StoredRecord,
    readonly plain: boolean,
    readonly text: string | undefined,
    readonly flags: number,
    readonly pos: number,
    readonly parent: number,
    readonly hash: bigint,
    readonly size: number,
  ) {}

  /**
   * A record at its place; `text` is its line, where JSON does not give that back.
   * @throws ASR_BAD_RECORD, ASR_BAD_VALUE, ASR_TOO_DEEP, ASR_TOO_LARGE
   */
  static record(sessionId: string, record: StoredRecord, place: Place & { flags: number }, text?: string): JudgedEntry {
    return JudgedEntry.judged(sessionId, ENTRY_KIND.record, record, place, text)
  }

  /** A header, or its revision, behind the record at a position. @throws as `record` */
  static header(sessionId: string, header: Header, pos: number, text?: string): JudgedEntry {
    return JudgedEntry.judged(sessionId, ENTRY_KIND.header, header, { pos, parent: 0, flags: 0 }, text)
  }

  /** A record that another log of the session holds at the same place; what its frame says of it is believed. @throws ASR_BAD_RECORD */
  static framed(sessionId: string, frame: StoredEntry, value: Decoded, text?: string): JudgedEntry {
    throwForFlaw(sessionId, frame, value)
    const { pos, parent, hash, bodyBytes } = frame
    const flags = frame.flags & (FLAG_GAP | FLAG_ORPHAN)
    const record = value as unknown as StoredRecord
    return new JudgedEntry(ENTRY_KIND.record, record, true, text, flags, pos, parent, hash, bodyBytes)
  }

  private static judged(
    sessionId: string,
    kind: LogEntry['kind'],
    value: Header | StoredRecord,
    { pos, parent, flags }: Place & { flags: number },
    kept: string | undefined,
  ): JudgedEntry {
    throwForFlaw(sessionId, { kind, pos, parent }, value)
    const { text, plain } = canonicalize(value)
    return new JudgedEntry(kind, value, plain, kept, flags, pos, parent, hashText(text), text.length)
  }
}
