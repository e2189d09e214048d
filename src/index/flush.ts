/**
 * Writes what an index holds in memory to level, in one batch whose root row names all of it.
 *
 * Rows follow from the log's content alone, never from when a flush happened: pages and runs have fixed bounds, so a
 * rebuild yields the same bytes (the root's bookkeeping apart).
 */

import { type Flow, runFlow } from '../base/flow.js'
import { turns } from '../base/turn.js'
import type { Json } from '../record/record.js'
import { Bloom } from './keys/bloom.js'
import {
  bucketCount,
  cutBuckets,
  encodeRun,
  KEYS_AT_ONCE,
  type KeyRun,
  MERGED_RUNS,
  mergeRuns,
} from './keys/key-run.js'
import { firstOf, PAGE_POSITIONS, pageOf } from './page.js'
import { encodeHeads, encodeRoot, type Root, type RunRow } from './root.js'
import { RowBatch } from './rows.js'
import {
  DIRECTORY_PAGES,
  type DirectoryItem,
  encodeDirectory,
  encodeRunHead,
  type Persisted,
  type RunHead,
  runName,
  type StreamIndex,
} from './stream-index.js'

/** What the root row says beyond the index's own content. */
export type RootExtras = Pick<Root, 'title' | 'bytes' | 'durable' | 'boot' | 'sessionId' | 'reach'>

/** Writes the index as it stands now; records that come meanwhile stay in memory. One flush of a stream at a time. */
export async function flushIndex(index: StreamIndex, logState: Json, extras: RootExtras): Promise<void> {
  const { incarnation, state, persisted } = index
  const batch = new RowBatch()
  const { length } = index
  const pageChecks = new Map<number, DirectoryItem>()
  const keyRuns = new Map<number, KeyRun>()
  const firstPage = persisted.length + 1 > length ? pageOf(length + 1) : pageOf(persisted.length + 1)
  for (let number = firstPage; firstOf(number) <= length; number++) {
    const growing = index.growing.get(number)
    if (growing === undefined) continue
    const keys = growing.keys.toRun()
    keyRuns.set(number, keys)
    const pageCheck = batch.put({ kind: 'page', incarnation, number }, growing.page.encode())
    pageChecks.set(number, [pageCheck, batch.put({ kind: 'keys', incarnation, number }, encodeRun(keys))])
  }
  const dictionaryCheck = batch.put(
    { kind: 'dictionary', incarnation },
    new TextEncoder().encode(JSON.stringify(logState)),
  )
  const headsCheck = batch.put({ kind: 'heads', incarnation }, encodeHeads(state.heads))

  if (turns.isOver()) await turns.next()
  const merge = new Merge(index, batch, keyRuns)
  await merge.run(Math.floor((length + 1) / PAGE_POSITIONS))
  const next = await nameDirectories(index, batch, pageChecks, merge.mergedPages)
  next.length = length
  next.runs = merge.runs
  next.mergedPages = index.persisted.mergedPages + merge.mergedPages.size
  batch.put(
    { kind: 'root', incarnation },
    encodeRoot(
      { ...extras, state, headsCheck, dictionaryCheck, directories: next.directoryChecks, runs: next.runs },
      incarnation,
    ),
  )
  const writing = batch.write(index.level).then(() => adopt(index, next, keyRuns, merge))
  index.writing = writing.catch(() => undefined)
  await writing.finally(() => {
    index.writing = undefined
  })
}

async function nameDirectories(
  index: StreamIndex,
  batch: RowBatch,
  pageChecks: Map<number, DirectoryItem>,
  merged: ReadonlySet<number>,
): Promise<Persisted> {
  const directories = new Map(index.persisted.directories)
  const directoryChecks = [...index.persisted.directoryChecks]
  const blocks = new Set([...pageChecks.keys(), ...merged].map((number) => Math.floor(number / DIRECTORY_PAGES)))
  for (const block of [...blocks].sort((a, b) => a - b)) {
    const known = block < directoryChecks.length ? await runFlow(index.directory(block)) : []
    const items = [...known]
    for (const [number, item] of pageChecks) {
      if (Math.floor(number / DIRECTORY_PAGES) === block) items[number % DIRECTORY_PAGES] = item
    }
    for (const number of merged) {
      if (Math.floor(number / DIRECTORY_PAGES) === block)
        items[number % DIRECTORY_PAGES] = [items[number % DIRECTORY_PAGES][0], 0]
    }
    directories.set(block, items)
    directoryChecks[block] = batch.put(
      { kind: 'directory', incarnation: index.incarnation, number: block },
      encodeDirectory(items),
    )
  }
  return { length: 0, directories, directoryChecks, runs: [], mergedPages: 0 }
}

/** Merges key runs sixteen to one wherever sixteen are complete. */
class Merge {
  /** pages whose own keys went into a run */
  readonly mergedPages = new Set<number>()
  readonly heads = new Map<RunRow, RunHead>()
  runs: RunRow[]

  constructor(
    private readonly index: StreamIndex,
    private readonly batch: RowBatch,
    private readonly pageKeys: ReadonlyMap<number, KeyRun>,
  ) {
    this.runs = index.persisted.runs
  }

  async run(completePages: number): Promise<void> {
    const fresh = new Map<string, KeyRun>()
    let units = completePages
    for (let level = 1; units >= MERGED_RUNS; level++) {
      units = Math.floor(units / MERGED_RUNS)
      const have = this.runs
        .filter((run) => run.level >= level)
        .reduce((sum, run) => sum + MERGED_RUNS ** (run.level - level), 0)
      for (let number = have; number < units; number++)
        fresh.set(runName({ level, number }), await this.merge(level, number, fresh))
    }
  }

  private async merge(level: number, number: number, fresh: Map<string, KeyRun>): Promise<KeyRun> {
    const children: KeyRun[] = []
    for (let child = number * MERGED_RUNS; child < (number + 1) * MERGED_RUNS; child++) {
      children.push(level === 1 ? await this.takePage(child) : await this.takeRun(level - 1, child, fresh))
    }
    const merged = await runFlow(mergeRuns(children))
    const { incarnation } = this.index
    const bucketChecks: number[] = []
    for (const [bucket, run] of cutBuckets(merged).entries()) {
      if (turns.isOver()) await turns.next()
      bucketChecks.push(this.batch.put({ kind: 'bucket', incarnation, level, number, bucket }, encodeRun(run)))
    }
    const head = { bucketChecks, bloom: await runFlow(filterOf(merged)) }
    const check = this.batch.put({ kind: 'run', incarnation, level, number }, encodeRunHead(head))
    const row = { level, number, keys: merged.keys.length, check }
    this.heads.set(row, head)
    this.runs = [...this.runs, row].sort(byPosition)
    return merged
  }

  private async takePage(number: number): Promise<KeyRun> {
    const run = this.pageKeys.get(number) ?? (await runFlow(this.index.pageKeys(number)))
    this.batch.delete({ kind: 'keys', incarnation: this.index.incarnation, number })
    this.mergedPages.add(number)
    return run
  }

  private async takeRun(level: number, number: number, fresh: Map<string, KeyRun>): Promise<KeyRun> {
    const row = this.runs.find((run) => run.level === level && run.number === number) as RunRow
    this.runs = this.runs.filter((run) => run !== row)
    this.heads.delete(row)
    const { incarnation } = this.index
    const merged = fresh.get(runName(row)) ?? (await this.readRun(row))
    for (let bucket = 0; bucket < bucketCount(row.keys); bucket++) {
      this.batch.delete({ kind: 'bucket', incarnation, level, number, bucket })
    }
    this.batch.delete({ kind: 'run', incarnation, level, number })
    return merged
  }

  private async readRun(row: RunRow): Promise<KeyRun> {
    const head = await runFlow(this.index.runHead(row))
    const buckets: KeyRun[] = []
    for (let bucket = 0; bucket < head.bucketChecks.length; bucket++) {
      buckets.push(await runFlow(this.index.bucket(row, head, bucket)))
    }
    return runFlow(mergeRuns(buckets))
  }
}

function* filterOf({ keys }: KeyRun): Flow<Bloom> {
  const bloom = Bloom.for(keys.length)
  for (let at = 0; at < keys.length; at++) {
    if (at % KEYS_AT_ONCE === 0 && turns.isOver()) yield turns.next()
    bloom.add(keys[at])
  }
  return bloom
}

/** Higher levels cover earlier positions. */
function byPosition(a: RunRow, b: RunRow): number {
  return a.number * MERGED_RUNS ** a.level - b.number * MERGED_RUNS ** b.level
}

/** Makes what was written the base, and lets go of pages that are whole. */
function adopt(index: StreamIndex, next: Persisted, keyRuns: ReadonlyMap<number, KeyRun>, merge: Merge): void {
  index.persisted = next
  for (const [number, run] of keyRuns) {
    const growing = index.growing.get(number)
    if (growing === undefined || firstOf(number + 1) > next.length + 1) continue
    index.growing.delete(number)
    index.cache.set(`${index.incarnation}/page/${number}`, growing.page)
    index.cache.delete(`${index.incarnation}/keys/${number}`) // what was read of them when the page was not whole
    index.keepPageBloom(number, Bloom.of(run.keys))
  }
  for (const number of merge.mergedPages) index.keepPageBloom(number)
  for (const [run, head] of merge.heads) index.keepRunHead(run, head)
}
