/**
 * Replaying a stream as ACP updates beside JSON.parse of the same lines; the first update of a long stream; memory.
 */
import { closeSync, openSync } from 'node:fs'
import { type Replay, replay as replayOf } from '../src/acp/replay/main.js'
import { openStore, type Stream } from '../src/main.js'
import { Corpora, type Kind, SESSION } from './corpora.js'
import { type Context, count, pairsOf, round, sized } from './figure.js'
import { fresh, freshMedian } from './fresh.js'
import { alternate, type Slice } from './pairs.js'
import { lineStarts, parseRange } from './peers/jsonl.js'
import { atLeast, oursAtMost, type Row } from './row.js'

const SLICE_RECORDS = 4_000

export async function replay(context: Context): Promise<Row[]> {
  const corpora = new Corpora(context)
  const rows = [await throughput(context, corpora, 'linear'), await throughput(context, corpora, 'real')]
  return [...rows, ...(await longStream(context, corpora))]
}

/** Both sides go through the same records, a slice after the other, from the start again at the end. */
async function throughput(context: Context, corpora: Corpora, kind: Kind): Promise<Row> {
  const records = kind === 'linear' ? sized(context, 200_000, 20_000) : sized(context, 50_000, 10_000)
  const jsonl = corpora.jsonl(kind, records)
  const store = await openStore(await corpora.store(kind, records))
  const telling = new Telling(await store.stream(SESSION), records)
  await telling.begin()
  const slices = Math.floor(records / SLICE_RECORDS)
  const starts = lineStarts(jsonl)
  const descriptor = openSync(jsonl, 'r')
  const ours: Slice = { run: () => telling.take(SLICE_RECORDS) }
  const peer: Slice = {
    // Line 0 is the header.
    run: (number) => {
      const from = (number % slices) * SLICE_RECORDS + 1
      parseRange(descriptor, starts[from], starts[Math.min(from + SLICE_RECORDS, starts.length - 1)])
    },
  }
  const pairs = await alternate(pairsOf(context), ours, peer)
  closeSync(descriptor)
  await store.close()
  const each = (ms: number) => ({ value: round((ms * 1_000) / SLICE_RECORDS), unit: 'us' as const })
  return {
    work: `replay, ${kind === 'linear' ? 'short records' : 'real shape'}, ${count(records)}`,
    ours: each(pairs.ours),
    peer: { name: 'JSON.parse of the JSONL', ...each(pairs.peer) },
    ratio: pairs.ratio,
    spread: pairs.spread,
    pairs: pairs.pairs,
    target: atLeast(1),
    note: 'a record',
  }
}

/** A replay taken in parts: so many updates as come of so many records. */
class Telling {
  private readonly replayed: Replay
  private updates: AsyncIterator<unknown> | undefined
  private perRecord = 1

  constructor(
    stream: Stream,
    private readonly records: number,
  ) {
    this.replayed = replayOf(stream)
  }

  /** Counts the updates of all records. */
  async begin(): Promise<void> {
    let updates = 0
    for await (const _ of this.replayed) updates++
    this.perRecord = updates / this.records
  }

  async take(records: number): Promise<void> {
    let left = Math.round(records * this.perRecord)
    while (left > 0) {
      this.updates ??= this.replayed[Symbol.asyncIterator]()
      const { updates } = this
      // Without a `return` the loop does not end the replay when it stops.
      for await (const _ of { [Symbol.asyncIterator]: () => ({ next: () => updates.next() }) }) if (--left === 0) return
      this.updates = undefined
    }
  }
}

async function longStream(context: Context, corpora: Corpora): Promise<Row[]> {
  const records = sized(context, 1_000_000, 20_000)
  const store = await corpora.store('linear', records)
  const first = freshMedian(context.quick ? 3 : 15, ({ result }) => result, 'asr first update', store)
  const idle = fresh('node idle').rssBytes
  const bytes = fresh('asr replay', store).rssBytes - idle
  return [
    {
      work: `first update of ${count(records)} records`,
      ours: { value: round(first), unit: 'ms' },
      target: oursAtMost(50),
      note: 'from the request, in a fresh process with the store open',
    },
    {
      work: `replay of ${count(records)} records`,
      ours: { value: round(bytes / 1e6), unit: 'MB' },
      target: oursAtMost(100),
      note: 'beyond an idle Node, at the peak',
    },
  ]
}
