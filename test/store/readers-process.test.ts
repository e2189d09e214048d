/**
 * Readers of a folder beside a writer in another process: no lock, whole appends, nothing missed.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore } from '../../src/main.js'
import { collect, idsOf } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { tempFolder } from '../support/temp.js'

const BATCH = 7

interface Writer {
  folder: string
  child: ChildProcess
  /** Sends a command, and gives the answer. */
  tell(command: string): Promise<string>
}

const children: ChildProcess[] = []

async function startWriter(): Promise<Writer> {
  const folder = join(tempFolder(), 'store')
  const script = fileURLToPath(new URL('readers-writer.js', import.meta.url))
  const child = spawn(process.execPath, [script, folder, String(BATCH)], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  assert.is((await lines.next()).value, 'open')
  return {
    folder,
    child,
    async tell(command) {
      child.stdin!.write(`${command}\n`)
      const { value } = await lines.next()
      if (typeof value !== 'string') throw new Error(`the writer ended at "${command}"`)
      return value.slice(command.length + 1)
    },
  }
}

function idOf(pos: number): string {
  return `${Math.ceil(pos / BATCH)}.${((pos - 1) % BATCH) + 1}`
}

test('readers that open while a writer writes see whole appends, all of them in order, and take nothing from it', async () => {
  const writer = await startWriter()
  let last = 0
  for (let opening = 0; opening < 8; opening++) {
    const reader = await openStore(writer.folder, { readOnly: true })
    const stream = await reader.stream('s')
    for (let look = 0; look < 6; look++) {
      await stream.get('nobody')
      const { length } = stream
      assert.is(length % BATCH, 0, `${length} records`)
      assert.ok(length >= last, 'it never goes back')
      last = length
      if (length > 0) assert.is((await stream.get(idOf(length)))?.id, idOf(length))
      await new Promise((resolve) => setTimeout(resolve, 15))
    }
    const ids = await idsOf(stream.records())
    assert.equal(
      ids,
      ids.map((_, i) => idOf(i + 1)),
    )
    assert.is(await stream.position(idOf(last)), last === 0 ? undefined : last)
    await reader.close()
  }
  const length = Number(await writer.tell('stop'))
  assert.ok(length > 20 * BATCH, `${length} records written`)
  const reader = await openStore(writer.folder, { readOnly: true })
  assert.is((await reader.stream('s')).length, length)
  assert.is((await reader.verify()).ok, true)
  await reader.close()
  await writer.tell('end').catch(() => undefined)
})

test('CORE-21: readers of another process see an extension by import whole, whenever they open or look', async () => {
  const writer = await startWriter()
  const before = Number(await writer.tell('stop'))
  const reader = await openStore(writer.folder, { readOnly: true })
  const stream = await reader.stream('s')
  const stop = new AbortController()
  const steps: number[] = []
  const following = (async () => {
    for await (const step of stream.follow({ after: before, signal: stop.signal }))
      if ('pos' in step) steps.push(step.pos)
  })()
  let after: number | undefined
  const extending = writer.tell('extend').then((length) => {
    after = Number(length)
  })
  const seen = new Set<number>()
  const look = async (): Promise<void> => {
    seen.add(stream.length)
    seen.add((await collect((await reader.stream('s')).records())).length)
    const fresh = await openStore(writer.folder, { readOnly: true })
    seen.add((await fresh.stream('s')).length)
    await fresh.close()
  }
  while (after === undefined) await look()
  await extending
  await look()
  await look()
  assert.is(after, before + 3_000)
  assert.equal(
    [...seen].sort((a, b) => a - b),
    [before, after],
  )
  const caughtUp = async (): Promise<void> => {
    while (steps.length < 3_000) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await Promise.race([caughtUp(), following])
  assert.equal(
    steps,
    steps.map((_, i) => before + 1 + i),
  )
  stop.abort()
  await following.catch(() => undefined)
  assert.is((await reader.verify()).ok, true)
  await reader.close()
  await writer.tell('end').catch(() => undefined)
})

test('a follower in another process is shown each record once, in order', async () => {
  const writer = await startWriter()
  const reader = await openStore(writer.folder, { readOnly: true })
  const stream = await reader.stream('s')
  const stop = new AbortController()
  let pos = 0
  let length = Number.POSITIVE_INFINITY
  const stopped = new Promise<string>((resolve, reject) => {
    setTimeout(() => writer.tell('stop').then(resolve, reject), 1_500)
  })
  const stopping = stopped.then((answer) => {
    length = Number(answer)
    if (pos === length) stop.abort()
  })
  for await (const item of stream.follow({ signal: stop.signal })) {
    if (!('record' in item)) continue
    pos++
    assert.equal([item.pos, item.record.id], [pos, idOf(pos)])
    if (pos === length) stop.abort()
  }
  await stopping
  assert.is(pos, length)
  assert.ok(pos > 20 * BATCH)
  await reader.close()
  await writer.tell('end').catch(() => undefined)
})

test('a reader needs no index: with the folder gone from under the writer it reads the log', async () => {
  const writer = await startWriter()
  await new Promise((resolve) => setTimeout(resolve, 300))
  const length = Number(await writer.tell('stop'))
  const names = readdirSync(join(writer.folder, 'index')).filter((name) => name !== 'LOCK')
  for (const name of names) rmSync(join(writer.folder, 'index', name))
  const reader = await openStore(writer.folder, { readOnly: true })
  const stream = await reader.stream('s')
  assert.equal([stream.length, (await collect(stream.records())).length], [length, length])
  await reader.close()
  writer.child.kill('SIGKILL')
})

test('a stream that is deleted and made anew by the writer is a new one for the reader', async () => {
  const writer = await startWriter()
  await new Promise((resolve) => setTimeout(resolve, 100))
  await writer.tell('stop')
  const reader = await openStore(writer.folder, { readOnly: true })
  const old = await reader.stream('s')
  assert.is((await old.get('1.1'))?.id, '1.1')
  assert.is(await writer.tell('remake'), 'done')
  await fails('ASR_STREAM_NOT_FOUND', () => old.get('1.1'))
  const anew = await reader.stream('s')
  assert.equal(await idsOf(anew.records()), ['anew'])
  await reader.close()
  await writer.tell('end').catch(() => undefined)
})

test('a killed writer leaves a store that readers read, and the next writer goes on with', async () => {
  const writer = await startWriter()
  await new Promise((resolve) => setTimeout(resolve, 200))
  const gone = new Promise((resolve) => writer.child.once('close', resolve))
  writer.child.kill('SIGKILL')
  await gone
  const reader = await openStore(writer.folder, { readOnly: true })
  const read = await reader.stream('s')
  assert.is(read.length % BATCH, 0)
  const store = await openStore(writer.folder)
  const stream = await store.stream('s')
  assert.is(stream.length, read.length)
  await stream.append({ type: 'message', id: 'next' })
  assert.is((await read.get('next'))?.id, 'next')
  assert.equal((await idsOf(read.records())).at(-1), 'next')
  await reader.close()
  await store.close()
})

test.after(() => {
  for (const child of children) child.kill('SIGKILL')
})

test.run()
