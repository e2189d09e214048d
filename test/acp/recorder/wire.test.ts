/**
 * The file of frames while the storage takes none: what waits is written where it was to stand, and a gap says what is left out.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createRecorder, type RecorderOptions } from '../../../src/acp/main.js'
import { MemoryStorage } from '../../../src/log/storage/memory-storage.js'
import { memoryLocation, openStore, type StoredRecord } from '../../../src/main.js'
import { sideFile } from '../../../src/record/side-file.js'
import { hasMounts, smallDisk, testWhere } from '../../fault/machine.js'
import { ofType, recordAll, recordsOf, startRecording, Talk, talk } from '../support.js'

/** A disk that has room for so many bytes more: what does not fit is written in part, as a real one does it. */
class SmallStorage extends MemoryStorage {
  room = Infinity
  /** nothing can even be looked at */
  isGone = false

  override append(name: string, bytes: Uint8Array): number {
    if (this.isGone) throw new Error('gone')
    const fitting = Math.min(this.room, bytes.length)
    this.room -= fitting
    const size = super.append(name, bytes.subarray(0, fitting))
    if (fitting < bytes.length) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    return size
  }

  override size(name: string): number | undefined {
    if (this.isGone) throw new Error('gone')
    return super.size(name)
  }

  text(name: string): string {
    return new TextDecoder().decode(this.read(name, 0, super.size(name) ?? 0))
  }
}

interface Line {
  at: string
  frame?: { params?: { update?: { messageId?: string } } }
  gap?: { frames: number; until: string }
}

function linesOf(text: string): Line[] {
  assert.ok(text.endsWith('\n'))
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Each record that names frames names lines that speak of it; how many do. */
function demandPointed(records: readonly StoredRecord[], text: string): number {
  const bytes = new TextEncoder().encode(text)
  const pointing = records.filter(({ native }) => native?.ref !== undefined)
  for (const { messageId, native } of pointing) {
    const lines = linesOf(new TextDecoder().decode(bytes.subarray(native.ref.from, native.ref.to)))
    if (messageId === undefined) continue
    assert.is(lines[0].frame?.params?.update?.messageId, messageId)
    assert.is(lines.at(-1)?.frame?.params?.update?.messageId, messageId)
  }
  return pointing.length
}

test('ASR-723: frames that find no room wait, and stand where they were to stand once there is some', async () => {
  const rooms = fc.array(fc.constantFrom(0, 1, 7, 60, 300, 2_000, Infinity), { minLength: 1, maxLength: 12 })
  const property = fc.asyncProperty(rooms, async (given) => {
    const wireStorage = new SmallStorage()
    const { recorder, store, problems } = await startRecording({ wireStorage })
    for (const frame of talk().frames) recorder.observe(frame)
    for (const [turn, room] of given.entries()) {
      wireStorage.room = room
      for (const frame of new Talk().say(`m${turn}`, 'x'.repeat(100)).state('idle').frames) recorder.observe(frame)
      await recorder.settled()
    }
    wireStorage.room = Infinity
    await recorder.stop()
    const text = wireStorage.text(sideFile('s'))
    assert.is(linesOf(text).length, 2 + 2 * given.length, 'each frame once, and no gap')
    demandPointed(await recordsOf(await store.stream('s')), text)
    const isFull = given.some((room) => room === 0)
    if (isFull) assert.ok(problems.length > 0)
    assert.ok(problems.every(({ code }) => code === 'wire_failed'))
  })
  await fc.assert(property, { numRuns: 60, seed: 9 })
})

test('ASR-723: a record does not name frames that are not kept yet', async () => {
  const wireStorage = new SmallStorage()
  const { recorder, store } = await startRecording({ wireStorage })
  const { frames } = talk().say('a', '1').state('idle').say('b', '2').state('idle')
  for (const frame of frames.slice(0, 4)) recorder.observe(frame)
  await recorder.settled()
  wireStorage.room = 500
  for (const frame of frames.slice(4)) {
    recorder.observe(frame)
    await recorder.settled()
  }
  const records = await recordsOf(await store.stream('s'))
  assert.is(records.length, 4)
  const whole = wireStorage.text(sideFile('s'))
  const kept = whole.slice(0, whole.lastIndexOf('\n') + 1)
  const pointing = demandPointed(records, kept)
  assert.ok(pointing > 0 && pointing < 4, `${pointing} of 4 name their frames`)
  await recorder.stop()
})

test('ASR-723: what came while too much waited is left out, and a line says when and how much', async () => {
  for (const fault of ['full', 'gone'] as const) {
    const wireStorage = new SmallStorage()
    const { recorder, store, problems } = await startRecording({ wireStorage })
    if (fault === 'gone') wireStorage.isGone = true
    for (const frame of talk().frames) recorder.observe(frame)
    await recorder.settled()
    wireStorage.room = 0
    const many = new Talk()
    for (let n = 0; n < 80; n++) many.say(`m${n}`, 'x'.repeat(100_000))
    for (const frame of many.state('idle').frames) {
      recorder.observe(frame)
      await recorder.settled()
    }
    wireStorage.room = Infinity
    wireStorage.isGone = false
    for (const frame of new Talk().say('next', 'x').state('idle').say('last', 'x').state('idle').frames) {
      recorder.observe(frame)
      await recorder.settled()
    }
    await recorder.stop()
    const text = wireStorage.text(sideFile('s'))
    const lines = linesOf(text)
    const gaps = lines.flatMap(({ gap, at }) => (gap === undefined ? [] : [{ ...gap, at }]))
    assert.is(gaps.length, 1)
    const [{ frames, at, until }] = gaps
    assert.is(lines.length - 1 + frames, 2 + 81 + 4, 'none is left out that the gap does not count')
    assert.ok(frames > 0 && !Number.isNaN(Date.parse(at)) && !Number.isNaN(Date.parse(until)))
    const records = await recordsOf(await store.stream('s'))
    assert.is(ofType(records, 'message').length, 82)
    assert.ok(demandPointed(records, text) < records.length)
    assert.is(lines.at(-1)?.gap, undefined, 'and it goes on behind it')
    assert.equal([...new Set(problems.map(({ code }) => code))], ['wire_failed'])
  }
})

test('ASR-723: frames that are not kept to the end are said', async () => {
  for (const options of [{}, { keepWire: 'verbatim' }] as RecorderOptions[]) {
    const wireStorage = new SmallStorage()
    wireStorage.room = 100
    const { problems } = await recordAll(talk().say('m', 'x').state('idle').frames, { ...options, wireStorage })
    const ofSession = problems.filter(({ sessionId }) => sessionId === 's')
    assert.is(ofSession.length, 2)
    assert.match(ofSession[0].message, 'frames can not be kept now')
    assert.match(ofSession[1].message, 'frames were not kept to the end')
  }
})

test('ASR-723: nothing is added to a file that somebody changed meanwhile', async () => {
  const wireStorage = new SmallStorage()
  const { recorder, problems } = await startRecording({ wireStorage })
  for (const frame of talk().say('m', 'x').state('idle').frames) recorder.observe(frame)
  await recorder.settled()
  const name = sideFile('s')
  wireStorage.room = 0
  for (const frame of new Talk().say('n', 'x').state('idle').frames) recorder.observe(frame)
  await recorder.settled()
  wireStorage.room = Infinity
  wireStorage.truncate(name, 10)
  for (const frame of new Talk().say('o', 'x').state('idle').frames) recorder.observe(frame)
  await recorder.stop()
  assert.is(wireStorage.size(name), 10)
  assert.ok(problems.some(({ message }) => message.includes('not kept to the end')))
})

test('frames are written only beside a stream that is there', async () => {
  const location = memoryLocation()
  const store = await openStore(location)
  const refusing = new Proxy(store, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target)
      if (key === 'createStream') return () => Promise.reject(new Error('no room'))
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const recorder = createRecorder(refusing, { wireStorage: location.log })
  for (const frame of talk().say('m', 'x').state('idle').frames) recorder.observe(frame)
  await recorder.stop()
  assert.equal(
    location.log.list('native').map(({ name }) => name),
    ['native/connections.jsonl'],
  )
  await store.close()
})

const onSmallDisk = testWhere(hasMounts, 'mounting one is not allowed; the faulty storage does it everywhere')

onSmallDisk('frames go on after a disk was full', async () => {
  const disk = smallDisk('1m')
  try {
    const store = await openStore(`${disk.folder}/store`)
    const recorder = createRecorder(store)
    for (const frame of talk().say('m', 'x').state('idle').frames) recorder.observe(frame)
    await recorder.settled()
    const ballast = `${disk.folder}/ballast`
    assert.throws(() => writeFileSync(ballast, Buffer.alloc(2_000_000)))
    for (const frame of new Talk().say('n', 'y'.repeat(50_000)).state('idle').frames) recorder.observe(frame)
    await recorder.settled()
    rmSync(ballast)
    for (const frame of new Talk().say('o', 'z').state('idle').frames) recorder.observe(frame)
    await recorder.stop()
    const text = readFileSync(`${disk.folder}/store/${sideFile('s')}`, 'utf8')
    assert.is(linesOf(text).length, 2 + 6)
    const records = await recordsOf(await store.stream('s'))
    assert.equal(
      ofType(records, 'message').map(({ messageId }) => messageId),
      ['m', 'n', 'o'],
    )
    demandPointed(records, text)
    await store.close()
  } finally {
    disk.unmount()
  }
})

test.run()
