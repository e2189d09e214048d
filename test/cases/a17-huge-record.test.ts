/**
 * A17: one huge record, or thousands off the path, and a session of a few messages cannot be opened any more.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore } from '../../src/main.js'
import { collect, idsOf } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { countingLog, onlyLogFile } from '../support/logs.js'
import { header, message, note, result, text } from '../support/records.js'
import { type MemoryStore, openMemory, reopened, streamOf } from '../support/stores.js'

const MIB = 2 ** 20
const RECORD_BYTES_MAX = 64 * MIB

/** The store opened again, with a count of what is read from its log. */
async function watched({ location, store }: MemoryStore) {
  await store.close()
  const log = countingLog(location.log)
  const { bytes } = await onlyLogFile(log)
  log.bytesRead = 0
  return { log, size: bytes.length, store: await openStore({ log, index: location.index }) }
}

/** Text that deflate cannot make much shorter. */
function noise(bytes: number): string {
  let state = 1
  const part = Array.from({ length: MIB / 6 }, () => {
    state = (state * 48271) % 2147483647
    return state.toString(36).padStart(6, '0')
  }).join('')
  return Array.from({ length: Math.ceil(bytes / part.length) }, (_, index) => `${index}${part}`).join('')
}

test('A17: listing, heads and the view do not read a huge body that they do not show', async () => {
  const small = Array.from({ length: 17 }, (_, index) => message(`m${index}`))
  const huge = result('huge', 'k1', { content: text(noise(16 * MIB)), parentId: 'm0', head: 'side' })
  const { log, size, store } = await watched(await streamOf(...small, huge, message('after', { head: 'side' })))
  assert.ok(size > 4 * MIB)
  const [info] = await collect(store.streams())
  const stream = await store.stream('s')
  const heads = await stream.heads()
  const view = await stream.contextView()
  assert.equal([info.records, heads.length, view.length], [19, 2, 17])
  assert.ok(log.bytesRead < MIB / 8, `${log.bytesRead} bytes read`)
})

test('A17: the view of fourteen messages does not read 35,000 records beside its path', async () => {
  const memory = await streamOf(message('m0'))
  const beside = (n: number) => note(`p${n}`, { parentId: 'm0', progress: 'x'.repeat(100) })
  for (let n = 1; n < 14; n++) await memory.stream.append(message(`m${n}`))
  for (let n = 0; n < 35_000; n += 1000) {
    await memory.stream.append(Array.from({ length: 1000 }, (_, index) => beside(n + index)))
  }
  const { log, size, store } = await watched(memory)
  const view = await (await store.stream('s')).contextView()
  assert.equal(
    await idsOf(view.entries()),
    Array.from({ length: 14 }, (_, index) => `m${index}`),
  )
  assert.ok(log.bytesRead < size / 10, `${log.bytesRead} of ${size} bytes read`)
})

test('A17, CORE-7: a message of 20,000 blocks comes back', async () => {
  const content = Array.from({ length: 20_000 }, (_, index) => ({ type: 'text', text: `block ${index}` }))
  const { stream } = await reopened(await streamOf(message('m1', { content })))
  assert.equal((await stream.get('m1'))?.content, content)
})

/** A record whose JSON text has this many bytes. */
function recordOf(bytes: number) {
  const record = { type: 'tool_result', seq: 1, id: 'r1', text: '' }
  record.text = 'x'.repeat(bytes - JSON.stringify(record).length)
  return record
}

test('A17, CORE-7: a record of 64 MiB is stored, one byte more is refused before anything is written', async () => {
  const { store, location } = await openMemory()
  const stream = await store.createStream(header())
  const { bytes } = await onlyLogFile(location.log)
  await fails('ASR_TOO_LARGE', () => stream.append(recordOf(RECORD_BYTES_MAX + 1)))
  assert.is(stream.length, 0)
  assert.is((await onlyLogFile(location.log)).bytes.length, bytes.length)
  await stream.append(recordOf(RECORD_BYTES_MAX))
  assert.is((await stream.get('r1'))?.text.length, recordOf(RECORD_BYTES_MAX).text.length)
  await store.close()
})

test('A17, CORE-7: 512 levels inside a record are stored, one more is refused', async () => {
  const { stream } = await streamOf()
  const nested = (levels: number) => ({
    type: 'x',
    id: 'deep',
    nested: JSON.parse('['.repeat(levels) + ']'.repeat(levels)),
  })
  await fails('ASR_TOO_DEEP', () => stream.append(nested(513)))
  await fails('ASR_TOO_DEEP', () => stream.append(nested(5000)))
  assert.is(stream.length, 0)
  await stream.append(nested(512))
  assert.is(JSON.stringify((await stream.get('deep'))?.nested), JSON.stringify(nested(512).nested))
})

test.run()
