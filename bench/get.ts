/**
 * Records by id, at random.
 */
import { Bench } from 'tinybench'
import { openStore } from '../src/main.js'
import { Corpora, SESSION } from './corpora.js'
import { type Context, count, round, sized } from './figure.js'
import { batchesOf } from './peers/jsonl.js'
import { LevelStore } from './peers/level.js'
import { SqliteStore } from './peers/sqlite.js'
import { Random } from './random.js'
import { PeerMissing, type Row } from './row.js'

const NAMES = { ours: 'asr', sqlite: 'better-sqlite3', level: 'raw level' } as const

export async function get(context: Context): Promise<Row[]> {
  const corpora = new Corpora(context)
  const records = sized(context, 1_000_000, 10_000)
  const ids = [...batchesOf(corpora.jsonl('linear', records))].flatMap((batch) => batch.map(({ id }) => id))
  const store = await openStore(await corpora.store('linear', records))
  const stream = await store.stream(SESSION)
  const level = await LevelStore.open(await corpora.level('linear', records))
  const sqlite = openSqlite(corpora, records)

  const bench = new Bench({ time: context.quick ? 200 : 3_000, warmupTime: context.quick ? 50 : 500 })
  const random = new Random(7)
  bench.add(NAMES.ours, async () => void (await stream.get(random.pick(ids))))
  bench.add(NAMES.level, async () => void (await level.get(random.pick(ids))))
  if (sqlite instanceof SqliteStore) bench.add(NAMES.sqlite, () => void sqlite.get(random.pick(ids)))
  await bench.run()
  await store.close()
  await level.close()

  const ours = latencyOf(bench, NAMES.ours)
  const row = (name: string): Row => {
    const peer = latencyOf(bench, name)
    const note = `median; p99 ${round(ours.p99)} us and ${round(peer.p99)} us`
    return {
      work: `by id, of ${count(records)}`,
      ours: us(ours.p50),
      peer: { name, ...us(peer.p50) },
      ratio: peer.p50 / ours.p50,
      note,
    }
  }
  if (!(sqlite instanceof SqliteStore)) return [{ work: 'by id', note: sqlite }, row(NAMES.level)]
  sqlite.close()
  return [row(NAMES.sqlite), row(NAMES.level)]
}

function openSqlite(corpora: Corpora, records: number): SqliteStore | string {
  try {
    return SqliteStore.open(corpora.sqlite('linear', records))
  } catch (error) {
    if (error instanceof PeerMissing) return error.message
    throw error
  }
}

/** In microseconds. */
function latencyOf(bench: Bench, name: string): { p50: number; p99: number } {
  const result = bench.getTask(name)?.result
  if (result === undefined || !('latency' in result)) throw new Error(`${name} did not run`)
  return { p50: result.latency.p50 * 1_000, p99: result.latency.p99 * 1_000 }
}

function us(value: number): { value: number; unit: 'us' } {
  return { value: round(value), unit: 'us' }
}
