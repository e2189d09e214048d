/**
 * Reading all of a stream, each record checked and decoded, beside JSON.parse of the same lines.
 */
import { closeSync, openSync } from 'node:fs'
import { openStore, type StoredRecord, type Stream } from '../src/main.js'
import { Corpora, type Kind, SESSION } from './corpora.js'
import { type Context, count, pairsOf, round, sized } from './figure.js'
import { alternate, type Pairs, type Slice } from './pairs.js'
import { lineStarts, parseRange } from './peers/jsonl.js'
import { SqliteStore } from './peers/sqlite.js'
import { atLeast, type Row, rowOrReason } from './row.js'

const SLICE_RECORDS = 4_000

export async function scan(context: Context): Promise<Row[]> {
  const corpora = new Corpora(context)
  return [...(await scanOf(context, corpora, 'linear')), ...(await scanOf(context, corpora, 'real'))]
}

async function scanOf(context: Context, corpora: Corpora, kind: Kind): Promise<Row[]> {
  const records = kind === 'linear' ? sized(context, 200_000, 20_000) : sized(context, 50_000, 10_000)
  const work = `${kind === 'linear' ? 'short records' : 'real shape'}, ${count(records)}`
  const jsonl = corpora.jsonl(kind, records)
  const store = await openStore(await corpora.store(kind, records))
  const stream = await store.stream(SESSION)
  const windows = new Windows(records)
  const reading = new Reading(stream)
  const ours: Slice = { run: () => reading.take(SLICE_RECORDS) }

  const starts = lineStarts(jsonl)
  const descriptor = openSync(jsonl, 'r')
  // Line 0 is the header.
  const parsed: Slice = {
    run: (number) => void parseRange(descriptor, starts[windows.at(number).from], starts[windows.at(number).to + 1]),
  }
  const rows = [rowOf(work, 'JSON.parse of the JSONL', await alternate(pairsOf(context), ours, parsed))]
  rows[0].target = atLeast(1.5)
  closeSync(descriptor)

  rows.push(
    await rowOrReason(work, async () => {
      const sqlite = SqliteStore.open(corpora.sqlite(kind, records))
      const selected: Slice = { run: (number) => void sqlite.scan(windows.at(number).from, windows.at(number).to) }
      const pairs = await alternate(pairsOf(context), ours, selected)
      sqlite.close()
      return rowOf(work, 'better-sqlite3', pairs)
    }),
  )
  await store.close()
  return rows
}

/** The parts of a stream that the slices read, one behind the other, from the start again at the end. */
class Windows {
  constructor(private readonly records: number) {}

  at(number: number): { from: number; to: number } {
    const from = ((number * SLICE_RECORDS) % (this.records - SLICE_RECORDS)) + 1
    return { from, to: from + SLICE_RECORDS - 1 }
  }
}

/** One scan of all of a stream, and another one behind it, taken in parts. */
class Reading {
  private iterator: AsyncIterator<StoredRecord>

  constructor(private readonly stream: Stream) {
    this.iterator = this.begin()
  }

  async take(records: number): Promise<void> {
    let left = records
    // Without a `return` the loop does not end the scan when it stops.
    const rest = { [Symbol.asyncIterator]: () => ({ next: () => this.iterator.next() }) }
    while (left > 0) {
      for await (const record of rest) {
        if (record.type === '') throw new Error('a record without a type')
        if (--left === 0) return
      }
      this.iterator = this.begin()
    }
  }

  private begin(): AsyncIterator<StoredRecord> {
    return this.stream.records()[Symbol.asyncIterator]()
  }
}

function rowOf(work: string, name: string, { ours, peer, ratio, spread, pairs }: Pairs): Row {
  const each = (ms: number) => ({ value: round((ms * 1_000) / SLICE_RECORDS), unit: 'us' as const })
  return { work, ours: each(ours), peer: { name, ...each(peer) }, ratio, spread, pairs, note: 'a record' }
}
