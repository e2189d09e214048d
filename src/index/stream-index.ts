/**
 * The index of one stream: pages and key runs, the newest in memory, the rest in level. It is written behind the log and
 * holds nothing that the log does not say.
 */

import { type Flow, runFlow, wait } from '../base/flow.js'
import { turns } from '../base/turn.js'
import type { Json } from '../record/record.js'
import type { Entry } from './entry.js'
import { Bloom } from './keys/bloom.js'
import { bucketCount, bucketOf, collectPositions, decodeRun, type KeyRun, MERGED_RUNS } from './keys/key-run.js'
import { PageKeys, type RecordName } from './keys/page-keys.js'
import type { IndexLevel } from './level.js'
import { firstOf, Page, pageOf } from './page.js'
import type { IndexView } from './reader.js'
import { decodeHeads, decodeRoot, emptyState, type Root, type RunRow, type StreamState } from './root.js'
import type { RowCache } from './row-cache.js'
import { getRow, IndexDamaged, readRow } from './rows.js'

/** Pages named by one directory row. */
export const DIRECTORY_PAGES = 256

/** Checks of a page's columns and keys; of the keys 0 when they are merged into a run. */
export type DirectoryItem = [page: number, keys: number]

export interface RunHead {
  bloom: Bloom
  bucketChecks: number[]
}

/** What is in level. */
export interface Persisted {
  length: number
  directories: Map<number, DirectoryItem[]>
  directoryChecks: number[]
  runs: RunRow[]
  /** how many pages' keys are merged into runs */
  mergedPages: number
}

export class StreamIndex implements IndexView {
  state: StreamState = emptyState()
  persisted: Persisted = { length: 0, directories: new Map(), directoryChecks: [], runs: [], mergedPages: 0 }
  /** pages with positions that level does not hold yet, and the page that the next record goes to */
  readonly growing = new Map<number, { page: Page; keys: PageKeys }>()
  /** the record taken in last: it mostly is the parent of the next */
  private newest: Entry | undefined
  private readonly runHeads = new WeakMap<RunRow, RunHead>()
  /** While rows are being written that `persisted` does not name yet: ends when it does, or they are not. */
  writing: Promise<void> | undefined
  private readonly pageBlooms = new Map<number, Bloom>()

  constructor(
    readonly level: IndexLevel,
    /** the log's incarnation: its rows' prefix */
    readonly incarnation: string,
    readonly cache: RowCache,
  ) {}

  /** What level holds of a log; undefined when that is nothing. @throws IndexDamaged */
  static async open(
    level: IndexLevel,
    incarnation: string,
    cache: RowCache,
  ): Promise<{ index: StreamIndex; root: Root; logState: Json } | undefined> {
    const row = await runFlow(getRow(level, { kind: 'root', incarnation }))
    if (row === undefined) return undefined
    const root = decodeRoot(row, incarnation)
    if (root === undefined) throw new IndexDamaged(`the root row of ${incarnation} is damaged, or of another format`)
    const dictionary = await runFlow(readRow(level, { kind: 'dictionary', incarnation }, root.dictionaryCheck))
    const heads = decodeHeads(await runFlow(readRow(level, { kind: 'heads', incarnation }, root.headsCheck)))
    const index = new StreamIndex(level, incarnation, cache)
    index.state = { ...root.state, heads }
    const { directories: directoryChecks, runs } = root
    const mergedPages = runs.reduce((pages, run) => pages + MERGED_RUNS ** run.level, 0)
    index.persisted = { length: root.state.point.pos, directories: new Map(), directoryChecks, runs, mergedPages }
    return { index, root, logState: JSON.parse(new TextDecoder().decode(dictionary)) as Json }
  }

  /** Number of records taken in. */
  get length(): number {
    return this.state.point.pos
  }

  /** Makes the page that the next record goes to ready for it. */
  *prepare(): Flow<void> {
    const number = pageOf(this.length + 1)
    if (this.growing.has(number)) return
    if (firstOf(number) > this.length) {
      this.growing.set(number, { page: Page.empty(number), keys: new PageKeys() })
      return
    }
    const item = (yield* this.directory(Math.floor(number / DIRECTORY_PAGES)))[number % DIRECTORY_PAGES]
    const page = yield* readRow(this.level, { kind: 'page', incarnation: this.incarnation, number }, item[0])
    const keys = decodeRun(yield* readRow(this.level, { kind: 'keys', incarnation: this.incarnation, number }, item[1]))
    this.growing.set(number, { page: Page.decode(number, page), keys: PageKeys.from(keys) })
  }

  /** Takes a record in; `prepare` must have been answered once before. */
  push(entry: Entry, keys: readonly number[], name: RecordName): void {
    const number = pageOf(entry.pos)
    let growing = this.growing.get(number)
    if (growing === undefined) {
      growing = { page: Page.empty(number), keys: new PageKeys() }
      this.growing.set(number, growing)
    }
    growing.page.push(entry)
    for (const key of keys) growing.keys.add(key, entry.pos)
    growing.keys.name(entry.pos, name)
    this.newest = entry
  }

  /** The entry of the record taken in last, when it is the one at a position. */
  newestAt(pos: number): Entry | undefined {
    return this.newest?.pos === pos ? this.newest : undefined
  }

  /** A page. Whoever works through a stream asks for its pages one after the other: here the event loop gets its turn. */
  *page(number: number): Flow<Page> {
    if (turns.isOver()) yield turns.next()
    const growing = this.growing.get(number)
    if (growing !== undefined) return growing.page
    return yield* this.row(`page/${number}`, () => this.readPage(number))
  }

  private *readPage(number: number): Flow<Page> {
    const [check] = yield* this.directoryItem(number)
    return Page.decode(
      number,
      yield* readRow(this.level, { kind: 'page', incarnation: this.incarnation, number }, check),
    )
  }

  *entry(pos: number): Flow<Entry> {
    return (yield* this.page(pageOf(pos))).entry(pos)
  }

  /** A newest record's names, when they are in memory. */
  nameOf(pos: number): RecordName | undefined {
    return this.growing.get(pageOf(pos))?.keys.nameOf(pos)
  }

  /** The positions that a key may lead to, in rising order: to be confirmed. */
  *candidates(key: number): Flow<number[]> {
    for (;;) {
      const { persisted } = this
      let found: number[] = []
      try {
        found = yield* this.persistedCandidates(persisted, key)
      } catch (error) {
        if (!(error instanceof IndexDamaged) || !(yield* this.isOutdated(persisted))) throw error
      }
      if (persisted !== this.persisted) continue // a flush moved keys to where they were not looked for
      for (const { keys } of this.growing.values()) keys.collect(key, found)
      return found
    }
  }

  private *persistedCandidates({ runs, mergedPages, length }: Persisted, key: number): Flow<number[]> {
    const found: number[] = []
    for (const run of runs) {
      const head = this.runHeads.get(run) ?? (yield* this.runHead(run))
      if (!head.bloom.has(key)) continue
      collectPositions(yield* this.bucket(run, head, bucketOf(key, bucketCount(run.keys))), key, found)
    }
    const firstGrowing = this.growing.keys().next().value ?? Number.POSITIVE_INFINITY
    for (let number = mergedPages; number < firstGrowing && firstOf(number) <= length; number++) {
      if (this.pageBlooms.get(number)?.has(key) === false) continue
      collectPositions(yield* this.pageKeys(number), key, found)
    }
    return found
  }

  /** The keys of one page, merged or not yet. */
  *pageKeys(number: number): Flow<KeyRun> {
    const run = yield* this.row(`keys/${number}`, () => this.readKeys(number))
    if (!this.pageBlooms.has(number)) this.pageBlooms.set(number, Bloom.of(run.keys))
    return run
  }

  private *readKeys(number: number): Flow<KeyRun> {
    const [, check] = yield* this.directoryItem(number)
    return decodeRun(yield* readRow(this.level, { kind: 'keys', incarnation: this.incarnation, number }, check))
  }

  /** Kept for good: a look-up asks all runs. */
  *runHead(run: RunRow): Flow<RunHead> {
    const held = this.runHeads.get(run)
    if (held !== undefined) return held
    const { level, number, check } = run
    const head = decodeRunHead(
      yield* readRow(this.level, { kind: 'run', incarnation: this.incarnation, level, number }, check),
    )
    this.runHeads.set(run, head)
    return head
  }

  *bucket(run: RunRow, head: RunHead, bucket: number): Flow<KeyRun> {
    return yield* this.row(`${runName(run)}/${bucket}`, () => this.readBucket(run, head, bucket))
  }

  private *readBucket({ level, number }: RunRow, head: RunHead, bucket: number): Flow<KeyRun> {
    const key = { kind: 'bucket', incarnation: this.incarnation, level, number, bucket } as const
    return decodeRun(yield* readRow(this.level, key, head.bucketChecks[bucket]))
  }

  /** Keeps the head of a run that is now written. */
  keepRunHead(run: RunRow, head: RunHead): void {
    this.runHeads.set(run, head)
  }

  /** Keeps the filter of a page's keys; without one, forgets it: the keys are merged. */
  keepPageBloom(page: number, bloom?: Bloom): void {
    if (bloom === undefined) this.pageBlooms.delete(page)
    else this.pageBlooms.set(page, bloom)
  }

  *directory(block: number): Flow<DirectoryItem[]> {
    const { directories, directoryChecks } = this.persisted // as they are now: a flush may replace them meanwhile
    const known = directories.get(block)
    if (known !== undefined) return known
    const check = directoryChecks[block]
    if (check === undefined) throw new IndexDamaged(`directory ${block} is not named`)
    const bytes = yield* readRow(this.level, { kind: 'directory', incarnation: this.incarnation, number: block }, check)
    const items = decodeDirectory(bytes)
    directories.set(block, items)
    return items
  }

  private *directoryItem(page: number): Flow<DirectoryItem> {
    const item = (yield* this.directory(Math.floor(page / DIRECTORY_PAGES)))[page % DIRECTORY_PAGES]
    if (item === undefined) throw new IndexDamaged(`page ${page} is not named`)
    return item
  }

  private *row<T>(name: string, load: () => Flow<T>): Flow<T> {
    const key = `${this.incarnation}/${name}`
    const cached = this.cache.get(key)
    if (cached !== undefined) return cached as T
    const { persisted } = this
    try {
      const value = yield* load()
      if (persisted === this.persisted) this.cache.set(key, value) // else it may be of the page as it was before
      return value
    } catch (error) {
      if (!(error instanceof IndexDamaged) || !(yield* this.isOutdated(persisted))) throw error
      return yield* this.row(name, load)
    }
  }

  /** Whether a flush wrote rows anew between their names and their reading: then they are to be asked for again. */
  private *isOutdated(persisted: Persisted): Flow<boolean> {
    if (this.writing !== undefined) yield* wait(this.writing)
    return persisted !== this.persisted
  }
}

export function runName(run: { level: number; number: number }): string {
  return `run/${run.level}/${run.number}`
}

export function encodeDirectory(items: readonly DirectoryItem[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(items.flat()).buffer)
}

function decodeDirectory(bytes: Uint8Array): DirectoryItem[] {
  const checks = new Uint32Array(bytes.slice().buffer)
  return Array.from({ length: checks.length / 2 }, (_, i) => [checks[2 * i], checks[2 * i + 1]])
}

/** The count of buckets, their checks, then the filter. */
export function encodeRunHead({ bucketChecks, bloom }: RunHead): Uint8Array {
  return new Uint8Array(Uint32Array.from([bucketChecks.length, ...bucketChecks, ...bloom.words]).buffer)
}

function decodeRunHead(bytes: Uint8Array): RunHead {
  const words = new Uint32Array(bytes.slice().buffer)
  const buckets = words[0]
  return {
    bucketChecks: Array.from(words.subarray(1, 1 + buckets)),
    bloom: new Bloom(words.slice(1 + buckets)),
  }
}
