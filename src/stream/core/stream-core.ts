/**
 * A stream's log and index together: questions to them, writes, and the index written behind the log.
 */

import { AsrError, isAsrError } from '../../base/error.js'
import type { MaybePromise } from '../../base/flow.js'
import { type Flow, runFlow } from '../../base/flow.js'
import { Mutex } from '../../base/mutex.js'
import { EarlierIndex } from '../../index/earlier-index.js'
import { flushIndex } from '../../index/flush.js'
import type { IndexLevel } from '../../index/level.js'
import { MemoryIndex } from '../../index/memory-index.js'
import type { IndexReader, IndexView } from '../../index/reader.js'
import type { Reach, StreamState } from '../../index/root.js'
import { logRange } from '../../index/row-key.js'
import { clearBelowRoot, compactRows, IndexDamaged } from '../../index/rows.js'
import { StreamIndex } from '../../index/stream-index.js'
import { asItIs, type Extension, type FoundLog, type RecordLog } from '../../log/api.js'
import type { JudgedEntry } from '../../log/log-entry.js'
import { catchUp } from '../place/catch-up.js'
import { Lookup } from '../place/lookup.js'
import { titleOf } from '../place/title.js'
import { type Environment, note, noteBrokenLevel } from './environment.js'
import { farther, faultOf, NO_WITNESS, type Witness } from './witness.js'

/** The index is written when it is so far behind: after a crash, opening takes in what it does not hold yet. */
const FLUSH_RECORDS = 1_536
const FLUSH_BYTES = 4 * 1024 * 1024
/** A stream that rests this long is flushed when it has this many records to flush. */
const IDLE_MS = 10_000
const IDLE_RECORDS = 64
/** An index this far behind makes appends wait for it. */
const LAG_RECORDS_MAX = 4 * FLUSH_RECORDS

export class StreamCore {
  /** held while the log is written or the index replaced */
  readonly writing = new Mutex()
  /** the index as it is at each question: what is built on it outlives a rebuild */
  readonly reader: IndexReader
  /** called after each append with the new length */
  readonly listeners = new Set<() => void>()
  /** what readers see: the index as it is, or as it stood before a growth that is being taken in */
  lookup: Lookup
  /** what is taken in of the log */
  index: StreamIndex
  /** why answers that depend on the whole log can't be given, if so (CORE-10) */
  damage: AsrError | undefined
  /** up to here the log survives a power cut */
  durable = 0
  /** what is known of the log besides what it says itself */
  witness: Witness = NO_WITNESS
  /** a reader's stream that ends before damage: nothing behind is looked at any more */
  isFrozen = false
  /** of a stream that is damaged or ends before damage: its files as they were then; once they change, it may be sound */
  judged: FoundLog | undefined
  closed = false
  /** it is gone for good: no row of it may be written again */
  deleted = false
  /** how often the index was built again because it was damaged: the second time level is to blame */
  private mends = 0
  /** bytes of the log, and how far it was synced, when the index was last written; -1: it never was */
  private persistedBytes = -1
  private persistedDurable = -1
  private flushing: Promise<void> | undefined
  private idle: ReturnType<typeof setTimeout> | undefined

  constructor(
    readonly environment: Environment,
    readonly log: RecordLog,
    index: StreamIndex,
  ) {
    this.index = index
    this.lookup = new Lookup(log, index)
    const current = (): IndexView => this.lookup.index
    this.reader = {
      get length() {
        return current().length
      },
      page: (number) => current().page(number),
      entry: (pos) => current().entry(pos),
      candidates: (key) => current().candidates(key),
    }
  }

  /** Goes on with another index, of which nothing is written yet. */
  useIndex(index: StreamIndex): void {
    this.show(index)
    this.persistedAs({ bytes: -1, durable: -1 })
  }

  private show(index: StreamIndex): void {
    this.index = index
    this.lookup = new Lookup(this.log, index)
  }

  /** Says that level holds the index as of a root row. */
  persistedAs({ bytes, durable }: { bytes: number; durable: number }): void {
    this.persistedBytes = bytes
    this.persistedDurable = durable
  }

  get sessionId(): string {
    return this.log.sessionId
  }

  /** The stream as readers see it. */
  get state(): StreamState {
    return this.lookup.index.state
  }

  get length(): number {
    return this.state.point.pos
  }

  /**
   * An answer from the index, at once when it is at hand. A damaged index is built again from the log, and asked again.
   * It never throws: a failure is a rejection.
   */
  ask<T>(question: (lookup: Lookup) => Flow<T>): MaybePromise<T> {
    const { index } = this
    const again = (error: unknown): Promise<T> => this.askAgain(question, error, index)
    try {
      const given = runFlow(question(this.lookup))
      return given instanceof Promise ? given.catch(again) : given
    } catch (error) {
      return again(error)
    }
  }

  private async askAgain<T>(question: (lookup: Lookup) => Flow<T>, error: unknown, index: StreamIndex): Promise<T> {
    if (!(error instanceof IndexDamaged)) throw error
    this.assertOpen() // a level that was closed answers nothing either
    // Another may have built it again meanwhile.
    await this.writing.run(() => (index === this.index ? this.mend() : undefined))
    return this.ask(question)
  }

  /** Builds a damaged index again, in memory when level itself fails: the log holds all; the caller holds `writing`. */
  async mend(): Promise<void> {
    const of = `stream ${JSON.stringify(this.sessionId)}`
    this.mends++
    if (this.mends > 2) throw new AsrError('ASR_IO', `${of}: the index can not be built`, { sessionId: this.sessionId })
    if (this.mends === 1) {
      try {
        await this.rebuild()
        note(this.environment, 'index_rebuilt', `${of}: the index was damaged and is built again`)
        return
      } catch (error) {
        if (isAsrError(error)) throw error
      }
    }
    await this.rebuild({ level: memoryLevel() })
    noteBrokenLevel(this.environment, new IndexDamaged('it was built again, and is damaged again'), this.sessionId)
  }

  /** @throws ASR_CLOSED once the stream was deleted, or its store is closed or closing: what is under way is finished */
  assertOpen(): void {
    if (this.closed || this.environment.lifetime.isOver) throw this.over()
  }

  private over(): AsrError {
    const { sessionId } = this
    const how = this.deleted ? 'was deleted' : 'is closed'
    return new AsrError('ASR_CLOSED', `stream ${JSON.stringify(sessionId)} ${how}`, { sessionId })
  }

  /** The stream is about to be deleted: whatever is under way ends, and no row of it is written again. */
  retire(): void {
    this.deleted = true
    this.log.retire(this.over())
  }

  /** A reader beside a live writer takes in what was written since. */
  async refresh(): Promise<void> {
    if (!this.environment.readOnly || this.damage !== undefined || this.isFrozen || this.closed) return
    await this.writing.run(async () => {
      const isBehind = this.lookup.index !== this.index // a failure came between
      let isSound = false
      try {
        if ((await this.log.hasGrown()) || isBehind) await this.takeGrowth()
        isSound = this.damage === undefined
      } finally {
        if (!isSound) this.judged = asItIs(this.log)
      }
    })
  }

  /**
   * Takes in what the log holds behind the index. Readers see none of it before all of it is in: a writer wrote it at once,
   * though it may be many appends' worth. The caller holds `writing`.
   */
  async takeGrowth(): Promise<void> {
    const { index } = this
    if (this.lookup.index === index) this.lookup = new Lookup(this.log, new EarlierIndex(index))
    try {
      const { reach } = this
      const caughtUp = await catchUp(this.log, index, { flush: () => this.flush() })
      this.log.end = caughtUp.end.point
      this.damage = faultOf(this.log, caughtUp, { ...this.witness, ...reach })?.error
      this.show(index)
    } catch (error) {
      if (!(error instanceof IndexDamaged)) throw error
      await this.mend()
    }
  }

  /**
   * Makes what was written behind the log a part of it. The caller holds `writing`, and knows that the log ends where the
   * extension begins.
   */
  async extend(extension: Extension): Promise<void> {
    if (this.closed) throw this.over()
    this.environment.guard()
    await this.log.takeIn(extension)
    await this.sync() // that it lies where it lies now
    await this.confirmed(undefined)
    try {
      await this.takeGrowth()
    } catch (error) {
      throw this.log.fail(error, 'reading what was written failed')
    }
    if (this.damage !== undefined) throw this.damage
  }

  /** Builds the index again from the log; the caller holds `writing`. */
  async rebuild(
    options: { level?: IndexLevel; signal?: AbortSignal; onBlock?: (pos: number) => void } = {},
  ): Promise<void> {
    await this.flushing
    const { cache } = this.environment
    const { incarnation: log } = this.index
    const level = options.level ?? this.index.level
    cache.clear()
    try {
      await clearBelowRoot(level, log)
    } catch (error) {
      if (options.level !== undefined) throw error
      noteBrokenLevel(this.environment, error, this.sessionId)
      return this.rebuild({ ...options, level: memoryLevel() })
    }
    const index = new StreamIndex(level, log, cache)
    const caughtUp = await catchUp(this.log, index, { ...options, flush: () => this.writeIndex(index) })
    const fault = faultOf(this.log, caughtUp, { ...this.witness, ...this.reach })
    if (fault !== undefined) {
      this.damage = fault.error
      if (options.level === undefined) return this.rebuild({ ...options, level: memoryLevel() })
    }
    this.show(index)
    await this.writeIndex(index)
    await this.compact()
  }

  /** After much was written at once: the index is written, and takes no more room than it needs. */
  async compact(): Promise<void> {
    await this.flushAll()
    const { gte, lt } = logRange(this.index.incarnation)
    if (this.index.length >= FLUSH_RECORDS) await compactRows(this.index.level, gte, lt)
  }

  /**
   * Writes appends to the log, and syncs where the store is to survive a power cut.
   * @throws ASR_FENCED: nothing was written, or, when the store was taken over meanwhile, it may be there or not
   */
  write(appends: readonly JudgedEntry[][]): MaybePromise<number[]> {
    if (this.closed) throw this.over() // what a closing store still has to write is written before it closes its streams
    this.environment.guard()
    const written = this.log.append(appends)
    return this.environment.durability === 'disk' ? this.synced(written) : this.confirmed(written)
  }

  /** What is there already may be promised, too: synced where the store is to survive a power cut. @throws ASR_FENCED */
  confirm(): MaybePromise<void> {
    if (this.closed) throw this.over()
    return this.environment.durability === 'disk' ? this.synced(undefined) : this.environment.guard()
  }

  private async synced<T>(written: MaybePromise<T>): Promise<T> {
    const result = await written
    await this.sync()
    return this.confirmed(result)
  }

  /** Asks again before the acknowledgement: another may have taken the store, and cut off what it did not know of. */
  private confirmed<T>(written: MaybePromise<T>): MaybePromise<T> {
    if (written instanceof Promise) return written.then((result) => this.confirmed(result))
    try {
      this.environment.guard()
    } catch (error) {
      this.log.abandon(error as AsrError)
      throw error
    }
    return written
  }

  async sync(): Promise<void> {
    if (this.durable >= this.log.end.location) return
    const { location } = this.log.end
    await this.log.sync()
    this.durable = location
  }

  /** After each append: wakes followers, and has the index written when it lags; to be waited for when it lags far. */
  appended(): MaybePromise<void> {
    for (const listener of [...this.listeners]) listener()
    const lag = this.index.length - this.index.persisted.length
    if (lag >= FLUSH_RECORDS || this.log.bytes - this.persistedBytes >= FLUSH_BYTES) {
      const flush = this.flush()
      if (lag >= LAG_RECORDS_MAX) return flush
    } else if (lag >= IDLE_RECORDS) {
      this.flushWhenIdle()
    }
  }

  /** Writes the index as it stands. Its failure harms nothing: the log holds all, and the next flush tries again. */
  async flush(): Promise<void> {
    if (this.deleted) return
    if (!this.environment.mayWriteLevel && this.index.level === this.environment.level) return
    this.flushing ??= this.writeIndex(this.index)
      .catch((error: unknown) => {
        note(
          this.environment,
          'index_not_written',
          `stream ${JSON.stringify(this.sessionId)}: ${(error as Error).message}`,
        )
      })
      .finally(() => {
        this.flushing = undefined
      })
    await this.flushing
  }

  /** Writes the index until nothing is left to write, or it can't be written. */
  async flushAll(): Promise<void> {
    await this.flushing
    if (!this.isFlushed) await this.flush()
  }

  /** Ends the stream's use: followers end, later calls are `ASR_CLOSED`. */
  async detach(): Promise<void> {
    this.closed = true
    for (const listener of [...this.listeners]) listener()
    clearTimeout(this.idle)
    await this.flushing
  }

  /** Syncs the log and writes the index: the root row then bears witness to where the log ends. */
  async close(): Promise<void> {
    await this.detach()
    if (this.environment.readOnly || this.damage !== undefined || this.log.isPoisoned) return
    await this.sync()
    await this.flushAll()
  }

  private get isFlushed(): boolean {
    const isWhole = this.index.persisted.length === this.index.length && this.persistedBytes === this.log.bytes
    return isWhole && this.persistedDurable === this.durable
  }

  /** How far the log is known to have reached. */
  get reach(): Reach {
    return farther(this.witness, this.log.end)
  }

  private async writeIndex(index: StreamIndex): Promise<void> {
    const { boot } = this.environment
    const title = await this.titleIn(index)
    const { bytes } = this.log
    const { durable } = this
    const reach = farther(this.reach, index.state.point)
    const extras = { title, bytes, durable, boot, sessionId: this.sessionId, reach }
    await flushIndex(index, this.log.state(), extras)
    this.persistedAs({ bytes, durable })
  }

  /** The title as of the very records that are written next: appends may come in while it is looked for. */
  private async titleIn(index: StreamIndex): Promise<string | null> {
    if (index !== this.index) return null
    for (;;) {
      const { length } = index
      const title = await runFlow(titleOf(new Lookup(this.log, index)))
      if (index.length === length) return title
    }
  }

  /** One timer until it fires: to put it off at each append would cost more than looking again when it does. */
  private flushWhenIdle(seen = 0): void {
    if (this.idle !== undefined) return
    this.idle = setTimeout(() => {
      this.idle = undefined
      if (this.length === seen) void this.flush()
      else if (this.length > this.index.persisted.length) this.flushWhenIdle(this.length)
    }, IDLE_MS)
    ;(this.idle as { unref?: () => void }).unref?.()
  }
}

function memoryLevel(): IndexLevel {
  return new MemoryIndex()
}
