/**
 * A13: chunks are handled in parallel, and the text is scrambled.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createRecorder } from '../../src/acp/main.js'
import type { LogStorage } from '../../src/log/storage/storage.js'
import { memoryLocation, openStore, type StoredRecord } from '../../src/main.js'
import { recordsOf, Talk, talk, words } from '../acp/support.js'

/** A log whose appends take their time. */
function slow(log: LogStorage, delay: () => Promise<void>): LogStorage {
  return {
    append: async (name, bytes) => {
      await delay()
      return log.append(name, bytes)
    },
    read: (name, offset, length) => log.read(name, offset, length),
    size: (name) => log.size(name),
    sync: (name) => log.sync(name),
    truncate: (name, size) => log.truncate(name, size),
    rename: (from, to) => log.rename(from, to),
    remove: (name) => log.remove(name),
    list: (folder) => log.list(folder),
    close: () => log.close(),
  }
}

async function slowStore(delay: () => Promise<void>) {
  const { log, index } = memoryLocation()
  return openStore({ log: slow(log, delay), index })
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

test('A13: two sessions, 200 chunks each, over a store with delays of its own: each text is the exact join', async () => {
  let step = 0
  const store = await slowStore(() => wait((step++ * 7) % 6))
  const recorder = createRecorder(store)
  const frames = new Talk().initialize().newSession('a').newSession('b')
  let expected = ''
  for (let n = 0; n < 200; n++) {
    frames.say('a1', `${n},`, 'a').say('a1', `${n};`, 'b')
    if (n % 50 === 49) frames.state('idle', {}, n % 100 === 49 ? 'a' : 'b')
    expected += `${n},`
  }
  for (const frame of frames.frames) recorder.observe(frame)
  await recorder.stop()
  for (const [sessionId, text] of [
    ['a', expected],
    ['b', expected.replaceAll(',', ';')],
  ]) {
    const [message] = await (await store.stream(sessionId)).entity('message', 'a1')
    assert.is(words(message.inForce as StoredRecord), text)
  }
})

test('A13, ASR-701: an update in one go with the answer that names its session is recorded', async () => {
  const store = await slowStore(() => wait(3))
  const recorder = createRecorder(store)
  for (const frame of new Talk().initialize().newSession('s9').say('m', 'first', 's9').frames) recorder.observe(frame)
  await recorder.stop()
  assert.is((await recordsOf(await store.stream('s9')))[0].messageId, 'm')
})

test('A13: 5,000 frames behind a write that hangs are taken at once, and none is lost', async () => {
  let release: () => void = () => {}
  const blocked = new Promise<void>((resolve) => {
    release = resolve
  })
  const store = await slowStore(() => blocked)
  const recorder = createRecorder(store)
  const frames = talk().say('m0', 'x').state('idle')
  for (let n = 1; n <= 2500; n++) frames.say(`m${n}`, 'x').state('idle')
  const start = performance.now()
  for (const frame of frames.frames) recorder.observe(frame)
  assert.ok(performance.now() - start < 2000)
  await wait(50)
  release()
  const { records, problems } = await recorder.stop()
  assert.equal([records, problems], [5002, 0])
})

test.run()
