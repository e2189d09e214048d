/**
 * The one queue of a session: everything in the order in which it was first seen, written in that order (M5).
 */
import { type AsrRecord, participates } from '../../record/record.js'
import type { Loss } from '../losses.js'
import { LOSSES_BY_TYPE } from '../losses.js'
import type { EntityKind, SlotContext, Stage, UpdatedKind } from './slot.js'
import { type Draft, draftsOf, type Ref, Tracked, type WriteOptions } from './tracked.js'

/** What is a record at once. */
export const eventKind: EntityKind<AsrRecord> = {
  name: 'event',
  isAside: true,
  slots: (body) => [{ name: 'event', body }],
}

export type Context = Omit<SlotContext, 'stage'>

export interface Sink {
  append(drafts: Draft[]): void
  declare(losses: Loss[]): void
}

/** So many entities that came back once may do so again without a look into the store. */
const PAST_MAX = 64

export class Line {
  /** entities that updates can still reach without a look into the store */
  readonly held = new Map<string, Tracked>()
  /** the last record that participates in context (ASR-719) */
  last: Ref | undefined
  /** entities were written and let go: an id that is not held may be known to the store */
  hasLetGo = false
  /** something was written */
  hasWritten = false
  /** what is not written yet, in first-seen order */
  private queue: Tracked[] = []
  /** nothing of a turn waits: an event can be written at once */
  private isIdle = true
  /** the agent said that a turn is under way */
  private isTurn = false
  /** what was told of last since nothing was under way */
  private latest: Tracked | undefined
  private byChunk = false
  /** entities that were let go again after they came back, the last one last */
  private readonly past = new Map<string, Tracked>()

  constructor(
    private readonly context: () => Context,
    private readonly sink: Sink,
  ) {}

  /** Something first seen takes its place; with a key it is held. */
  add(tracked: Tracked, key?: string): void {
    if (key !== undefined) this.held.set(key, tracked)
    if (tracked.placed) return
    this.queue.push(tracked)
    if (!tracked.kind.isAside) this.isIdle = false
    else if (this.isIdle) this.writeQueue()
  }

  /** An update told of an entity. */
  told(tracked: Tracked, byChunk: boolean): void {
    this.latest = tracked
    this.byChunk = byChunk
  }

  /**
   * What would be cut off if nothing came any more: calls and compactions that are under way, and the message that was being told.
   * Undefined stands for a turn of which nothing is.
   */
  unfinished(): (Tracked | undefined)[] {
    const open = [...this.held.values()].filter((tracked) => isUnderWay(tracked))
    const { latest, byChunk, isTurn } = this
    if (latest?.kind.name.startsWith('message/') && (byChunk || isTurn)) open.push(latest)
    return open.length === 0 && isTurn ? [undefined] : open
  }

  /** An entity changed, and is to be written again. */
  changed(tracked: Tracked): void {
    tracked.dirty = true
    this.isIdle = false
  }

  /** An event that waits to be written: the last of a type that is wanted. */
  lastEvent(type: string, wanted: (record: AsrRecord) => boolean): AsrRecord | undefined {
    const isWanted = (record: AsrRecord): boolean => record.type === type && wanted(record)
    return this.queue.findLast(({ kind, state }) => kind === eventKind && isWanted(state as AsrRecord))?.state as
      | AsrRecord
      | undefined
  }

  /** An entity is to be written: all that was first seen before it goes first, as it then stands. */
  writeThrough(tracked: Tracked): void {
    if (!tracked.placed) this.writeUntil(this.queue.indexOf(tracked))
    this.write(tracked, { stage: 'passing' })
  }

  /** Everything first seen so far is written as it stands. */
  writeQueue(): void {
    this.writeUntil(this.queue.length)
  }

  /** Everything is written in first-seen order: what was written and is not so any more, then what never was. */
  writeAll(stage: Stage, options: Pick<WriteOptions, 'force' | 'snapshot'> = {}): void {
    for (const tracked of this.held.values()) {
      const { placed, dirty, partial } = tracked
      if (placed && (dirty || (partial && stage === 'end'))) this.write(tracked, { ...options, stage })
    }
    for (const tracked of this.queue.splice(0)) this.write(tracked, { ...options, stage })
  }

  /** The two states at which everything is written (ASR-705); with the turn over, it is let go. */
  stateChanged(state: unknown): void {
    if (state === 'requires_action') this.writeAll('pause')
    if (state === 'requires_action' || state === 'running') this.isTurn = true
    this.isIdle = state === 'idle'
    if (!this.isIdle) return
    this.writeAll('end')
    this.letGo()
  }

  /** No turn is under way. What is written and waits for no answer is let go: later updates find it in the store. */
  letGo(): void {
    this.isIdle = true
    this.isTurn = false
    this.latest = undefined
    for (const [key, tracked] of this.held) {
      if (tracked.dirty || tracked.awaiting !== undefined) continue
      this.held.delete(key)
      this.hasLetGo = true
      if (tracked.comesBack) this.keep(key, tracked)
    }
  }

  /**
   * Holds an entity again that was let go and may come back each turn, such as a plan: a look into the store reads all its
   * revisions, and a session would cost the square of its turns.
   */
  recall(key: string): Tracked | undefined {
    const tracked = this.past.get(key)
    if (tracked === undefined) return undefined
    this.past.delete(key)
    this.held.set(key, tracked)
    tracked.frames = undefined
    return tracked
  }

  /** The store has something else of an entity than was let go. */
  forget(key: string): void {
    this.past.delete(key)
  }

  private keep(key: string, tracked: Tracked): void {
    this.past.set(key, tracked)
    const [oldest] = this.past.keys()
    if (this.past.size > PAST_MAX) this.past.delete(oldest)
  }

  /** Hands drafts on, and keeps count of what they mean for the stream. */
  emit(drafts: Draft[], losses: Loss[] = []): void {
    if (drafts.length === 0) return
    this.hasWritten = true
    for (const { ref, record } of drafts) if (participates(record)) this.last = ref
    const byType = drafts.flatMap(({ record }) => LOSSES_BY_TYPE.get(record.type) ?? [])
    this.sink.declare([...losses, ...byType])
    this.sink.append(drafts)
  }

  private writeUntil(end: number): void {
    for (const tracked of this.queue.splice(0, end)) this.write(tracked, { stage: 'passing' })
  }

  private write(tracked: Tracked, how: Omit<WriteOptions, keyof Context>): void {
    const drafts = draftsOf(tracked, { ...this.context(), ...how })
    this.emit(drafts, drafts.length > 0 ? (tracked.kind.losses?.(tracked.state) ?? []) : [])
  }
}

function isUnderWay({ kind, state }: Tracked): boolean {
  const { isFinal } = kind as Partial<UpdatedKind<unknown>>
  return isFinal !== undefined && !isFinal(state)
}

/** A record that is not folded, ready to be added. */
export function eventTracked(body: AsrRecord, times: Tracked['times'], frames: Tracked['frames']): Tracked {
  return new Tracked(eventKind, body, times, frames) as Tracked
}
