/**
 * What is resident at most, beyond a Node process that does nothing; of an import, in all.
 */
import { join } from 'node:path'
import { bytesOf, Corpora } from './corpora.js'
import { type Context, count, round, sized } from './figure.js'
import { fresh, freshMedian, type WorkName } from './fresh.js'
import { type Measure, oursAtMost, type Row, rowOrReason } from './row.js'

const rss = ({ rssBytes }: { rssBytes: number }): number => rssBytes

export async function memory(context: Context): Promise<Row[]> {
  const corpora = new Corpora(context)
  return [...(await ofView(context, corpora)), ...(await ofImport(context, corpora))]
}

async function ofView(context: Context, corpora: Corpora): Promise<Row[]> {
  const records = sized(context, 1_000_000, 20_000)
  const times = context.quick ? 3 : 9
  const idle = freshMedian(times, rss, 'node idle')
  const beyond = (name: WorkName, path: string): Measure => megabytes(freshMedian(times, rss, name, path) - idle)
  const ours = beyond('asr view', await corpora.store('linear', records))
  const work = `open and view, ${count(records)} records`
  const beside = (name: string, peer: Measure): Row => ({
    work,
    ours,
    peer: { name, ...peer },
    ratio: ours.value / peer.value,
  })
  const jsonl = megabytes(rss(fresh('jsonl view', corpora.jsonl('linear', records))) - idle)
  return [
    { ...beside('JSONL read again', jsonl), target: oursAtMost(30), note: 'beyond an idle Node' },
    await rowOrReason(work, async () =>
      beside('better-sqlite3', beyond('sqlite view', corpora.sqlite('linear', records))),
    ),
    beside('raw level', beyond('level view', await corpora.level('linear', records))),
  ]
}

async function ofImport(context: Context, corpora: Corpora): Promise<Row[]> {
  const records = sized(context, 280_000, 10_000)
  const jsonl = corpora.jsonl('real', records)
  const work = `import of ${Math.round(bytesOf(jsonl) / 1e6)} MB of JSONL`
  const ours = megabytes(rss(fresh('asr import', join(context.temp, 'memory'), jsonl)))
  const row = await rowOrReason(work, async () => {
    const peer = megabytes(rss(fresh('sqlite import', join(context.temp, 'memory.sqlite'), jsonl)))
    return { work, peer: { name: 'better-sqlite3', ...peer }, ratio: ours.value / peer.value }
  })
  return [{ ...row, ours, target: oursAtMost(200), note: 'in all, at the peak' }]
}

function megabytes(bytes: number): Measure {
  return { value: round(bytes / 1e6), unit: 'MB' }
}
