/**
 * A store of ten thousand streams.
 */
import { join } from 'node:path'
import { openStore } from '../src/main.js'
import { type Context, count, round, sized } from './figure.js'
import { fresh } from './fresh.js'
import { headerOf, Records } from './generate.js'
import { median } from './pairs.js'
import { oursAtMost, type Row } from './row.js'

const RECORDS_EACH = 6

export async function manyStreams(context: Context): Promise<Row[]> {
  const streams = sized(context, 10_000, 500)
  const folder = join(context.temp, 'many')
  const made = await make(folder, streams)
  const opens = Array.from({ length: context.quick ? 3 : 9 }, () => fresh('asr open', folder).workMs)
  const each = fresh('asr open all', folder, String(streams)).result
  const work = `${count(streams)} streams`
  return [
    {
      work: `${work}: made`,
      ours: { value: round(made / 1_000), unit: 's' },
      note: `${RECORDS_EACH} records each, one call a stream`,
    },
    { work: `${work}: opening the store`, ours: { value: round(median(opens)), unit: 'ms' }, target: oursAtMost(300) },
    {
      work: `${work}: memory of each when all are open`,
      ours: { value: round(each / 1_024), unit: 'KB' },
      target: oursAtMost(32),
      note: 'growth of what is resident, after a collection',
    },
  ]
}

async function make(folder: string, streams: number): Promise<number> {
  const records = new Records({ shape: 'short', ids: 'uuid' })
  const start = performance.now()
  const store = await openStore(folder)
  for (let number = 0; number < streams; number++) {
    const stream = await store.createStream(headerOf(`session-${number}`))
    await stream.append(records.take(RECORDS_EACH))
  }
  await store.close()
  return performance.now() - start
}
