/**
 * Appending, in batches of a hundred and one at a time, under 'process'.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AsrRecord, openStore, type Stream } from '../src/main.js'
import { type Context, pairsOf, round } from './figure.js'
import { headerOf, Records, type RecordsOptions } from './generate.js'
import { alternate, type Pairs, type Slice } from './pairs.js'
import { LANGGRAPH, LangGraphStore } from './peers/langgraph.js'
import { LevelStore } from './peers/level.js'
import { SqliteStore } from './peers/sqlite.js'
import { atLeast, type Row, rowOrReason, type Target } from './row.js'

interface Case {
  work: string
  options: RecordsOptions
  /** records in a call, and calls in a slice */
  batch: number
  calls: number
  target: Target
}

const CASES: readonly Case[] = [
  {
    work: 'batches of 100, ids r<seq>',
    options: { shape: 'short', ids: 'default' },
    batch: 100,
    calls: 20,
    target: atLeast(1.5),
  },
  {
    work: 'batches of 100, UUID ids',
    options: { shape: 'short', ids: 'uuid' },
    batch: 100,
    calls: 20,
    target: atLeast(1.5),
  },
  {
    work: 'batches of 100, real shape',
    options: { shape: 'real', ids: 'uuid' },
    batch: 100,
    calls: 10,
    target: atLeast(1.5),
  },
  { work: 'one at a time', options: { shape: 'short', ids: 'uuid' }, batch: 1, calls: 500, target: atLeast(2.5) },
]

export async function append(context: Context): Promise<Row[]> {
  const rows: Row[] = []
  for (const [number, one] of CASES.entries()) {
    const folder = join(context.temp, `append-${number}`)
    rows.push(await rowOrReason(one.work, () => besideSqlite(context, folder, one)))
    rows.push(await besideLevel(context, folder, one))
    if (one.batch === 1) rows.push(await besideJsonl(context, folder, one))
  }
  rows.push(await rowOrReason(STEP, () => besideLangGraph(context, join(context.temp, 'append-step'))))
  return rows
}

async function besideSqlite(context: Context, folder: string, one: Case): Promise<Row> {
  const sqlite = SqliteStore.open(`${folder}.sqlite`)
  const write =
    one.batch === 1 ? (batch: AsrRecord[]) => sqlite.appendOne(batch[0]) : (batch: AsrRecord[]) => sqlite.append(batch)
  const row = await beside(context, `${folder}.1`, one, 'better-sqlite3', write)
  sqlite.close()
  return { ...row, target: one.target }
}

async function besideLevel(context: Context, folder: string, one: Case): Promise<Row> {
  const level = await LevelStore.open(`${folder}.level`)
  const row = await beside(context, `${folder}.2`, one, 'raw level', (batch) => level.append(batch))
  await level.close()
  return row
}

/** What an agent without a store does: a line at the end of a file, neither checked nor found again. */
async function besideJsonl(context: Context, folder: string, one: Case): Promise<Row> {
  const file = `${folder}.jsonl`
  const write = (batch: AsrRecord[]): void => {
    for (const record of batch) appendFileSync(file, `${JSON.stringify(record)}\n`)
  }
  return beside(context, `${folder}.3`, one, 'JSONL, appendFileSync', write)
}

async function beside(
  context: Context,
  folder: string,
  one: Case,
  name: string,
  write: (batch: AsrRecord[]) => void | Promise<void>,
): Promise<Row> {
  const store = await openStore(folder)
  const stream = await store.createStream(headerOf('bench'))
  const ours = slices(one, 1, (batch) => stream.append(batch))
  const pairs = await alternate(pairsOf(context), ours, slices(one, 1, write))
  await store.close()
  return rowOf(one.work, name, pairs, one.batch * one.calls)
}

/** Slices of calls; both sides write the same records. */
function slices({ options, batch, calls }: Case, seed: number, write: (batch: AsrRecord[]) => unknown): Slice {
  const records = new Records({ ...options, seed })
  let batches: AsrRecord[][] = []
  const later = async (from: number, first: Promise<unknown>): Promise<void> => {
    await first
    for (let at = from; at < batches.length; at++) await write(batches[at])
  }
  return {
    prepare: () => {
      batches = Array.from({ length: calls }, () => records.take(batch))
    },
    run: () => {
      for (let at = 0; at < batches.length; at++) {
        const written = write(batches[at])
        if (written instanceof Promise) return later(at + 1, written)
      }
    },
  }
}

function rowOf(work: string, name: string, { ours, peer, ratio, spread, pairs }: Pairs, records: number): Row {
  const each = (ms: number) => ({ value: round((ms * 1_000) / records), unit: 'us' as const })
  return { work, ours: each(ours), peer: { name, ...each(peer) }, ratio, spread, pairs, note: 'a record' }
}

const STEP = 'append a message and read the context again'

/** A step of an agent whose whole conversation is its context. */
async function besideLangGraph(context: Context, folder: string): Promise<Row> {
  const history = context.quick ? 100 : 1_000
  const records = new Records({ shape: 'short', ids: 'uuid' })
  const messages = records.take(history)
  const store = await openStore(folder)
  const stream = await store.createStream(headerOf('bench'))
  await stream.append(messages)
  const saver = LangGraphStore.open(`${folder}.sqlite`)
  const all = [...messages]
  const ours: Slice = {
    run: async () => {
      await stream.append(records.next())
      await readView(stream)
    },
  }
  const peer: Slice = {
    run: async () => {
      all.push(records.next())
      await saver.put(all)
      await saver.latest()
    },
  }
  const { ours: value, peer: other, ratio, spread, pairs } = await alternate(pairsOf(context), ours, peer)
  saver.close()
  await store.close()
  return {
    work: `${STEP}, ${history} messages`,
    ours: { value: round(value), unit: 'ms' },
    peer: { name: LANGGRAPH, value: round(other), unit: 'ms' },
    ratio,
    spread,
    pairs,
  }
}

async function readView(stream: Stream): Promise<void> {
  const view = await stream.contextView()
  for await (const _ of view.entries());
}
