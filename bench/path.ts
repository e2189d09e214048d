/**
 * The active path of a stream of a thousand branches.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type AsrRecord, openStore } from '../src/main.js'
import { type Context, count, pairsOf, round, sized } from './figure.js'
import { headerOf, Records } from './generate.js'
import { LineWriter } from './line-writer.js'
import { alternate, type Slice } from './pairs.js'
import { pathOf } from './peers/jsonl.js'
import { SqliteStore } from './peers/sqlite.js'
import { type Row, rowOrReason } from './row.js'

const BRANCHES = 1_000

export async function path(context: Context): Promise<Row[]> {
  const records = branched(sized(context, 20, 4))
  const folder = join(context.temp, 'path')
  mkdirSync(folder)
  const store = await openStore(join(folder, 'store'))
  const stream = await store.createStream(headerOf('bench'))
  await stream.append(records)
  const end = records[records.length - 1].id as string
  const { length } = await stream.activePath()
  const work = `${count(length)} of ${count(records.length)} records, ${count(BRANCHES)} branches`
  const ours: Slice = {
    run: async () => {
      const found = await stream.activePath()
      for await (const _ of found.records());
    },
  }
  const row = async (name: string, peer: Slice, pairs = pairsOf(context, 50)): Promise<Row> => {
    const result = await alternate(pairs, ours, peer)
    const { ratio, spread } = result
    const value = round(result.ours)
    return {
      work,
      ours: { value, unit: 'ms' },
      peer: { name, value: round(result.peer), unit: 'ms' },
      ratio,
      spread,
      pairs,
    }
  }

  const jsonl = join(folder, 'stream.jsonl')
  const writer = new LineWriter(jsonl)
  for (const record of records) writer.write(record)
  writer.close()
  const rows = [await row('JSONL read again', { run: () => demand(length, pathOf(jsonl, end).length) })]
  rows.push(
    await rowOrReason(work, async () => {
      const sqlite = SqliteStore.open(join(folder, 'sqlite'))
      sqlite.append(records)
      const made = await row('better-sqlite3, recursive query', { run: () => demand(length, sqlite.path(end).length) })
      sqlite.close()
      return made
    }),
  )
  await store.close()
  return rows
}

function demand(expected: number, found: number): void {
  if (expected !== found) throw new Error(`the path has ${found} records instead of ${expected}`)
}

/** Branches of which each leaves the one before it somewhere, so that the path runs through all of them. */
function branched(steps: number): AsrRecord[] {
  const source = new Records({ shape: 'short', ids: 'uuid' })
  const all: AsrRecord[] = []
  let fork: string | null = null
  for (let branch = 0; branch < BRANCHES; branch++) {
    let parentId: string | null = fork
    for (let step = 0; step < steps; step++) {
      const record: AsrRecord = { ...source.next(), parentId }
      parentId = record.id ?? null
      if (step === Math.floor(steps / 2)) fork = parentId
      all.push(record)
    }
  }
  return all
}
