/**
 * Turns drafts into records for a stream as it is: which id "the third record" or "one that fits" has.
 */
import type { Draft, Ref, Repeat, Through } from './arbitraries.js'
import { has, type Json, type Rec } from './json.js'
import type { ModelAt, ModelStream } from './model.js'
import { idField, isHead, isTombstone, type Row, statedId } from './rows.js'

const pick = <T>(items: readonly T[], n: number): T | undefined => items[items.length === 0 ? 0 : n % items.length]

/** The records of a batch, each seeing those before it, as far as the model would take them. */
export function recordsOf(stream: ModelStream, batch: readonly (Draft | Repeat)[]): Rec[] {
  const trial = stream.copy()
  return batch.map((item) => {
    const record = recordOf(trial, item)
    trial.append([record])
    return record
  })
}

export function recordOf(stream: ModelStream, item: Draft | Repeat): Rec {
  return 'how' in item ? repeated(stream, item) : drafted(stream, item)
}

/** The id that a reference comes to; `self` and `type` are those of the record that holds it. */
export function idOf(stream: ModelStream, ref: Ref, self: string | null = null, type = 'message'): string {
  const nth = (rows: readonly Row[], n: number) => pick(rows, n)?.id ?? 'ghost'
  switch (ref.kind) {
    case 'nth':
      return nth(
        stream.rows.filter((row) => !isHead(row)),
        ref.n,
      )
    case 'last':
      return stream.rows.at(-1)?.id ?? 'ghost'
    case 'nthHead':
      return nth(stream.rows.filter(isHead), ref.n)
    case 'nthOfType':
      return nth(
        stream.rows.filter((row) => row.record.type === type),
        ref.n,
      )
    case 'named':
      return ref.id
    case 'self':
      return self ?? 'ghost'
    case 'ghost':
      return 'ghost'
  }
}

function drafted(stream: ModelStream, draft: Draft): Rec {
  const record: Rec = { type: draft.type }
  if (draft.type === '__proto__') Object.defineProperty(record, '__proto__', entry({ nested: 1 }))
  const lastSeq = stream.rows.at(-1)?.seq ?? 0
  if (draft.seq !== 'absent')
    record.seq = { next: lastSeq + 1, gap: lastSeq + 5, fall: Math.max(lastSeq - 3, 0), same: lastSeq }[draft.seq]
  if (draft.id !== null) record.id = draft.id
  const about = (ref: Ref) => idOf(stream, ref, draft.id, draft.type)
  if (draft.parent.kind === 'root') record.parentId = null
  else if (draft.parent.kind !== 'implied') record.parentId = about(draft.parent)
  if (draft.head !== null) record.head = draft.head
  if (draft.type === 'tombstone') record.targetId = about(draft.target)
  if (draft.type === 'head')
    Object.assign(record, { name: draft.name, recordId: draft.drop ? null : about(draft.target) })
  if (draft.type === 'message' && draft.flags === 'user') record.audience = 'user'
  else if (draft.type === 'message' && draft.flags !== 'none') record.origin = draft.flags
  const name = idField(draft.type)
  if (name !== undefined && draft.entity !== null) record[name] = draft.entity
  if (draft.type === 'compaction') addExtent(stream, record, draft, about)
  addSupersedes(stream, record, draft, about)
  if (draft.payload !== undefined) Object.defineProperty(record, 'payload', entry(draft.payload))
  return record
}

const entry = (value: Json) => ({ value, enumerable: true, writable: true, configurable: true })

function addExtent(stream: ModelStream, record: Rec, draft: Draft, about: (ref: Ref) => string): void {
  if (draft.status !== undefined) record.status = draft.status
  const throughId = throughOf(stream, record, draft.through, about)
  if (throughId === undefined) {
    if (draft.payload !== undefined) record.replaces = draft.payload
  } else record.replaces = { throughId }
}

function throughOf(stream: ModelStream, record: Rec, through: Through, about: (ref: Ref) => string): Json | undefined {
  if (through.kind === 'absent') return undefined
  if (through.kind === 'json') return through.value
  if (through.kind !== 'onPath') return about(through)
  const at: ModelAt = typeof record.parentId === 'string' ? { at: record.parentId } : { head: 'primary' }
  return pick(stream.path(at) ?? [], through.n)?.id ?? 'ghost'
}

/** `fit`: a record that can be revised, with the type and id field that make the new one its revision. */
function addSupersedes(stream: ModelStream, record: Rec, draft: Draft, about: (ref: Ref) => string): void {
  if (draft.supersedes.kind === 'absent') return
  if (draft.supersedes.kind !== 'fit') {
    record.supersedes = about(draft.supersedes)
    return
  }
  const target = pick(
    stream.rows.filter((row) => !isHead(row) && !isTombstone(row) && row.record.type === draft.type),
    draft.supersedes.n,
  )
  if (target === undefined) return
  record.supersedes = target.id
  const name = idField(draft.type)
  const stated = statedId(target.record)
  if (name === undefined) return
  if (stated === undefined) delete record[name]
  else record[name] = stated
}

function repeated(stream: ModelStream, { n, how }: Repeat): Rec {
  const row = pick(stream.rows, n)
  if (row === undefined) return { type: 'state' }
  const record = { ...row.record }
  if (how === 'withoutSeq') delete record.seq
  if (how === 'withoutHead') delete record.head
  if (how === 'otherField') record.added = 1
  if (how === 'otherHead') record.head = has(record, 'head') ? `${record.head}'` : 'primary'
  if (how === 'otherParent') record.parentId = record.parentId === null ? row.id : null
  return record
}

/** Records that append refuses for their kind alone (CORE-4), with the code. */
export const MALFORMED: [string, Record<string, unknown>, string][] = [
  ['no type', {}, 'ASR_BAD_RECORD'],
  ['a type that is a number', { type: 5 }, 'ASR_BAD_RECORD'],
  ['a header', { type: 'header', sessionId: 's' }, 'ASR_BAD_RECORD'],
  ['a negative seq', { type: 'x', seq: -1 }, 'ASR_BAD_RECORD'],
  ['a broken seq', { type: 'x', seq: 1.5 }, 'ASR_BAD_RECORD'],
  ['a seq beyond the safe integers', { type: 'x', seq: 2 ** 53 }, 'ASR_BAD_RECORD'],
  ['a seq as text', { type: 'x', seq: '1' }, 'ASR_BAD_RECORD'],
  ['a null id', { type: 'x', id: null }, 'ASR_BAD_RECORD'],
  ['a parent that is a number', { type: 'x', parentId: 1 }, 'ASR_BAD_RECORD'],
  ['a null supersedes', { type: 'x', supersedes: null }, 'ASR_BAD_RECORD'],
  ['a null head', { type: 'x', head: null }, 'ASR_BAD_RECORD'],
  ['a head record without a target', { type: 'head', name: 'x' }, 'ASR_BAD_RECORD'],
  ['a tombstone without a target', { type: 'tombstone' }, 'ASR_BAD_RECORD'],
  ['a tombstone of null', { type: 'tombstone', targetId: null }, 'ASR_BAD_RECORD'],
  ['an ill-formed id', { type: 'x', id: 'a\ud800' }, 'ASR_BAD_VALUE'],
  ['an undefined field', { type: 'x', a: undefined }, 'ASR_BAD_VALUE'],
  ['a number that is none', { type: 'x', a: [Number.NaN] }, 'ASR_BAD_VALUE'],
  ['a date', { type: 'x', a: new Date(0) }, 'ASR_BAD_VALUE'],
]
