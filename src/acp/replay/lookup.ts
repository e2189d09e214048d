/**
 * Questions to the index about the path that is replayed, for what lies too far apart to be held.
 */
import { type StoredRecord, statedEntityId } from '../../record/record.js'
import type { Entity, Stream } from '../../store/api.js'

/** A call with its results, each with its place on the path. */
export interface PlacedCall {
  call: StoredRecord
  place: number
  results: { record: StoredRecord; place: number }[]
}

export class PathLookup {
  constructor(
    private readonly stream: Stream,
    /** the record where the path ends; undefined for the empty path */
    private readonly end: string | undefined,
  ) {}

  /** The live entities of a type that have an id, in path order. */
  async living(type: string, id: string): Promise<Entity[]> {
    const entities = await this.stream.entity(type, id, { at: this.end })
    return entities.filter(({ inForce }) => inForce !== null)
  }

  /** Where an entity stands: the place of its first record on the path. */
  async place({ first }: Entity): Promise<number> {
    return (await this.stream.position(first.id)) ?? 0
  }

  /** The revision in force of the entity that a record is the first of on the path; undefined when there is none that lives. */
  async foundedBy(record: StoredRecord): Promise<StoredRecord | undefined> {
    const entities = await this.living(record.type, statedEntityId(record) ?? (await this.founderId(record)))
    return entities.find(({ first }) => first.id === record.id)?.inForce ?? undefined
  }

  /** The id of an entity whose records state none: that of its chain's first record (CORE-20). */
  async founderId(record: StoredRecord): Promise<string> {
    let { id, supersedes } = record
    while (typeof supersedes === 'string') {
      const own = await this.stream.entity(record.type, id, { anywhere: true })
      if (own.some(({ first }) => first.id === id)) break
      const before = await this.stream.get(supersedes)
      if (before === undefined) break
      id = before.id
      supersedes = before.supersedes
    }
    return id
  }

  /** The calls of an id with the results that each of them has: all up to the one that closes it (CORE-25). */
  async callsOf(callId: string): Promise<PlacedCall[]> {
    const placed: { record: StoredRecord; place: number }[] = []
    for (const type of ['tool_call', 'tool_result']) {
      for (const entity of await this.living(type, callId)) {
        placed.push({ record: entity.inForce as StoredRecord, place: await this.place(entity) })
      }
    }
    placed.sort((a, b) => a.place - b.place)
    const calls: PlacedCall[] = []
    const open: PlacedCall[] = []
    for (const { record, place } of placed) {
      if (record.type === 'tool_call') {
        const call = { call: record, place, results: [] }
        calls.push(call)
        open.push(call)
      } else {
        open[0]?.results.push({ record, place })
        if (record.status !== 'partial') open.shift()
      }
    }
    return calls
  }

  /** The changes to files between two places that a call caused, in force, in path order. */
  async changesBetween(callId: string, from: number, to: number): Promise<StoredRecord[]> {
    const changes: StoredRecord[] = []
    for await (const record of this.stream.records({ from, to, types: ['file_change'] })) {
      const change = await this.foundedBy(record) // a revision may name another cause
      if (change?.cause?.callId === callId) changes.push(change)
    }
    return changes
  }

  /** The place of the entity that a record in force belongs to. */
  async placeOf(record: StoredRecord): Promise<number> {
    if (record.supersedes !== undefined) {
      const id = statedEntityId(record) ?? (await this.founderId(record))
      for (const entity of await this.living(record.type, id)) {
        if (entity.inForce?.id === record.id) return this.place(entity)
      }
    }
    return (await this.stream.position(record.id)) ?? 0
  }

  /** Whether an extent takes in an entity, and so all that comes before that. */
  async reaches(throughId: string, last: StoredRecord): Promise<boolean> {
    const through = await this.stream.position(throughId)
    return through !== undefined && through >= (await this.placeOf(last))
  }
}
