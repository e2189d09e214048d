/**
 * How long calls hold the event loop: how late a timer of a millisecond is while they work.
 */
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { compareContextViews, replay } from '../src/acp/main.js'
import { openStore, type Store, type Stream } from '../src/main.js'
import { Corpora, SESSION } from './corpora.js'
import { type Context, count, round, sized } from './figure.js'
import { oursAtMost, type Row } from './row.js'

const TIMER_MS = 1
/** A made stream ends with a compaction and 200 records: the view in front of them shows all that there is. */
const TAIL_RECORDS = 201

interface Place {
  store: Store
  stream: Stream
  jsonl: string
  /** an empty folder, another one each time */
  folder: () => string
}

const CALLS: { [name: string]: (place: Place) => Promise<unknown> } = {
  'all records': ({ stream }) => drain(stream.records()),
  'all records, followed': async ({ stream }) => {
    for await (const step of stream.follow()) if ('caughtUp' in step) return
  },
  'path, resolved': async ({ stream }) => drain((await stream.activePath()).resolved()),
  'context view of all records': async ({ stream }) => {
    const pos = stream.length - TAIL_RECORDS
    for await (const { id } of stream.records({ from: pos, to: pos })) await stream.contextView({ at: id })
  },
  export: ({ stream }) => drain(stream.exportJsonl()),
  replay: ({ stream }) => drain(replay(stream)),
  compareContextViews: ({ stream }) => compareContextViews(stream, stream),
  verify: ({ store }) => store.verify(),
  rebuildIndex: ({ store }) => store.rebuildIndex(),
  import: async ({ jsonl, folder }) => {
    const store = await openStore(folder())
    await store.importJsonl(createReadStream(jsonl, { highWaterMark: 1024 * 1024 }))
    await store.close()
  },
  '20,000 appends, one awaited after the other': async ({ folder }) => {
    const store = await openStore(folder())
    const stream = await store.createStream({ sessionId: SESSION })
    for (let n = 0; n < 20_000; n++) await stream.append({ type: 'message', role: 'user', content: [] })
    await store.close()
  },
}

export async function loop(context: Context): Promise<Row[]> {
  const records = sized(context, 1_000_000, 20_000)
  const corpora = new Corpora(context)
  const store = await openStore(await corpora.store('linear', records))
  let folders = 0
  const place: Place = {
    store,
    stream: await store.stream(SESSION),
    jsonl: corpora.jsonl('linear', records),
    folder: () => join(context.temp, `loop-${folders++}`),
  }
  const rows: Row[] = []
  for (const [name, call] of Object.entries(CALLS))
    rows.push(rowOf(`${name}, ${count(records)}`, await heldBy(() => call(place))))
  await store.close()
  return rows
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

/** How late each timer was, in ms, the latest last. */
async function heldBy(call: () => Promise<unknown>): Promise<number[]> {
  const late: number[] = []
  let set = performance.now()
  const heard = (): void => {
    const now = performance.now()
    late.push(now - set - TIMER_MS)
    set = now
  }
  let timer = setTimeout(function again() {
    heard()
    timer = setTimeout(again, TIMER_MS)
  }, TIMER_MS)
  await call()
  heard() // the one that is still to come
  clearTimeout(timer)
  return late.sort((a, b) => a - b)
}

function rowOf(work: string, late: readonly number[]): Row {
  const most = late[late.length - 1]
  return {
    work,
    ours: { value: round(late[Math.floor(late.length * 0.999)]), unit: 'ms' },
    target: oursAtMost(20),
    note: `the event loop held, p99.9 of ${count(late.length)} timers; most ${round(most)} ms`,
  }
}
