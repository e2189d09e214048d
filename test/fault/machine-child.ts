/**
 * A process in adverse surroundings: `node machine-child.js <task> <folder>`. It says what came of it, a line of JSON.
 */
import { closeSync, openSync, readdirSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isAsrError, openStore, type Store } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { header } from '../support/records.js'

export interface Outcome {
  /** `ok`, or the code of an error of ours */
  open: string
  append?: string
  /** acknowledged appends */
  acknowledged: number
  later?: string
  close?: string
  tookMs: number
}

const [task, folder, number] = process.argv.slice(2)

async function codeOf(call: () => Promise<unknown>): Promise<string> {
  try {
    await call()
    return 'ok'
  } catch (error) {
    return isAsrError(error) ? error.code : `raw: ${error}`
  }
}

async function attempt(): Promise<Outcome> {
  const started = performance.now()
  let store: Store | undefined
  const outcome: Outcome = { open: '', acknowledged: 0, tookMs: 0 }
  outcome.open = await codeOf(async () => {
    store = await openStore(folder)
  })
  outcome.tookMs = performance.now() - started
  if (store === undefined) return outcome
  const opened = store
  outcome.append = await codeOf(async () => {
    const stream = await opened.stream('s').catch((error: unknown) => {
      if (isAsrError(error, 'ASR_STREAM_NOT_FOUND')) return opened.createStream(header('s'))
      throw error
    })
    for (let n = 0; n < 20; n++) {
      await stream.append({ type: 'message', id: `${process.pid}.${n}` })
      outcome.acknowledged++
    }
  })
  outcome.later = await codeOf(async () => (await opened.stream('s')).append({ type: 'message' }))
  outcome.close = await codeOf(() => opened.close())
  return outcome
}

/** Leaves the process so many descriptors. */
function takeAllBut(left: number): number[] {
  const taken: number[] = []
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch {
    for (const fd of taken.splice(0, left)) closeSync(fd)
  }
  return taken
}

/** Has the engine load all that it loads: with the first folder that is opened. */
async function allLoaded(): Promise<void> {
  await (await openStore(`${folder}.before`)).close()
}

const tasks: { [name: string]: () => Promise<unknown> } = {
  attempt,
  /** As somebody without rights. */
  nobody: () => {
    process.setgid?.(65_534)
    process.setuid?.(65_534)
    return attempt()
  },
  /** With so many descriptors left. */
  few: async () => {
    await allLoaded()
    const taken = takeAllBut(Number(number))
    const outcome = await attempt()
    for (const fd of taken) closeSync(fd)
    return outcome
  },
  /** At once, when not all of what opens folders may be loaded yet; and then with all descriptors. */
  soon: async () => {
    const taken = takeAllBut(Number(number))
    const open = await codeOf(async () => (await openStore(folder)).close())
    for (const fd of taken) closeSync(fd)
    return { open, later: await codeOf(async () => (await openStore(folder)).close()) }
  },
  /** Many streams at a time, with few descriptors. */
  many: async () => {
    await allLoaded()
    takeAllBut(Number(number))
    const store = await openStore(folder)
    const created = await codeOf(async () => {
      for (let n = 0; n < 400; n++) await (await store.createStream(header(`many-${n}`))).append({ type: 'message' })
    })
    const listed = await codeOf(() => collect(store.streams()))
    return { created, listed, closed: await codeOf(() => store.close()) }
  },
  read: async () => readAll(await openStore(folder)),
  /** Reads while somebody else takes the tables of the index away. */
  shrunk: async () => {
    const store = await openStore(folder)
    await store.stream('s')
    const index = join(folder, 'index')
    for (const name of readdirSync(index)) if (name.endsWith('.ldb')) truncateSync(join(index, name))
    return readAll(store)
  },
}

/** Everything, by ids too. */
async function readAll(store: Store): Promise<{ records: number }> {
  const stream = await store.stream('s')
  const records = await collect(stream.records())
  for (const { id } of records) await stream.get(id)
  return { records: records.length }
}

writeSync(1, `${JSON.stringify(await tasks[task]())}\n`)
process.exit(0)
