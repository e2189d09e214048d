/**
 * What is handed out piece by piece ends with its store or its stream, wherever it stands: `ASR_CLOSED` at the next step,
 * and no file is opened again for it.
 */
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { guardStorage } from '../../src/log/storage/guarded-storage.js'
import { NodeStorage } from '../../src/log/storage/node-storage.js'
import { memoryLocation, openStore, type Store, type StoreLocation, type Stream } from '../../src/main.js'
import { fails } from '../support/fails.js'
import { compaction, header, message, tombstone } from '../support/records.js'
import { tempFolder } from '../support/temp.js'

/** Enough for more than one page of the index, one window of bytes and one chunk of an export. */
const RECORDS = 4_200

type Iterables = { [name: string]: (stream: Stream, store: Store) => Promise<AsyncIterable<unknown>> }

const ITERABLES: Iterables = {
  records: async (stream) => stream.records(),
  'records of a type': async (stream) => stream.records({ types: ['message'] }),
  'records, the last first': async (stream) => stream.records({ reverse: true }),
  'path ids': async (stream) => (await stream.activePath()).ids(),
  'path records': async (stream) => (await stream.activePath()).records(),
  'path resolved': async (stream) => (await stream.activePath()).resolved(),
  'view entries': async (stream) => (await stream.contextView()).entries(),
  export: async (stream) => stream.exportJsonl(),
  'export of what is intact': async (stream) => stream.exportJsonl({ salvage: true }),
  follow: async (stream) => stream.follow(),
  streams: async (_, store) => store.streams(),
}

/** Where an iteration stands when the end comes. */
const STEPS: { [name: string]: (iterator: AsyncIterator<unknown>) => Promise<unknown> } = {
  'before its first step': async () => undefined,
  'behind its first step': (iterator) => iterator.next(),
  'behind its third step': async (iterator) => {
    for (let n = 0; n < 3; n++) assert.not((await iterator.next()).done)
  },
}

async function filled(location: StoreLocation): Promise<{ store: Store; stream: Stream }> {
  const store = await openStore(location)
  for (const id of ['a', 'b', 'c']) await store.createStream(header(id))
  const stream = await store.createStream(header('s'))
  await stream.append([message('m1'), message('m2'), compaction('c1', 'm2'), tombstone('t1', 'm1')])
  await stream.append(Array.from({ length: RECORDS }, (_, n) => message(`n${n}`)))
  return { store, stream }
}

/** Files of the folder that this process holds open; where that can't be told, none. */
function openFiles(folder: string): string[] {
  if (!existsSync('/proc/self/fd')) return []
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${fd}`)
      return file.startsWith(folder) ? [file] : []
    } catch {
      return [] // the descriptor of the listing itself
    }
  })
}

interface Opened {
  store: Store
  stream: Stream
  /** closes what stands beside */
  rest?: () => Promise<void>
  folder?: string
}

const DOORS: { [name: string]: () => Promise<Opened> } = {
  'in memory': () => filled(memoryLocation()),
  'in a folder': async () => {
    const folder = join(tempFolder(), 'store')
    return { ...(await filled(folder)), folder }
  },
  'for a reader': async () => {
    const folder = join(tempFolder(), 'store')
    await (await filled(folder)).store.close()
    const store = await openStore(folder, { readOnly: true })
    return { store, stream: await store.stream('s'), folder }
  },
  'for a reader of a stream that was deleted since': async () => {
    const folder = join(tempFolder(), 'store')
    const writer = await filled(folder)
    const store = await openStore(folder, { readOnly: true })
    const stream = await store.stream('s')
    const rest = async (): Promise<void> => {
      await writer.store.deleteStream('s')
      await fails('ASR_STREAM_NOT_FOUND', () => store.stream('s'))
      await writer.store.close()
    }
    return { store, stream, rest, folder }
  },
}

async function endsClosed(iterator: AsyncIterator<unknown>): Promise<void> {
  await fails('ASR_CLOSED', () => iterator.next())
  const again = await iterator.next().then(
    ({ done }) => (done ? 'done' : 'goes on'),
    ({ code }) => code,
  )
  assert.ok(again === 'done' || again === 'ASR_CLOSED', again)
}

for (const [door, open] of Object.entries(DOORS)) {
  for (const [place, take] of Object.entries(STEPS)) {
    test(`${door}, ${place}: all end with close()`, async () => {
      const { store, stream, rest, folder } = await open()
      const iterators: AsyncIterator<unknown>[] = []
      for (const make of Object.values(ITERABLES)) {
        const iterator = (await make(stream, store))[Symbol.asyncIterator]()
        await take(iterator)
        iterators.push(iterator)
      }
      await rest?.()
      const closing = store.close()
      for (const iterator of iterators) await endsClosed(iterator)
      await closing
      for (const iterator of iterators) await endsClosed(iterator)
      if (folder !== undefined) assert.equal(openFiles(folder), [])
    })
  }
}

for (const place of [memoryLocation(), join(tempFolder(), 'store')]) {
  for (const [where, take] of Object.entries(STEPS)) {
    test(`${typeof place === 'string' ? 'in a folder' : 'in memory'}, ${where}: all end when their stream is deleted`, async () => {
      const { store, stream } = await filled(place)
      const iterators: AsyncIterator<unknown>[] = []
      for (const [name, make] of Object.entries(ITERABLES)) {
        if (name === 'streams') continue // the list of the others goes on
        const iterator = (await make(stream, store))[Symbol.asyncIterator]()
        await take(iterator)
        iterators.push(iterator)
      }
      await store.deleteStream('s')
      for (const iterator of iterators) await endsClosed(iterator)
      if (typeof place === 'string') assert.equal(openFiles(join(place, 'streams')).filter(isDeleted), [])
      for (const id of ['a', 'b', 'c']) await store.deleteStream(id)
      await store.close()
    })
  }
}

function isDeleted(file: string): boolean {
  return file.endsWith(' (deleted)')
}

test('what was handed out whole, and not asked for its end yet, ends closed too', async () => {
  const { store, stream } = await filled(memoryLocation())
  const iterator = stream.records({ from: 1, to: 2 })[Symbol.asyncIterator]()
  await iterator.next()
  await iterator.next()
  await store.close()
  await endsClosed(iterator)
})

test('a follower that waits for more ends closed, with the store and with its stream', async () => {
  for (const end of ['close', 'delete'] as const) {
    const { store, stream } = await filled(memoryLocation())
    const iterator = stream.follow({ after: stream.length })[Symbol.asyncIterator]()
    assert.equal((await iterator.next()).value, { caughtUp: true })
    const waiting = iterator.next()
    await (end === 'close' ? store.close() : store.deleteStream('s'))
    await fails('ASR_CLOSED', () => waiting)
    await store.close()
  }
})

test('a storage that was closed with its store is asked for nothing more', async () => {
  const folder = tempFolder()
  const storage = guardStorage(new NodeStorage(folder))
  await storage.append('a', new Uint8Array(3))
  await storage.close()
  await fails('ASR_CLOSED', () => storage.read('a', 0, 3))
  await fails('ASR_CLOSED', () => storage.append('a', new Uint8Array(3)))
  assert.equal(openFiles(folder), [])
})

test.run()
