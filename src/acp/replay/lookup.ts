/**
 * Questions to the index about the path that is replayed, for what lies too far apart to be held.
 */
import { type StoredRecord, statedEntityId } from '../../record/record.js'
import type { Entity, Stream } from '../../stream/api.js'

/** A call with its results, in force, each with its id and its place on the path. */
export interface PlacedCall {
  id: string
  place: number
  results: { id: string; place: number }[]
}

/** The calls of an id in path order, and by the id of the record in force. */
interface PlacedCalls {
  all: PlacedCall[]
  byId: Map<string, PlacedCall>
}

/** So many calls, and founders, are remembered: who uses an id again and again is asked about it again and again. */
export const HELD_MAX = 50_000

export class PathLookup {
  private readonly calls = new Map<string, PlacedCalls>()
  private callsHeld = 0
  /** ids of chains' first records, by those of their revisions */
  private readonly founders = new Map<string, string>()

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
    const passed: string[] = []
    while (typeof supersedes === 'string') {
      const known = this.founders.get(id)
      if (known !== undefined) {
        id = known
        break
      }
      passed.push(id)
      const own = await this.stream.entity(record.type, id, { anywhere: true })
      if (own.some(({ first }) => first.id === id)) break
      const before = await this.stream.get(supersedes)
      if (before === undefined) break
      id = before.id
      supersedes = before.supersedes
    }
    if (this.founders.size > HELD_MAX) this.founders.clear()
    for (const one of passed) this.founders.set(one, id)
    return id
  }

  /** The calls of an id with the results that each of them has: all up to the one that closes it (CORE-25). */
  async callsOf(callId: string): Promise<PlacedCalls> {
    const held = this.calls.get(callId)
    if (held !== undefined) return held
    const found = await this.findCalls(callId)
    this.callsHeld += found.all.length
    if (this.callsHeld > HELD_MAX) {
      this.calls.clear()
      this.callsHeld = found.all.length
    }
    this.calls.set(callId, found)
    return found
  }

  /** A record that `callsOf` found. */
  async record(id: string): Promise<StoredRecord> {
    return (await this.stream.get(id)) as StoredRecord
  }

  private async findCalls(callId: string): Promise<PlacedCalls> {
    const placed: { id: string; isCall: boolean; isPartial: boolean; place: number }[] = []
    for (const type of ['tool_call', 'tool_result']) {
      for (const entity of await this.living(type, callId)) {
        const { id, status } = entity.inForce as StoredRecord
        const isCall = type === 'tool_call'
        placed.push({ id, isCall, isPartial: status === 'partial', place: await this.place(entity) })
      }
    }
    placed.sort((a, b) => a.place - b.place)
    const all: PlacedCall[] = []
    let open = 0 // the calls before it are closed
    for (const { id, isCall, isPartial, place } of placed) {
      if (isCall) all.push({ id, place, results: [] })
      else if (open < all.length) {
        all[open].results.push({ id, place })
        if (!isPartial) open++
      }
    }
    return { all, byId: new Map(all.map((call) => [call.id, call])) }
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
