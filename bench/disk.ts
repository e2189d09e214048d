/**
 * What a store takes on disk, log and index, of the JSONL that went in.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { bytesOf, Corpora, importInto } from './corpora.js'
import { type Context, count, round, sized } from './figure.js'
import { batchesOf } from './peers/jsonl.js'
import { LevelStore } from './peers/level.js'
import { SqliteStore } from './peers/sqlite.js'
import { atMost, type Row, rowOrReason } from './row.js'

export async function disk(context: Context): Promise<Row[]> {
  const corpora = new Corpora(context)
  const [short, real] = [sized(context, 200_000, 10_000), sized(context, 50_000, 5_000)]
  const files = [
    { work: `short records, ${count(short)}`, jsonl: corpora.jsonl('linear', short), limit: 0.9 },
    { work: `real shape, ${count(real)}`, jsonl: corpora.jsonl('real', real), limit: 0.6 },
    { work: 'claude-branched', jsonl: corpora.session('claude-branched'), limit: 0.9 },
    { work: 'pi-tree', jsonl: corpora.session('pi-tree'), limit: 0.9 },
    { work: 'pi-compacted', jsonl: corpora.session('pi-compacted'), limit: 0.6 },
  ]
  const rows: Row[] = []
  for (const [number, { work, jsonl, limit }] of files.entries()) {
    const folder = join(context.temp, `disk-${number}`)
    mkdirSync(folder)
    rows.push(...(await sizesOf(folder, work, jsonl, limit)))
  }
  return rows
}

async function sizesOf(folder: string, work: string, jsonl: string, limit: number): Promise<Row[]> {
  const store = join(folder, 'store')
  await importInto(store, jsonl)
  const ours = bytesOf(store)
  const beside = (name: string, bytes: number): Row => ({
    work,
    ours: { value: round(ours / 1e6), unit: 'MB' },
    peer: { name, value: round(bytes / 1e6), unit: 'MB' },
    ratio: ours / bytes,
  })
  const sqlite = await rowOrReason(work, async () => {
    const file = join(folder, 'sqlite')
    const peer = SqliteStore.open(file)
    for (const batch of batchesOf(jsonl)) peer.append(batch)
    peer.close()
    return beside('better-sqlite3', bytesOf(file))
  })
  const level = await LevelStore.open(join(folder, 'level'))
  for (const batch of batchesOf(jsonl)) await level.append(batch)
  await level.close()
  return [
    { ...beside('the JSONL', bytesOf(jsonl)), target: atMost(limit) },
    sqlite,
    beside('raw level', bytesOf(join(folder, 'level'))),
  ]
}
