/**
 * A process that is about to be killed: `node child.js <task> <folder> <seed> <durability>`. It says on its output, at once and
 * before it goes on, what it tries and what it was promised.
 */
import { writeSync } from 'node:fs'
import { isAsrError, openStore, type Store, type Stream } from '../../src/main.js'
import type { StoredStream } from '../../src/stream/stream.js'
import { header, jsonl } from '../support/records.js'
import { batchOf, extensionOf, STREAMS } from './batches.js'

const [task, folder, seedText, durability] = process.argv.slice(2)
const seed = Number(seedText)
const options = { durability: durability as 'process' | 'disk' }

const still = new Int32Array(new SharedArrayBuffer(4))

/** Synchronous: a line that was said has left the process. */
function say(...words: (string | number)[]): void {
  const line = `${words.join(' ')}\n`
  for (;;) {
    try {
      writeSync(1, line) // short enough to be written as a whole
      return
    } catch (error) {
      if ((error as { code?: string }).code !== 'EAGAIN') throw error
      Atomics.wait(still, 0, 0, 1) // whoever reads is behind
    }
  }
}

async function open(): Promise<{ store: Store; streams: Stream[] }> {
  const store = await openStore(folder, options)
  const streams: Stream[] = []
  for (const session of STREAMS) {
    streams.push(
      await store.stream(session).catch((error: unknown) => {
        if (isAsrError(error, 'ASR_STREAM_NOT_FOUND')) return store.createStream(header(session))
        throw error
      }),
    )
  }
  return { store, streams }
}

/** Batch after batch on a stream, from the one that is told first. */
async function write(stream: Stream, from: number): Promise<never> {
  for (let n = from; ; n++) {
    say('try', stream.sessionId, n)
    await stream.append(batchOf(seed, stream.sessionId, n))
    say('ack', stream.sessionId, n)
  }
}

const tasks: { [name: string]: () => Promise<unknown> } = {
  /** On four streams at a time; which batch comes next is told by the arguments behind. */
  async append() {
    const { streams } = await open()
    say('open')
    await Promise.all(streams.map((stream, i) => write(stream, Number(process.argv[6 + i]))))
  },
  async open() {
    for (;;) {
      say('begin')
      const { store } = await open()
      say('end')
      await store.close()
    }
  },
  async close() {
    for (let n = Number(process.argv[6]); ; n++) {
      const { store, streams } = await open()
      for (const stream of streams) {
        say('try', stream.sessionId, n)
        await stream.append(batchOf(seed, stream.sessionId, n))
        say('ack', stream.sessionId, n)
      }
      say('begin')
      await store.close()
      say('end')
    }
  },
  async reindex() {
    const { store } = await open()
    for (;;) {
      say('begin')
      await store.rebuildIndex()
      say('end')
    }
  },
  async flush() {
    const { streams } = await open()
    for (let n = Number(process.argv[6]); ; n++) {
      for (const stream of streams) {
        say('try', stream.sessionId, n)
        await stream.append(batchOf(seed, stream.sessionId, n))
        say('ack', stream.sessionId, n)
      }
      say('begin')
      await Promise.all(streams.map((stream) => (stream as StoredStream).core.flush()))
      say('end')
    }
  },
  /** A store from nothing, with one record of each stream. */
  async create() {
    say('begin')
    const { store, streams } = await open()
    for (const stream of streams) {
      say('try', stream.sessionId, 0)
      await stream.append(batchOf(seed, stream.sessionId, 0))
      say('ack', stream.sessionId, 0)
    }
    await store.close()
    say('end')
    process.exit(0)
  },
  async import() {
    const { store } = await open()
    for (let n = Number(process.argv[6]); ; n++) {
      const session = `imported-${n}`
      const records = Array.from({ length: 40 }, (_, i) => batchOf(seed, session, i)).flat()
      say('begin')
      await store.importJsonl([[header(session), ...records].map((line) => `${JSON.stringify(line)}\n`).join('')])
      say('end')
      say('imported', n)
    }
  },
  /** A file that grows by far more records than are written at once. */
  async extend() {
    const { store } = await open()
    const session = `extended-${process.argv[6]}`
    const file = [jsonl(header(session), ...batchOf(seed, session, 0))]
    await store.importJsonl(file)
    for (let n = 0; ; n++) {
      file.push(jsonl(...extensionOf(seed, session, n)))
      say('begin')
      await store.importJsonl(file)
      say('end')
      say('extended', n)
    }
  },
  async delete() {
    const { store } = await open()
    for (let n = Number(process.argv[6]); ; n++) {
      const stream = await store.createStream(header(`short-${n}`))
      await stream.append(batchOf(seed, stream.sessionId, 0))
      say('begin')
      await store.deleteStream(stream.sessionId)
      say('end')
      say('deleted', n)
    }
  },
}

await tasks[task]()
