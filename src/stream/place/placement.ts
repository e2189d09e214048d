/**
 * What a record's arrival means for heads, entities and landmarks (CORE-11 … CORE-19). Nothing here reads or writes the
 * log: the same steps place a new record and one that comes back from the log.
 */

import type { KeptCode } from '../../base/error.js'
import type { Flow } from '../../base/flow.js'
import {
  BAD_TARGET,
  COMPLETED,
  DEFAULT_ID,
  type Entry,
  GAP,
  HEAD_RECORD,
  type Landmarks,
  NO_LANDMARKS,
  ORPHAN,
  PARTICIPATES,
  type Run,
} from '../../index/entry.js'
import { entityKey, idKey, revisionKey, tombstoneKey } from '../../index/keys/key-run.js'
import type { RecordName } from '../../index/keys/page-keys.js'
import { PRIMARY, participates, type StoredRecord } from '../../record/record.js'
import { nameOf } from './lookup.js'

/** The stream as it stands right before the record: what is stored, and what the same append has placed. */
export interface Surroundings {
  /** Where the record of an id stands, or 0. */
  find(id: string): Flow<number>
  entry(pos: number): Flow<Entry>
  /** The entry of a record that the same append has placed. */
  placed(pos: number): Entry | undefined
  name(pos: number): Flow<RecordName>
  /** The first plan record that states a plan id, or 0 (CORE-17). */
  firstPlan(planId: string): Flow<number>
  head(name: string): number | undefined
  setHead(name: string, pos: number | undefined): void
}

/** The parent as it is resolved, once. */
export interface Lineage {
  /** 0: a root */
  parent: number
  orphan: boolean
  /** the implied parent was resolved right behind a refused line */
  gap: boolean
}

export interface Fault {
  code: KeptCode
  message: string
}

export interface Placed {
  entry: Entry
  keys: number[]
  name: RecordName
  faults: Fault[]
}

/** The current target of a head, primary's when the head does not exist, 0 for none (CORE-11). */
export function currentTarget(around: Pick<Surroundings, 'head'>, head: string | undefined): number {
  return around.head(head ?? PRIMARY) ?? around.head(PRIMARY) ?? 0
}

/** Places a record at a position; moves heads on the way. */
export function* place(around: Surroundings, record: StoredRecord, pos: number, lineage: Lineage): Flow<Placed> {
  const faults: Fault[] = []
  const name = nameOf(record)
  const isDefaultId = name.id === `r${pos}`
  const keys = isDefaultId ? [] : [idKey(name.id)]
  const { type } = record
  if (type === 'head') {
    yield* superseded(around, record, faults)
    yield* moveHead(around, record, faults)
    const flags = HEAD_RECORD | (isDefaultId ? DEFAULT_ID : 0)
    const run = { start: pos, parent: 0, depth: 0 }
    const entry = { pos, location: 0, type, flags, parent: 0, run, founder: pos, target: 0, landmarks: NO_LANDMARKS }
    return { entry, keys, name, faults }
  }
  const { parent } = lineage
  const isPart = participates(record)
  const founder = isRevision(record)
    ? yield* founderOf(around, record, pos, name, keys, faults)
    : founded(type, pos, name, keys)
  const target = hasTarget(record) ? yield* targetOf(around, record, faults) : 0
  if (type === 'tombstone' && target > 0) keys.push(tombstoneKey(target))
  const before = parent > 0 ? (around.placed(parent) ?? (yield* around.entry(parent))) : undefined
  advanceHeads(around, record, pos, parent, isPart)
  const flags = flagsOf(record, lineage) | (isPart ? PARTICIPATES : 0) | (isDefaultId ? DEFAULT_ID : 0)
  const landmarks = landmarksOf(type, pos, lineage.gap || type === 'gap', founder !== pos, target, before)
  const entry = { pos, location: 0, type, flags, parent, run: runOf(pos, before), founder, target, landmarks }
  return { entry, keys, name, faults }
}

function flagsOf(record: StoredRecord, { orphan, gap }: Lineage): number {
  const isCompleted = record.type === 'compaction' && (record.status === 'completed' || isAbsent(record.status))
  return (isCompleted ? COMPLETED : 0) | (orphan ? ORPHAN : 0) | (gap ? GAP : 0)
}

function* moveHead(around: Surroundings, record: StoredRecord, faults: Fault[]): Flow<void> {
  const { name, recordId } = record
  const fault = (message: string): void => {
    faults.push({ code: 'head_target', message })
  }
  if (typeof name !== 'string') return fault('a head record needs a `name`')
  if (recordId === null) {
    if (name === PRIMARY) return fault('the primary head can not be dropped')
    return around.setHead(name, undefined)
  }
  const target = yield* around.find(recordId)
  const isPath = target > 0 && ((yield* around.entry(target)).flags & HEAD_RECORD) === 0
  if (!isPath)
    return fault(`head ${JSON.stringify(name)}: no earlier record on a path has the id ${JSON.stringify(recordId)}`)
  around.setHead(name, target)
}

function isRevision(record: StoredRecord): boolean {
  return record.supersedes !== undefined || record.type === 'plan'
}

function hasTarget(record: StoredRecord): boolean {
  return record.type === 'tombstone' || record.type === 'compaction'
}

/** A record that founds an entity; adds the key that leads to it. */
function founded(type: string, pos: number, { stated }: RecordName, keys: number[]): number {
  if (stated !== undefined) keys.push(entityKey(type, stated))
  return pos
}

/** The founder of the record's entity; adds the keys that lead to the entity, or from it to the record (CORE-17). */
function* founderOf(
  around: Surroundings,
  record: StoredRecord,
  pos: number,
  name: RecordName,
  keys: number[],
  faults: Fault[],
): Flow<number> {
  const { stated } = name
  let founder = yield* superseded(around, record, faults)
  const isPlan = record.type === 'plan' && stated !== undefined
  const firstPlan = isPlan ? yield* around.firstPlan(stated) : 0
  if (firstPlan > 0) founder = (yield* around.entry(firstPlan)).founder
  if (founder === 0) return founded(record.type, pos, name, keys)
  if (isPlan && firstPlan === 0) founded(record.type, pos, name, keys)
  keys.push(revisionKey(founder))
  return founder
}

/** The founder of the entity that `supersedes` names, or 0 (CORE-17). */
function* superseded(around: Surroundings, record: StoredRecord, faults: Fault[]): Flow<number> {
  const { supersedes } = record
  if (supersedes === undefined) return 0
  const target = yield* around.find(supersedes)
  if (target === 0) {
    faults.push({ code: 'supersedes_unknown', message: `no earlier record has the id ${JSON.stringify(supersedes)}` })
    return 0
  }
  const entry = yield* around.entry(target)
  const revisable = entry.type === record.type && record.type !== 'head' && record.type !== 'tombstone'
  if (revisable && (yield* sameEntityId(around, record, target, entry.founder))) return entry.founder
  faults.push({ code: 'supersedes_mismatch', message: `${JSON.stringify(supersedes)} is of another entity` })
  return 0
}

function* sameEntityId(around: Surroundings, record: StoredRecord, target: number, founder: number): Flow<boolean> {
  const revision = nameOf(record).stated
  const { stated } = yield* around.name(target)
  if (revision === stated) return true
  const founderId = (yield* around.name(founder)).id
  return (revision ?? founderId) === (stated ?? founderId)
}

/** Tombstone: the founder of what it ends (CORE-19). Compaction: T as named (CORE-23). */
function* targetOf(around: Surroundings, record: StoredRecord, faults: Fault[]): Flow<number> {
  if (record.type === 'tombstone') {
    const target = yield* around.find(record.targetId)
    const entry = target > 0 ? yield* around.entry(target) : undefined
    if (entry !== undefined && entry.type !== 'head' && entry.type !== 'tombstone') return entry.founder
    faults.push({
      code: 'target_unknown',
      message: `no earlier record that can be ended has the id ${JSON.stringify(record.targetId)}`,
    })
    return 0
  }
  const { replaces } = record // a compaction
  const throughId: unknown = typeof replaces === 'object' && replaces !== null ? replaces.throughId : undefined
  if (isAbsent(throughId)) return 0
  return (typeof throughId === 'string' && (yield* around.find(throughId))) || BAD_TARGET
}

function advanceHeads(around: Surroundings, record: StoredRecord, pos: number, parent: number, isPart: boolean): void {
  const hasPrimary = around.head(PRIMARY) !== undefined
  if (isPart || parent === currentTarget(around, record.head)) around.setHead(record.head ?? PRIMARY, pos)
  if (!hasPrimary) around.setHead(PRIMARY, pos)
}

function runOf(pos: number, parent: Entry | undefined): Run {
  if (parent === undefined) return { start: pos, parent: 0, depth: 1 }
  if (parent.pos === pos - 1) return parent.run
  return { start: pos, parent: parent.pos, depth: parent.run.depth + (parent.pos - parent.run.start) + 1 }
}

/** The parent's landmarks, the very same object where the record changes none. */
function landmarksOf(
  type: string,
  pos: number,
  gap: boolean,
  isRevision: boolean,
  target: number,
  parent: Entry | undefined,
): Landmarks {
  const before = parent?.landmarks ?? { ...NO_LANDMARKS, root: pos }
  const isTombstone = type === 'tombstone' && target > 0
  if (!gap && !isTombstone && !isRevision && type !== 'compaction' && type !== 'session_info') return before
  const { root, compaction, tombstone, revision, gap: lastGap, info } = before
  return {
    root,
    compaction: type === 'compaction' ? pos : compaction,
    tombstone: isTombstone ? pos : tombstone,
    revision: isRevision ? pos : revision,
    gap: gap ? pos : lastGap,
    info: type === 'session_info' ? pos : info,
  }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}
