/**
 * Importing JSONL: small files in alternating slices, then one large file.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../src/main.js'
import { bytesOf, Corpora, type Kind } from './corpora.js'
import { type Context, count, pairsOf, round, sized } from './figure.js'
import { fresh, type WorkName } from './fresh.js'
import { alternate, type Slice } from './pairs.js'
import { batchesOf } from './peers/jsonl.js'
import { SqliteStore } from './peers/sqlite.js'
import { type Row, rowOrReason } from './row.js'

export async function importing(context: Context): Promise<Row[]> {
  const corpora = new Corpora(context)
  const rows: Row[] = []
  for (const kind of ['linear', 'real'] as const) {
    const work = `files of ${kind === 'linear' ? 'short records' : 'the real shape'}, 2,000 records each`
    rows.push(await rowOrReason(work, () => files(context, corpora, work, kind)))
  }
  rows.push(await rowOrReason('one file', () => large(context, corpora)))
  return rows
}

async function files(context: Context, corpora: Corpora, work: string, kind: Kind): Promise<Row> {
  const records = 2_000
  const jsonl = corpora.jsonl(kind, records)
  const lines = readFileSync(jsonl, 'utf8')
  const body = Buffer.from(lines.slice(lines.indexOf('\n') + 1))
  const folder = join(context.temp, `import-${kind}`)
  mkdirSync(folder)
  const store = await openStore(join(folder, 'store'))
  const ours: Slice = { run: async (number) => void (await store.importJsonl([body], { sessionId: `copy-${number}` })) }
  const sqlite = (number: number): void => {
    const peer = SqliteStore.open(join(folder, 'sqlite'), `copy-${number}`)
    for (const batch of batchesOf(jsonl)) peer.append(batch)
    peer.close()
  }
  const result = await alternate(pairsOf(context, 50), ours, { run: sqlite })
  await store.close()
  const { ratio, spread, pairs } = result
  const each = (ms: number) => ({ value: round((ms * 1_000) / records), unit: 'us' as const })
  return {
    work,
    ours: each(result.ours),
    peer: { name: 'better-sqlite3', ...each(result.peer) },
    ratio,
    spread,
    pairs,
    note: 'a record',
  }
}

async function large(context: Context, corpora: Corpora): Promise<Row> {
  const records = sized(context, 280_000, 10_000)
  const jsonl = corpora.jsonl('real', records)
  const seconds = (work: WorkName, name: string): number => fresh(work, join(context.temp, name), jsonl).workMs / 1_000
  const ours = seconds('asr import', 'import-large')
  const peer = seconds('sqlite import', 'import-large.sqlite')
  return {
    work: `one file of ${Math.round(bytesOf(jsonl) / 1e6)} MB, ${count(records)} records`,
    ours: { value: round(ours), unit: 's' },
    peer: { name: 'better-sqlite3', value: round(peer), unit: 's' },
    ratio: peer / ours,
    note: 'one run each, in processes of their own',
  }
}
