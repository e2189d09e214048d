/**
 * From ids to positions: what the index hints at is confirmed by the records themselves.
 */

import { type Flow, wait } from '../../base/flow.js'
import type { ActivePath } from '../../heads/path.js'
import { DEFAULT_ID } from '../../index/entry.js'
import { entityKey, idKey, tombstoneKey } from '../../index/keys/key-run.js'
import type { RecordName } from '../../index/keys/page-keys.js'
import { pageOf } from '../../index/page.js'
import type { IndexView } from '../../index/reader.js'
import type { RecordLog, StoredEntry } from '../../log/api.js'
import { type StoredRecord, statedEntityId } from '../../record/record.js'

export class Lookup {
  /** by seq, how many of its default ids are taken one behind the other, at least: `r<seq>`, `r<seq>.1` … */
  readonly defaultIdsTaken = new Map<number, number>()

  constructor(
    readonly log: RecordLog,
    readonly index: IndexView,
  ) {}

  *stored(pos: number): Flow<StoredEntry> {
    const page = yield* this.index.page(pageOf(pos))
    return yield* wait(this.log.entry(page.location(pos), pos))
  }

  *record(pos: number): Flow<StoredRecord> {
    return this.log.decode(yield* this.stored(pos)) as unknown as StoredRecord
  }

  *name(pos: number): Flow<RecordName> {
    return this.index.nameOf(pos) ?? nameOf(yield* this.record(pos))
  }

  *id(pos: number): Flow<string> {
    return (yield* this.hasDefaultId(pos)) ? `r${pos}` : (yield* this.name(pos)).id
  }

  private *hasDefaultId(pos: number): Flow<boolean> {
    return ((yield* this.index.page(pageOf(pos))).flags(pos) & DEFAULT_ID) !== 0
  }

  /** Where the record of an id stands, or 0. */
  *find(id: string): Flow<number> {
    return (yield* this.search(id)).pos
  }

  /** The record of an id. */
  *get(id: string): Flow<StoredRecord | undefined> {
    const { pos, record } = yield* this.search(id)
    return pos === 0 ? undefined : (record ?? (yield* this.record(pos)))
  }

  /** Where the record of an id stands, or 0; with the record, where it had to be read for that. */
  private *search(id: string): Flow<{ pos: number; record?: StoredRecord }> {
    const assumed = defaultPosition(id)
    if (assumed > 0 && assumed <= this.index.length && (yield* this.hasDefaultId(assumed))) return { pos: assumed }
    for (const pos of yield* this.index.candidates(idKey(id))) {
      const name = this.index.nameOf(pos)
      const record = name === undefined ? yield* this.record(pos) : undefined
      if ((name ?? record)?.id === id) return { pos, record }
    }
    return { pos: 0 }
  }

  /** The founders of a type's entities that have an id, in log order (CORE-20). */
  *founders(type: string, entityId: string): Flow<number[]> {
    const founders = new Set<number>()
    for (const pos of yield* this.index.candidates(entityKey(type, entityId))) {
      const entry = yield* this.index.entry(pos)
      if (entry.type === type && (yield* this.name(pos)).stated === entityId) founders.add(entry.founder)
    }
    const pos = yield* this.find(entityId)
    if (pos > 0) {
      const entry = yield* this.index.entry(pos)
      if (entry.type === type && entry.founder === pos && (yield* this.name(pos)).stated === undefined)
        founders.add(pos)
    }
    return [...founders].sort((a, b) => a - b)
  }

  /** Whether a tombstone ends an entity: one of a path, or any of the stream. */
  *hasTombstone(founder: number, path?: ActivePath): Flow<boolean> {
    for (const pos of yield* this.index.candidates(tombstoneKey(founder))) {
      const entry = yield* this.index.entry(pos)
      if (entry.type !== 'tombstone' || entry.target !== founder) continue
      if (path === undefined || (yield* path.has(pos))) return true
    }
    return false
  }

  /** An entity's id, by its founder (CORE-20). */
  *entityId(founder: number): Flow<string> {
    const { id, stated } = yield* this.name(founder)
    return stated ?? id
  }
}

export function nameOf(record: StoredRecord): RecordName {
  return { id: record.id, stated: statedEntityId(record) }
}

/** The position whose record has this id without a key, if any: `r<pos>`. */
export function defaultPosition(id: string): number {
  return /^r[1-9][0-9]{0,14}$/.test(id) ? Number(id.slice(1)) : 0
}
