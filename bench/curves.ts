/**
 * How figures grow with a stream: cold view, append and memory, from a thousand records to a million.
 */
import { copyFileSync, cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { stdout } from 'node:process'
import { Corpora } from './corpora.js'
import { type Context, count, round } from './figure.js'
import { fresh, freshMedian, type WorkName } from './fresh.js'
import { median } from './pairs.js'
import { PeerMissing } from './row.js'

export type ChartName = 'cold view' | 'append' | 'memory'

/** One line of a chart. */
export interface Curve {
  chart: ChartName
  name: string
  points: { records: number; value: number }[]
}

interface Peer {
  name: string
  module: 'asr' | 'sqlite' | 'level' | 'jsonl' | 'pi' | 'langgraph'
  /** the largest stream it bears */
  most: number
  /** where its copy of a stream lies; without one it makes its own */
  place?: (corpora: Corpora, records: number) => string | Promise<string>
}

const PEERS: readonly Peer[] = [
  { name: 'asr-store', module: 'asr', most: Infinity, place: (corpora, records) => corpora.store('linear', records) },
  {
    name: 'better-sqlite3',
    module: 'sqlite',
    most: Infinity,
    place: (corpora, records) => corpora.sqlite('linear', records),
  },
  { name: 'raw level', module: 'level', most: Infinity, place: (corpora, records) => corpora.level('linear', records) },
  { name: 'JSONL', module: 'jsonl', most: Infinity, place: (corpora, records) => corpora.jsonl('linear', records) },
  {
    name: "pi's SessionManager",
    module: 'pi',
    most: 100_000,
    place: (corpora, records) => corpora.pi('linear', records),
  },
  { name: "LangGraph's SQLite saver", module: 'langgraph', most: 10_000 },
]

const APPENDS = 1_000

export async function measureCurves(context: Context): Promise<Curve[]> {
  const sizes = context.quick ? [1_000, 3_000] : [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
  const curves = new Map<string, Curve>()
  const put = (chart: ChartName, name: string, records: number, value: number): void => {
    const curve = curves.get(`${chart} ${name}`) ?? { chart, name, points: [] }
    curve.points.push({ records, value: round(value) })
    curves.set(`${chart} ${name}`, curve)
  }
  const idle = freshMedian(5, ({ rssBytes }) => rssBytes, 'node idle')
  const corpora = new Corpora(context)
  for (const records of sizes) {
    for (const peer of PEERS.filter(({ most }) => most >= records)) {
      stdout.write(`${peer.name}, ${count(records)} records\n`)
      try {
        await measure(context, corpora, peer, records, (chart, value) => {
          put(chart, peer.name, records, chart === 'memory' ? (value - idle) / 1e6 : value)
        })
      } catch (error) {
        if (!(error instanceof PeerMissing)) throw error
        stdout.write(`${error.message}\n`)
      }
    }
  }
  return [...curves.values()]
}

async function measure(
  context: Context,
  corpora: Corpora,
  { module, place }: Peer,
  records: number,
  put: (chart: ChartName, value: number) => void,
): Promise<void> {
  const copy = join(context.temp, 'copy')
  const append: WorkName = `${module} append`
  if (place === undefined) {
    put('append', fresh(append, copy, String(records)).result)
  } else {
    const path = await place(corpora, records)
    const times = records >= 100_000 && (module === 'jsonl' || module === 'pi') ? 1 : 5
    const views = Array.from({ length: times }, () => fresh(`${module} view`, path))
    put('cold view', median(views.map(({ workMs }) => workMs)))
    put('memory', median(views.map(({ rssBytes }) => rssBytes)))
    duplicate(path, copy)
    put('append', fresh(append, copy, String(APPENDS)).result)
  }
  for (const file of [copy, `${copy}-wal`, `${copy}-shm`]) rmSync(file, { recursive: true, force: true })
}

/** Appending must not change the stream that other figures read. */
function duplicate(path: string, copy: string): void {
  if (path.endsWith('.jsonl') || path.endsWith('.sqlite')) copyFileSync(path, copy)
  else cpSync(path, copy, { recursive: true })
}
