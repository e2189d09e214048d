/**
 * A damaged stream as JSONL: what is intact, and a `gap` record wherever something is missing, so that the file does not
 * hide its holes (CORE-10). An import gives each record the parent it had, or the gap that stands in that one's place.
 */

import { turns } from '../../base/turn.js'
import { idKey } from '../../index/keys/key-run.js'
import { ENTRY_KIND, LOG_START, type RecordLog, type ScanEnd } from '../../log/api.js'
import { PRIMARY, participates, type StoredRecord } from '../../record/record.js'
import type { StreamCore } from '../core/stream-core.js'
import { faultOf } from '../core/witness.js'
import { soundValue } from '../place/catch-up.js'
import { currentTarget } from '../place/placement.js'

/** Where a sound record lies, and the position of its parent. */
interface Place {
  at: number
  parent: number
}

/** What later records tell of a lost one that is their parent. */
interface Known {
  id?: string
  /** the head that it was the target of */
  head?: string
}

/** The last sound header, else one made of what is known; then each sound record once, by position, and the gaps. */
export async function* salvagedLines(core: StreamCore): AsyncGenerator<string> {
  const log = core.log.apart()
  const places = new Map<number, Place>()
  let header: string | undefined
  await log.learnAll()
  for await (const { entry: frame, at } of log.leftEntries()) {
    if (frame.kind !== ENTRY_KIND.header && frame.kind !== ENTRY_KIND.record) continue
    if (soundValue(log, frame) === undefined) continue
    if (frame.kind === ENTRY_KIND.header) header = log.line(frame)
    else if (!places.has(frame.pos)) places.set(frame.pos, { at, parent: frame.parent })
  }
  yield header ?? JSON.stringify({ type: 'header', asr: '1', sessionId: core.sessionId })
  const positions = [...places.keys()].sort((a, b) => a - b)
  const salvage = new Salvage(log, places, await knownOfLost(log, places, positions))
  let next = 1
  for (const pos of positions) {
    yield* salvage.gaps(next, pos - 1)
    yield* salvage.record(pos)
    next = pos + 1
  }
  const end = await scannedEnd(log)
  const tail = faultOf(log, { end }, { ...core.witness, ...core.reach })
  // What stands whole at the end may still be lost: nobody knows any more how to read it.
  yield* salvage.gaps(next, Math.max(tail?.lastPos ?? 0, end.point.pos))
}

async function knownOfLost(
  log: RecordLog,
  places: ReadonlyMap<number, Place>,
  positions: readonly number[],
): Promise<Map<number, Known>> {
  const lost = new Map<number, Known>()
  const reader = log.reader()
  for (const pos of positions) {
    if (turns.isOver()) await turns.next()
    const { at, parent } = places.get(pos) as Place
    if (parent === 0 || places.has(parent)) continue
    const { parentId, head } = log.decode(await log.entry(at, pos, reader)) as unknown as StoredRecord
    const known = lost.get(parent) ?? { head }
    if (typeof parentId === 'string') known.id = parentId
    lost.set(parent, known)
  }
  return lost
}

/** Where the whole appends end, whatever is damaged before. */
async function scannedEnd(log: RecordLog): Promise<ScanEnd> {
  const scanner = log.scan(LOG_START)
  while ((await scanner.next()) !== undefined) if (turns.isOver()) await turns.next()
  return scanner.end()
}

/** The lines one by one, with the heads as an import of them will have them. Positions are those of the damaged log. */
class Salvage {
  private readonly heads = new Map<string, number>()
  /** where ids stand, by their keys; `head` records are no targets */
  private readonly found = new Map<number, number>()
  /** the ids of gaps by the last position that they stand for */
  private readonly gapIds = new Map<number, string>()
  /** the lost positions that are parents, in order, and how many of them have their gap */
  private readonly ends: number[]
  private ended = 0
  private readonly reader
  private lastSeq = 0

  constructor(
    private readonly log: RecordLog,
    private readonly places: ReadonlyMap<number, Place>,
    private readonly lost: ReadonlyMap<number, Known>,
  ) {
    this.ends = [...lost.keys()].sort((a, b) => a - b)
    this.reader = log.reader()
  }

  /** The gaps of lost positions: one, and one more up to each record that is the parent of an intact one. */
  *gaps(from: number, to: number): Generator<string, void> {
    let next = from
    for (; this.ends[this.ended] <= to; this.ended++) {
      yield this.gap(next, this.ends[this.ended])
      next = this.ends[this.ended] + 1
    }
    if (next <= to) yield this.gap(next, to)
  }

  private gap(from: number, to: number): string {
    const { id = `gap-${from}-${this.log.identity.incarnation}`, head } = this.lost.get(to) ?? {}
    this.heads.set(head ?? PRIMARY, to)
    if (!this.heads.has(PRIMARY)) this.heads.set(PRIMARY, to)
    this.found.set(idKey(id), to)
    this.gapIds.set(to, id)
    const positions = Number.isFinite(to) ? { from, to } : { from }
    return JSON.stringify({ type: 'gap', reason: 'damaged', ...positions, head, seq: this.nextSeq(), id })
  }

  /** A record's line; before it a `head` record where a head is not where the record's own place says it was. */
  async *record(pos: number): AsyncGenerator<string, void> {
    if (turns.isOver()) await turns.next()
    const { at, parent } = this.places.get(pos) as Place
    const frame = await this.log.entry(at, pos, this.reader)
    const record = this.log.decode(frame) as unknown as StoredRecord
    if (record.type === 'head') this.move(record)
    else {
      const isImplied = record.parentId === undefined && parent > 0
      if (isImplied && this.target(record) !== parent) yield await this.moved(record.head ?? PRIMARY, parent, pos)
      if (participates(record) || this.target(record) === parent) this.heads.set(record.head ?? PRIMARY, pos)
      if (!this.heads.has(PRIMARY)) this.heads.set(PRIMARY, pos)
      this.found.set(idKey(record.id), pos)
    }
    this.lastSeq = record.seq
    yield this.log.line(frame)
  }

  private nextSeq(): number {
    this.lastSeq = Math.min(this.lastSeq + 1, Number.MAX_SAFE_INTEGER)
    return this.lastSeq
  }

  private target({ head }: StoredRecord): number {
    return currentTarget({ head: (name) => this.heads.get(name) }, head)
  }

  private move({ name, recordId }: StoredRecord): void {
    if (typeof name !== 'string') return
    const target = typeof recordId === 'string' ? this.found.get(idKey(recordId)) : undefined
    if (target !== undefined) this.heads.set(name, target)
    else if (recordId === null && name !== PRIMARY) this.heads.delete(name)
  }

  /** What moved the head is lost: it is moved again, before the record at a position. */
  private async moved(name: string, target: number, before: number): Promise<string> {
    this.heads.set(name, target)
    const recordId = this.gapIds.get(target) ?? (await this.idAt(target))
    const id = `head-${before}-${this.log.identity.incarnation}`
    return JSON.stringify({ type: 'head', name, recordId, seq: this.nextSeq(), id })
  }

  private async idAt(pos: number): Promise<string> {
    const { at } = this.places.get(pos) as Place
    return (this.log.decode(await this.log.entry(at, pos)) as unknown as StoredRecord).id
  }
}
