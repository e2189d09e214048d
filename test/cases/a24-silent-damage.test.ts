/**
 * A24: values that cannot be decoded, or decode to other values, and nobody is told.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AsrRecord, isAsrError, openStore, type Stream } from '../../src/main.js'
import { collect, linesOf } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { indexOfText, onlyLogFile, overwrite } from '../support/logs.js'
import { header, message } from '../support/records.js'
import { openMemory, reopened, streamOf } from '../support/stores.js'

const SHAPES = 40
const RECORDS = 60

function shaped(prefix: string): AsrRecord[] {
  return Array.from({ length: SHAPES }, (_, index) => ({
    type: 'x',
    seq: index + 1,
    id: `${prefix}${index}`,
    [`${prefix}-key-${index}`]: { [`inner-${index}`]: index, role: 'user', text: 'x' },
  }))
}

test('A24, CORE-7: records of many shapes are read by a process that wrote none of them', async () => {
  const records = [...shaped('a'), ...shaped('b').map((record, index) => ({ ...record, seq: SHAPES + index + 1 }))]
  const memory = await streamOf(...records)
  const { stream } = await reopened(memory)
  assert.equal(await collect(stream.records()), records)
  for (const record of records) assert.equal(await stream.get(record.id!), record)
})

test('A24, CORE-7: two streams that meet new shapes at the same time do not mix them up', async () => {
  const { location, store } = await openMemory()
  const one = await store.createStream(header('one'))
  const two = await store.createStream(header('two'))
  for (let n = 0; n < SHAPES; n++) {
    await Promise.all([one.append(shaped('one')[n]), two.append(shaped('two')[n])])
  }
  await store.close()
  const again = (await openMemory(location)).store
  assert.equal(await collect((await again.stream('one')).records()), shaped('one'))
  assert.equal(await collect((await again.stream('two')).records()), shaped('two'))
})

const marker = (n: number) => `payload-${String(n).padStart(4, '0')}`
const marked = Array.from({ length: RECORDS }, (_, index) =>
  message(`m${index + 1}`, { seq: index + 1, mark: marker(index + 1) }),
)

/** A closed store whose log was changed at a record's own words. */
async function damaged(n: number, change: (bytes: Uint8Array, at: number) => Uint8Array) {
  const { location, store } = await streamOf(...marked)
  await store.close()
  const { name, bytes } = await onlyLogFile(location.log)
  await overwrite(location.log, name, change(bytes, indexOfText(bytes, marker(n))))
  return location
}

const flipped = (bytes: Uint8Array, at: number) => bytes.with(at, bytes[at] ^ 1)
const without = (bytes: Uint8Array, at: number) => new Uint8Array([...bytes.subarray(0, at), ...bytes.subarray(at + 1)])
const longer = (bytes: Uint8Array, at: number) => new Uint8Array([...bytes.subarray(0, at), 88, ...bytes.subarray(at)])

/** Every record as it was written, or an error with its place: what is returned and what fails is all there is. */
async function readAll(stream: Stream): Promise<{ returned: number; failed: number[] }> {
  let returned = 0
  const failed: number[] = []
  for (const record of marked) {
    try {
      assert.equal(await stream.get(record.id!), record)
      returned++
    } catch (error) {
      if (!isAsrError(error, 'ASR_CORRUPT') && !isAsrError(error, 'ASR_LOST_TAIL')) throw error
      assert.is(error.sessionId, 's')
      failed.push(error.pos!)
    }
  }
  return { returned, failed }
}

/** The lines that are still there, each exactly as it was. */
async function salvaged(stream: Stream): Promise<number> {
  const whole = new Set(marked.map((record) => JSON.stringify(record)))
  const all = (await linesOf(stream.exportJsonl({ salvage: true }))).slice(1)
  const lines = all.filter((line) => !line.startsWith('{"type":"gap","reason":"damaged"'))
  assert.ok(lines.length < all.length, 'what is missing is said')
  assert.equal(
    lines.filter((line) => !whole.has(line)),
    [],
  )
  return lines.length
}

test('A24, CORE-10: a changed byte costs its record, with its place, and no other', async () => {
  const store = await openStore(await damaged(30, flipped))
  const stream = await store.stream('s')
  assert.equal(await readAll(stream), { returned: RECORDS - 1, failed: [30] })
  for (const read of [() => collect(stream.records()), () => linesOf(stream.exportJsonl())]) {
    const error = await fails('ASR_CORRUPT', read)
    assert.equal([error.sessionId, error.pos], ['s', 30])
  }
  assert.is(await salvaged(stream), RECORDS - 1)
  const report = await store.verify()
  assert.is(report.ok, false)
  assert.ok(report.streams[0].problems.some(({ severity }) => severity === 'damage'))
  await store.close()
})

for (const [name, change] of [
  ['lost', without],
  ['too many', longer],
] as const) {
  test(`A24, CORE-10: with a byte ${name} nothing wrong is returned, and what is intact can be had`, async () => {
    const store = await openStore(await damaged(30, change))
    const stream = await store.stream('s')
    const { returned, failed } = await readAll(stream)
    assert.is(returned + failed.length, RECORDS)
    assert.is(returned >= 29, true, 'what stands before it is read')
    assert.is(failed[0], 30)
    assert.ok((await salvaged(stream)) >= RECORDS - 2, 'salvage finds its way behind it')
    assert.is((await store.verify()).ok, false)
    await store.close()
  })
}

test.run()
