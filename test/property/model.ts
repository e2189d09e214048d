/**
 * The naive model of the core, third part: a stream as an array of rows. It shares nothing with the engine; answers are
 * walked from the rows each time. What the engine must hold to is what this says (CORE-1 … CORE-27).
 */
import xxhash from 'xxhash-wasm'
import { canonical, field, has, isObject, type Json, plain, type Rec, same, text } from './json.js'
import {
  cutOf,
  entitiesOn,
  entityId,
  gapsOf,
  headsOf,
  isHead,
  isTombstone,
  pathTo,
  type Row,
  statedId,
  targetOf,
} from './rows.js'
import { type View, viewOf } from './view.js'

const { h64Raw } = await xxhash()

export type Code = string
export interface Fault {
  code: Code
}
export interface ModelReceipt {
  first: number
  last: number
  appended: number
  duplicates: number
}
/** Where a path ends: a head's name or a record's id. */
export type ModelAt = { head: string } | { at: string }

export interface ModelEntity {
  first: Rec
  inForce: Rec | null
  revisions: Rec[]
}

export function isFault(outcome: object): outcome is Fault {
  return 'code' in outcome
}

export class ModelStream {
  rows: Row[] = []
  header: Rec
  headerLine: string | null = null

  constructor(header: Rec, line: string | null = null) {
    this.header = header
    this.headerLine = line
  }

  copy(): ModelStream {
    const copy = new ModelStream(this.header, this.headerLine)
    copy.rows = [...this.rows]
    return copy
  }

  byId(id: string): Row | undefined {
    return this.rows.find((row) => row.id === id)
  }

  /** CORE-4: what a record lacks is appended last, `seq` before `id`. */
  complete(record: Rec): Rec {
    const done = { ...record }
    const before = this.rows.at(-1)
    if (!has(done, 'seq')) done.seq = Math.max(this.rows.length + 1, before === undefined ? 0 : before.seq + 1)
    if (!has(done, 'id')) {
      let id = `r${done.seq}`
      for (let n = 1; this.byId(id) !== undefined; n++) id = `r${done.seq}.${n}`
      done.id = id
    }
    return done
  }

  /** Adds a completed record, its references resolved as import does; says what append would refuse. */
  enter(record: Rec, line: string | null = null, gap = false): { row: Row; faults: Code[] } {
    const faults: Code[] = []
    const row = {
      pos: this.rows.length + 1,
      id: record.id as string,
      seq: record.seq as number,
      record,
      line,
      parent: null,
      missing: null,
      gap: false,
      revises: null,
      kills: null,
      move: null,
    } as unknown as Row
    row.founder = row
    if (record.type !== 'head') faults.push(...this.#hang(row, gap))
    faults.push(...this.#join(row))
    if (record.type === 'head') faults.push(...this.#move(row))
    if (record.type === 'tombstone') {
      const target = this.byId(record.targetId as string)
      if (target === undefined || isHead(target) || isTombstone(target)) faults.push('TARGET_UNKNOWN')
      else row.kills = target.founder
    }
    this.rows.push(row)
    return { row, faults }
  }

  /** CORE-11, CORE-12 */
  #hang(row: Row, gap: boolean): Code[] {
    const wanted = field(row.record, 'parentId')
    if (wanted === undefined) {
      row.parent = targetOf(headsOf(this.rows), text(row.record, 'head') ?? 'primary')
      row.gap = gap
      return []
    }
    if (wanted === null) return []
    const parent = this.byId(wanted as string)
    if (parent !== undefined && !isHead(parent)) {
      row.parent = parent
      return []
    }
    row.missing = wanted as string
    return ['PARENT_UNKNOWN']
  }

  /** CORE-14 */
  #move(row: Row): Code[] {
    const name = text(row.record, 'name')
    const wanted = row.record.recordId as string | null
    if (name === undefined || (wanted === null && name === 'primary')) return ['HEAD_TARGET']
    const target = wanted === null ? null : this.byId(wanted)
    if (target === undefined || (target !== null && isHead(target))) return ['HEAD_TARGET']
    row.move = { name, target }
    return []
  }

  /** CORE-17 */
  #join(row: Row): Code[] {
    const faults: Code[] = []
    const named = field(row.record, 'supersedes')
    if (named !== undefined) {
      const target = this.byId(named as string)
      if (target === undefined) faults.push('SUPERSEDES_UNKNOWN')
      else if (isHead(target) || isTombstone(target) || target.record.type !== row.record.type)
        faults.push('SUPERSEDES_MISMATCH')
      else if ((statedId(row.record) ?? target.founder.id) !== entityId(target.founder))
        faults.push('SUPERSEDES_MISMATCH')
      else {
        row.revises = target
        row.founder = target.founder
      }
    }
    const planId = row.record.type === 'plan' ? text(row.record, 'planId') : undefined
    const firstOfPlan = this.rows.find(
      (other) => planId !== undefined && other.record.type === 'plan' && text(other.record, 'planId') === planId,
    )
    if (firstOfPlan !== undefined) row.founder = firstOfPlan.founder
    return faults
  }

  /** All or none; the first record that can't be taken gives the code. */
  append(batch: readonly Rec[], options: { expected?: number; head?: string } = {}): Fault | ModelReceipt {
    const trial = this.copy()
    const places: number[] = []
    for (const given of batch) {
      const code = wrongKind(given)
      if (code !== null) return { code }
      const unnamed = options.head !== undefined && !has(given, 'head') && given.type !== 'head'
      const record = unnamed ? { ...given, head: options.head as string } : given
      const stored = has(record, 'id') ? trial.byId(record.id as string) : undefined
      if (stored !== undefined) {
        if (!isRetry(record, stored.record)) return { code: 'ASR_ID_CONFLICT' }
        places.push(stored.pos)
        continue
      }
      if (options.expected !== undefined && options.expected !== this.rows.length) return { code: 'ASR_CONFLICT' }
      const { row, faults } = trial.enter(trial.complete(record))
      if (faults.length > 0) return { code: `ASR_${faults[0]}` }
      places.push(row.pos)
    }
    const appended = trial.rows.length - this.rows.length
    this.rows = trial.rows
    const [first, last] = places.length === 0 ? [0, 0] : [Math.min(...places), Math.max(...places)]
    return { first, last, appended, duplicates: batch.length - appended }
  }

  setHead(name: string, recordId: string | null): Fault | ModelReceipt {
    return this.append([{ type: 'head', name, recordId }])
  }

  /** CORE-7: numbers that stood in the header, or came with the patch, keep their digits. */
  putHeader(next: Rec, patch: Rec, source: string): void {
    const digits = new Map([...digitsIn(this.headerLine ?? '')].filter(([key]) => !has(patch, key)))
    for (const [key, literal] of digitsIn(source)) digits.set(key, literal)
    const members = Object.keys(next).map((key) => `${JSON.stringify(key)}:${digits.get(key) ?? plain(next[key])}`)
    this.header = next
    this.headerLine = `{${members.join(',')}}`
  }

  /** CORE-3 */
  reviseHeader(patch: Rec): Fault | Rec {
    const next = revised(this.header, patch)
    if (next === null) return { code: 'ASR_BAD_RECORD' }
    if (canonical(next) !== canonical(this.header)) this.putHeader(next, patch, plain(patch))
    return this.header
  }

  heads(): { name: string; recordId: string; pos: number }[] {
    return [...headsOf(this.rows)].map(([name, row]) => ({ name, recordId: row.id, pos: row.pos }))
  }

  /** CORE-15 */
  leaves(): { recordId: string; pos: number; heads: string[] }[] {
    const parents = new Set(this.rows.map((row) => row.parent))
    const heads = [...headsOf(this.rows)]
    return this.rows
      .filter((row) => !isHead(row) && !parents.has(row))
      .map((row) => ({
        recordId: row.id,
        pos: row.pos,
        heads: heads.filter(([, target]) => target === row).map(([name]) => name),
      }))
  }

  /** CORE-16: the rows of a path; undefined when there is no such head or record. */
  path(at: ModelAt = { head: 'primary' }): Row[] | undefined {
    if ('at' in at) {
      const row = this.byId(at.at)
      return row === undefined || isHead(row) ? undefined : pathTo(row)
    }
    const target = headsOf(this.rows).get(at.head)
    return target === undefined && at.head !== 'primary' ? undefined : pathTo(target ?? null)
  }

  /** Each live entity of a path in force, at its position; without tombstones. */
  resolved(path: readonly Row[]): Row[] {
    return entitiesOn(path)
      .filter((entity) => !entity.dead && !isTombstone(entity.founder))
      .map((entity) => entity.inForce)
  }

  view(path: readonly Row[]): View & { cut: ReturnType<typeof cutOf>; gaps: string[] } {
    return { ...viewOf(path), cut: cutOf(path), gaps: gapsOf(path) }
  }

  /** CORE-20 */
  entity(type: string, id: string, at: ModelAt | 'anywhere' = { head: 'primary' }): ModelEntity[] | undefined {
    const path = at === 'anywhere' ? this.rows.filter((row) => !isHead(row)) : this.path(at)
    if (path === undefined) return undefined
    return entitiesOn(path)
      .filter(({ founder }) => founder.record.type === type && entityId(founder) === id)
      .map(({ revisions, inForce, dead }) => ({
        first: revisions[0].record,
        inForce: dead ? null : inForce.record,
        revisions: revisions.map((row) => row.record),
      }))
  }

  hash(id: string): string | undefined {
    const row = this.byId(id)
    return row === undefined ? undefined : hex(hashOf(row.record))
  }

  /** CORE-9 */
  chain(): bigint {
    return this.rows.reduce((chain, row) => hashPair(chain, hashOf(row.record)), 0n)
  }

  digest(): string {
    return hex(hashPair(hashOf(this.header), this.chain()))
  }

  /** CORE-2, CORE-7 */
  exportText(): string {
    const lines = [this.headerLine ?? plain(this.header), ...this.rows.map((row) => row.line ?? plain(row.record))]
    return lines.map((line) => `${line}\n`).join('')
  }
}

/** CORE-21: equal but for the named fields, where the new record leaves them out. */
export function isRepeat(record: Rec, stored: Rec, forgiven: string[]): boolean {
  const filled = { ...record }
  for (const key of forgiven) if (!has(filled, key) && has(stored, key)) filled[key] = stored[key]
  return canonical(filled) === canonical(stored)
}

/** CORE-21, of append: the default head may be named where none is stored. */
function isRetry(record: Rec, stored: Rec): boolean {
  const { head, ...unnamed } = record
  const isDefault = head === 'primary' && !has(stored, 'head')
  return isRepeat(isDefault ? unnamed : record, stored, ['seq', 'head'])
}

/** CORE-3: the header after a patch; null when the patch touches what can't be changed. */
export function revised(header: Rec, patch: Rec): Rec | null {
  for (const key of ['type', 'asr', 'sessionId']) {
    if (has(patch, key) && !same(patch[key], field(header, key))) return null
  }
  const kept = Object.keys(header).map((key): [string, Json] => [key, has(patch, key) ? patch[key] : header[key]])
  const added = Object.keys(patch)
    .filter((key) => !has(header, key))
    .map((key): [string, Json] => [key, patch[key]])
  const removed = (key: string) => has(patch, key) && patch[key] === null
  return Object.fromEntries([...kept, ...added].filter(([key]) => !removed(key)))
}

/** CORE-4: the common fields' kinds. */
export function wrongKind(record: Json): Code | null {
  if (!isObject(record)) return 'ASR_BAD_RECORD'
  const { seq } = record
  if (typeof record.type !== 'string' || record.type === 'header') return 'ASR_BAD_RECORD'
  if (has(record, 'seq') && !(Number.isSafeInteger(seq) && (seq as number) >= 0)) return 'ASR_BAD_RECORD'
  for (const key of ['id', 'supersedes', 'head']) {
    if (has(record, key) && typeof record[key] !== 'string') return 'ASR_BAD_RECORD'
  }
  const orNull = (key: string) => text(record, key) !== undefined || field(record, key) === null
  if (has(record, 'parentId') && !orNull('parentId')) return 'ASR_BAD_RECORD'
  if (record.type === 'head' && !orNull('recordId')) return 'ASR_BAD_RECORD'
  if (record.type === 'tombstone' && text(record, 'targetId') === undefined) return 'ASR_BAD_RECORD'
  return has(record, 'id') && !isWellFormed(record.id as string) ? 'ASR_BAD_VALUE' : null
}

export function isWellFormed(value: string): boolean {
  return !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value)
}

function hashOf(value: Rec): bigint {
  return h64Raw(new TextEncoder().encode(canonical(value)))
}

function hashPair(a: bigint, b: bigint): bigint {
  const bytes = new DataView(new ArrayBuffer(16))
  bytes.setBigUint64(0, a)
  bytes.setBigUint64(8, b)
  return h64Raw(new Uint8Array(bytes.buffer))
}

function hex(hash: bigint): string {
  return hash.toString(16).padStart(16, '0')
}

/** The numbers of the members of a header that the files dress up. */
function digitsIn(line: string): Map<string, string> {
  return new Map([...line.matchAll(/"(dress|b)": ?(-?\d[-+.0-9eE]*)/g)].map(([, key, literal]) => [key, literal]))
}
