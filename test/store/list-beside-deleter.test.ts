/**
 * The end of one stream is the end of that one: who lists, verifies or reads the others beside a process that deletes goes on.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isAsrError, openStore, type Store } from '../../src/main.js'
import type { StreamStore } from '../../src/store/store.js'
import { collect } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { storageOf } from '../support/place.js'
import { header } from '../support/records.js'
import { tempFolder } from '../support/temp.js'

const LIBRARY = new URL('../../src/main.js', import.meta.url)
const children: ChildProcess[] = []

test.after(() => {
  for (const child of children) child.kill('SIGKILL')
})

async function made(count: number): Promise<string> {
  const folder = join(tempFolder(), 'store')
  const store = await openStore(folder)
  for (let n = 0; n < count; n++) await (await store.createStream(header(`s${n}`))).append({ type: 'message' })
  await store.close()
  return folder
}

async function ids(store: Store): Promise<string[]> {
  return (await collect(store.streams())).map(({ sessionId }) => sessionId)
}

test('a stream that is deleted at any step of the listing is left out, and the others are told', async () => {
  for (const indexed of [true, false]) {
    const folder = await made(3)
    const counted = await openStore(folder, { readOnly: true })
    for (let step = 1, isOver = false; !isOver; step++) {
      const writer = await openStore(folder)
      if (!(await ids(writer)).includes('s1')) await writer.createStream(header('s1'))
      const reader = await openStore(folder, { readOnly: true })
      const { environment } = reader as StreamStore
      if (!indexed) await environment.level.clear()
      let calls = 0
      const storage = storageOf(reader)
      for (const name of ['read', 'size', 'list'] as const) {
        const call = storage[name].bind(storage) as (...args: unknown[]) => unknown
        const counting = async (...args: unknown[]) => {
          if (++calls === step) await writer.deleteStream('s1')
          return call(...args)
        }
        Object.assign(storage, { [name]: counting })
      }
      const told = await ids(reader)
      isOver = calls < step
      assert.ok(told.includes('s0') && told.includes('s2'), told.join())
      await reader.close()
      await writer.close()
    }
    await counted.close()
  }
})

test('a stream that is deleted while a reader opens it is ASR_STREAM_NOT_FOUND', async () => {
  const folder = await made(2)
  for (let step = 1, isOver = false; !isOver; step++) {
    const writer = await openStore(folder)
    if (!(await ids(writer)).includes('s1')) await writer.createStream(header('s1'))
    const reader = await openStore(folder, { readOnly: true })
    const { environment } = reader as StreamStore
    await environment.level.clear()
    let calls = 0
    const storage = storageOf(reader)
    const { read } = storage
    storage.read = async (...args) => {
      if (++calls === step) await writer.deleteStream('s1')
      return read(...args)
    }
    const outcome = await reader.stream('s1').then(
      (stream) => stream.sessionId,
      (error: unknown) => (isAsrError(error) ? error.code : String(error)),
    )
    isOver = calls < step
    assert.match(outcome, isOver ? /^s1$/ : /^(s1|ASR_STREAM_NOT_FOUND)$/)
    await reader.close()
    await writer.close()
  }
})

test('listing and verifying beside a process that makes and deletes streams', async () => {
  const folder = await made(20)
  const code = `import { openStore } from '${LIBRARY}'
    const store = await openStore(process.argv[1])
    console.log('open')
    for (let n = 0; ; n++) {
      const sessionId = 'passing-' + n
      const stream = await store.createStream({ type: 'header', asr: '1', sessionId })
      await stream.append({ type: 'message' })
      await store.deleteStream(sessionId)
      await new Promise((resolve) => setImmediate(resolve))
    }`
  const writer = spawn(process.execPath, ['--input-type=module', '-e', code, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(writer)
  await once(writer.stdout!, 'data')
  const reader = await openStore(folder, { readOnly: true })
  for (let round = 0; round < 30; round++) {
    const there = await ids(reader)
    for (let n = 0; n < 20; n++) assert.ok(there.includes(`s${n}`))
    if (round % 5 === 0) {
      const { streams } = await reader.verify()
      for (const { sessionId, ok } of streams) assert.ok(ok, sessionId)
    }
  }
  await reader.close()
  writer.kill('SIGKILL')
})

test('a handle of a reader says that its stream was deleted', async () => {
  const folder = await made(2)
  const writer = await openStore(folder)
  const reader = await openStore(folder, { readOnly: true })
  const stream = await reader.stream('s1')
  await writer.deleteStream('s1')
  await fails('ASR_STREAM_NOT_FOUND', () => stream.digest())
  assert.equal(await ids(reader), ['s0'])
  await reader.close()
  await writer.close()
})

test.run()
