/**
 * What a stream holds, counted in one pass over its records. Memory follows the tool calls and the revised entities,
 * not the records.
 */
import { setImmediate } from 'node:timers/promises'
import type { LongCall, StoredRecord, Stream } from '../main.js'
import { statedEntityId } from '../record/record.js'

export interface TypeCount {
  type: string
  records: number
  /** of the records' JSON text in UTF-8 */
  bytes: number
}

export interface ToolCount {
  /** null: a call without a name, or results whose call is not there */
  name: string | null
  calls: number
  failures: number
}

export interface StreamStats {
  sessionId: string
  records: number
  bytes: number
  types: TypeCount[]
  entities: number
  revisions: number
  heads: number
  /** the records without children */
  branches: number
  compactions: number
  /** calls without a result in the context view of primary */
  openCalls: number
  tools: ToolCount[]
  /** the earliest and the latest `ts` */
  from: string | null
  to: string | null
}

interface EntityState {
  /** id of the chain's first record */
  founder: string
  type: string
  entityId: string
  tool: string | null
  failed: boolean
}

/** Where a record's target is looked up, when a record revises it. */
export type Lookup = Pick<Stream, 'get' | 'position'>

export class StreamCounter {
  #pos = 0
  #entities = 0
  #revisions = 0
  #compactions = 0
  #from = { time: Number.POSITIVE_INFINITY, ts: null as string | null }
  #to = { time: Number.NEGATIVE_INFINITY, ts: null as string | null }
  readonly #lookup: Lookup
  readonly #types = new Map<string, TypeCount>()
  readonly #tools = new Map<string | null, ToolCount>()
  readonly #toolOfCall = new Map<string, string | null>()
  readonly #plans = new Map<string, EntityState>()
  /** by the id of each record that is, or was revised by, a revision */
  readonly #revised = new Map<string, EntityState>()

  constructor(lookup: Lookup) {
    this.#lookup = lookup
  }

  /** Takes the stream's records one after the other, in log order. */
  async add(record: StoredRecord): Promise<void> {
    this.#pos++
    this.#countType(record)
    this.#countTime(record.ts)
    if (record.type === 'head' || record.type === 'tombstone') return
    const entity = await this.#revisedBy(record)
    if (entity) {
      this.#revisions++
      this.#revised.set(record.id, entity)
      this.#recount(entity, record)
    } else this.#found(record)
  }

  counts(): Pick<
    StreamStats,
    'records' | 'bytes' | 'types' | 'entities' | 'revisions' | 'compactions' | 'tools' | 'from' | 'to'
  > {
    const types = [...this.#types.values()].sort((a, b) => b.records - a.records || (a.type < b.type ? -1 : 1))
    return {
      records: this.#pos,
      bytes: types.reduce((sum, { bytes }) => sum + bytes, 0),
      types,
      entities: this.#entities,
      revisions: this.#revisions,
      compactions: this.#compactions,
      tools: [...this.#tools.values()].sort((a, b) => b.calls - a.calls),
      from: this.#from.ts,
      to: this.#to.ts,
    }
  }

  #countType(record: StoredRecord): void {
    let count = this.#types.get(record.type)
    if (!count) {
      count = { type: record.type, records: 0, bytes: 0 }
      this.#types.set(record.type, count)
    }
    count.records++
    count.bytes += Buffer.byteLength(JSON.stringify(record))
  }

  #countTime(ts: unknown): void {
    if (typeof ts !== 'string') return
    const time = Date.parse(ts)
    if (time < this.#from.time) this.#from = { time, ts }
    if (time > this.#to.time) this.#to = { time, ts }
  }

  /** The entity that a record revises (CORE-17), or undefined when it founds one. */
  async #revisedBy(record: StoredRecord): Promise<EntityState | undefined> {
    const plan = record.type === 'plan' ? statedEntityId(record) : undefined
    const ofPlan = plan === undefined ? undefined : this.#plans.get(plan)
    if (ofPlan || typeof record.supersedes !== 'string') return ofPlan
    const entity = await this.#entityOf(record.supersedes)
    if (!entity || entity.type !== record.type) return undefined
    return (statedEntityId(record) ?? entity.founder) === entity.entityId ? entity : undefined
  }

  async #entityOf(id: string): Promise<EntityState | undefined> {
    const known = this.#revised.get(id)
    if (known) return known
    const pos = await this.#lookup.position(id)
    const founder = pos !== undefined && pos < this.#pos ? await this.#lookup.get(id) : undefined
    if (!founder) return undefined
    const entity = this.#stateOf(founder)
    this.#revised.set(id, entity)
    return entity
  }

  #stateOf(founder: StoredRecord): EntityState {
    const { type, id } = founder
    const entityId = statedEntityId(founder) ?? id
    return { founder: id, type, entityId, tool: this.#toolOf(founder), failed: failed(founder) }
  }

  #found(record: StoredRecord): void {
    this.#entities++
    if (record.type === 'compaction') this.#compactions++
    const entity = this.#stateOf(record)
    if (record.type === 'plan' && statedEntityId(record) !== undefined) this.#plans.set(entity.entityId, entity)
    if (record.type === 'tool_call') {
      this.#tool(entity.tool).calls++
      this.#toolOfCall.set(entity.entityId, entity.tool)
    }
    if (entity.failed) this.#tool(entity.tool).failures++
  }

  /** A revision may name the tool anew, or end the call another way. */
  #recount(entity: EntityState, revision: StoredRecord): void {
    if (revision.type === 'tool_call' && typeof revision.name === 'string' && revision.name !== entity.tool) {
      this.#tool(entity.tool).calls--
      entity.tool = revision.name
      this.#tool(entity.tool).calls++
      this.#toolOfCall.set(entity.entityId, entity.tool)
    }
    if (failed(revision) !== entity.failed) {
      entity.failed = !entity.failed
      this.#tool(entity.tool).failures += entity.failed ? 1 : -1
    }
  }

  #toolOf(record: StoredRecord): string | null {
    if (record.type === 'tool_call') return typeof record.name === 'string' ? record.name : null
    if (record.type !== 'tool_result' || typeof record.callId !== 'string') return null
    return this.#toolOfCall.get(record.callId) ?? null
  }

  #tool(name: string | null): ToolCount {
    let count = this.#tools.get(name)
    if (!count) {
      count = { name, calls: 0, failures: 0 }
      this.#tools.set(name, count)
    }
    return count
  }
}

function failed(record: StoredRecord): boolean {
  return record.type === 'tool_result' && (record.status === 'failed' || record.status === 'denied')
}

const TURN_EVERY = 1_000

export async function statsOf(stream: Stream, { onProgress, signal }: LongCall): Promise<StreamStats> {
  const counter = new StreamCounter(stream)
  let done = 0
  for await (const record of stream.records()) {
    await counter.add(record)
    if (++done % TURN_EVERY !== 0) continue
    onProgress?.({ done, total: stream.length, unit: 'records' })
    await setImmediate()
    signal?.throwIfAborted()
  }
  const [heads, leaves, view] = [await stream.heads(), await stream.leaves(), await stream.contextView()]
  const { records, bytes, types, entities, revisions, compactions, tools, from, to } = counter.counts()
  return {
    sessionId: stream.sessionId,
    records,
    bytes,
    types,
    entities,
    revisions,
    heads: heads.length,
    branches: leaves.length,
    compactions,
    openCalls: view.openCalls.length,
    tools,
    from,
    to,
  }
}
