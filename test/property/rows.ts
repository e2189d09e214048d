/**
 * The naive model of the core, first part: a row of the log, and what follows from the rows by walking them.
 */
import { field, type Rec, text } from './json.js'

/** A record as the log holds it, with what was settled when it entered. */
export interface Row {
  pos: number
  id: string
  seq: number
  record: Rec
  /** the line it came as, when only the line says it exactly (CORE-7) */
  line: string | null
  /** null: a root, an orphan or a head record (CORE-11) */
  parent: Row | null
  /** the parent an orphan asked for (CORE-12) */
  missing: string | null
  /** implied parent right behind a refused line (CORE-12) */
  gap: boolean
  /** the record that it is a revision of (CORE-17) */
  revises: Row | null
  /** the first record of its chain; itself when it founds an entity (CORE-17) */
  founder: Row
  /** a tombstone's victim (CORE-19) */
  kills: Row | null
  /** a head record's move (CORE-14) */
  move: { name: string; target: Row | null } | null
}

export function isHead(row: Row): boolean {
  return row.record.type === 'head'
}

export function isTombstone(row: Row): boolean {
  return row.record.type === 'tombstone'
}

/** CORE-22 */
export function participates(record: Rec): boolean {
  if (record.type === 'message') return field(record, 'origin') !== 'notice' && field(record, 'audience') !== 'user'
  return ['tool_call', 'tool_result', 'compaction', 'instructions'].includes(String(record.type))
}

const ID_FIELDS = new Map([
  ['message', 'messageId'],
  ['tool_call', 'callId'],
  ['tool_result', 'callId'],
  ['permission', 'requestId'],
  ['input_request', 'requestId'],
  ['plan', 'planId'],
  ['terminal', 'terminalId'],
  ['compaction', 'compactionId'],
  ['subagent', 'childSession'],
])

export function idField(type: string): string | undefined {
  return ID_FIELDS.get(type)
}

/** CORE-20: the entity id that the record itself states. */
export function statedId(record: Rec): string | undefined {
  const name = idField(String(record.type))
  return name === undefined ? undefined : text(record, name)
}

/** CORE-20 */
export function entityId(founder: Row): string {
  return statedId(founder.record) ?? founder.id
}

/** CORE-11, CORE-13, CORE-14: heads by walking the log from its beginning. */
export function headsOf(rows: readonly Row[]): Map<string, Row> {
  const heads = new Map<string, Row>()
  for (const row of rows) {
    if (isHead(row)) {
      if (row.move === null) continue
      if (row.move.target === null) heads.delete(row.move.name)
      else heads.set(row.move.name, row.move.target)
      continue
    }
    const name = text(row.record, 'head') ?? 'primary'
    const target = targetOf(heads, name)
    const first = !heads.has('primary')
    if (participates(row.record) || row.parent === target) heads.set(name, row)
    if (first) heads.set('primary', row)
  }
  return heads
}

/** CORE-11: the current target of a head, there or not. */
export function targetOf(heads: Map<string, Row>, name: string): Row | null {
  return heads.get(name) ?? heads.get('primary') ?? null
}

/** CORE-16: root … target. */
export function pathTo(target: Row | null): Row[] {
  const path: Row[] = []
  for (let row = target; row !== null; row = row.parent) path.push(row)
  return path.reverse()
}

export interface OnPath {
  founder: Row
  /** the place of its first record on the path */
  place: number
  revisions: Row[]
  inForce: Row
  dead: boolean
}

/** CORE-18, CORE-19: the entities of a path, by position. */
export function entitiesOn(path: readonly Row[]): OnPath[] {
  const killed = new Set(path.map((row) => row.kills))
  const found = new Map<Row, OnPath>()
  path.forEach((row, place) => {
    const known = found.get(row.founder)
    if (known === undefined) {
      const dead = killed.has(row.founder)
      found.set(row.founder, { founder: row.founder, place, revisions: [row], inForce: row, dead })
    } else {
      known.revisions.push(row)
      known.inForce = row
    }
  })
  return [...found.values()]
}

/** CORE-12 */
export function cutOf(path: readonly Row[]): { recordId: string; missingParentId: string } | null {
  const root = path[0]
  if (root === undefined || root.missing === null) return null
  return { recordId: root.id, missingParentId: root.missing }
}

/** CORE-12 */
export function gapsOf(path: readonly Row[]): string[] {
  return path.filter((row) => row.gap || row.record.type === 'gap').map((row) => row.id)
}

/** CORE-18: whether some path holds two revisions of one record. */
export function revisedTwice(rows: readonly Row[]): boolean {
  return rows.some((row) => {
    const path = row.revises === null ? [] : pathTo(row.parent)
    return path.some((other) => other.revises === row.revises)
  })
}
