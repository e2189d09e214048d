/**
 * What the store does.
 */
import { createReadStream, rmSync } from 'node:fs'
import { memoryUsage } from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { replay } from '../../src/acp/replay/main.js'
import { openStore, type Store, type Stream } from '../../src/main.js'
// What opening a folder loads, so that it counts as loading.
import '../../src/store/node/folder.js'
import { Records } from '../generate.js'
import { type Done, microsecondsEach, type Works } from './work.js'

const SESSION = 'bench'

export const WORKS: Works = {
  open: (path) => opened(path, async ({ notices }) => notices.length),

  reopen: (path) => opened(path, async (store) => (await store.stream(SESSION)).length),

  view: (path) =>
    opened(path, async (store) => {
      const view = await (await store.stream(SESSION)).contextView()
      let entries = 0
      for await (const _ of view.entries()) entries++
      return entries
    }),

  /** Milliseconds from the request to the first update, in a store that is open. */
  'first update': (path) =>
    opened(path, async (store) => {
      const start = performance.now()
      await replay(await store.stream(SESSION))
        [Symbol.asyncIterator]()
        .next()
      return performance.now() - start
    }),

  /** All updates, replayed to nobody. */
  replay: (path) =>
    opened(path, async (store) => {
      let updates = 0
      for await (const _ of replay(await store.stream(SESSION))) updates++
      return updates
    }),

  append: (path, times) =>
    opened(path, async (store) => {
      const stream = await store.stream(SESSION)
      const records = new Records({ seed: 9, shape: 'short', ids: 'uuid' })
      return microsecondsEach(Number(times), () => stream.append(records.next()))
    }),

  'open all': (path, streams) => opened(path, (store) => residentEach(store, Number(streams))),

  rebuild: async (path) => {
    rmSync(`${path}/index`, { recursive: true })
    const store = await openStore(path)
    const { length } = await store.stream(SESSION)
    await store.close()
    return { result: length }
  },

  import: async (path, jsonl) => {
    const store = await openStore(path)
    const { records } = await store.importJsonl(createReadStream(jsonl, { highWaterMark: 256 * 1024 })) // as asr import reads
    await store.close()
    return { result: records }
  },
}

async function opened(path: string, use: (store: Store) => Promise<number>): Promise<Done> {
  const store = await openStore(path)
  return { result: await use(store), close: () => store.close() }
}

/** Bytes that become resident for each stream that is opened and stays open. */
async function residentEach(store: Store, streams: number): Promise<number> {
  const open: Stream[] = []
  // The first streams pay for what all share.
  const warm = Math.ceil(streams / 50)
  let before = 0
  for (let number = 0; number < streams; number++) {
    if (number === warm) before = resident()
    open.push(await store.stream(`session-${number}`))
  }
  return (resident() - before) / (open.length - warm)
}

function resident(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let times = 0; times < 4; times++) collect()
  return memoryUsage.rss()
}
