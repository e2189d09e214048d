/**
 * A log that ends too early (CORE-10): the battery's case 5, and what goes on behind the cut.
 */
import { readdirSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AsrRecord, memoryLocation, openStore } from '../../src/main.js'
import { readLog } from '../log/independent-reader.js'
import { collect, idsOf } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { onlyLogFile, overwrite } from '../support/logs.js'
import { header, message } from '../support/records.js'
import { tempFolder } from '../support/temp.js'
import {
  codesOf,
  endsOf,
  expectPrefix,
  got,
  piecesOf,
  placeWith,
  placeWithIndex,
  putAside,
  recordPiece,
  salvaged,
  sample,
} from './sample-stream.js'

const whole = await sample()
const HEADER_END = endsOf(whole)[0].at

const joined = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]))

test('CORE-10: a log cut at any byte keeps its whole appends, and puts aside and tells what is left of the next', async () => {
  const ends = endsOf(whole)
  for (let size = HEADER_END; size <= whole.bytes.length; size++) {
    const location = placeWith(whole, whole.bytes.subarray(0, size))
    const store = await openStore(location)
    const stream = await store.stream('s')
    const { at, records } = ends.findLast((end) => end.at <= size)!
    assert.is(stream.length, records, `cut at ${size}`)
    assert.equal(await collect(stream.records()), whole.records.slice(0, records))
    assert.equal(codesOf(store.notices), at === size ? [] : ['torn_tail'])
    assert.equal(putAside(location.log), whole.bytes.slice(at, size))
    await stream.append(message('next'))
    await store.close()
    const again = await openStore({ ...memoryLocation(), log: location.log })
    const reopened = await again.stream('s')
    assert.equal(await idsOf(reopened.records()), [...whole.records.slice(0, records).map(({ id }) => id), 'next'])
    assert.equal(again.notices, [], `cut at ${size}, and gone on`)
  }
})

test('CORE-10: a stream whose making was not finished is none, can be made, and what there was of it is told', async () => {
  for (let size = 1; size < HEADER_END; size += 7) {
    const location = placeWith(whole, whole.bytes.subarray(0, size))
    const store = await openStore(location)
    await fails('ASR_STREAM_NOT_FOUND', () => store.stream('s'))
    assert.equal(codesOf(store.notices), ['unfinished_stream'])
    const stream = await store.createStream(header())
    await stream.append(message('m1'))
    await store.close()
    const again = await openStore({ ...memoryLocation(), log: location.log })
    assert.is((await again.stream('s')).length, 1)
  }
})

test('CORE-10: a stream whose header can not be read is not deleted for it', async () => {
  const headerOnly = whole.bytes.slice(0, HEADER_END)
  headerOnly[HEADER_END - 3] ^= 1
  const renamed = whole.file.replace(/-[0-9a-f]{16}-/, '-0123456789abcdef-')
  for (const [file, bytes] of [
    [whole.file, headerOnly],
    [renamed, whole.bytes],
  ] as const) {
    const location = placeWith({ ...whole, file }, bytes)
    const store = await openStore(location)
    const ask = async () => (await store.stream('s')).digest()
    const code = await ask().then(
      () => 'none',
      (error: { code: string }) => error.code,
    )
    assert.ok(code === 'ASR_CORRUPT' || (code === 'ASR_STREAM_NOT_FOUND' && store.notices.length > 0), code)
    await store.close()
    const kept = location.log.list('streams').reduce((sum, { size }) => sum + size, 0)
    assert.is(kept, bytes.length, 'every byte is still there')
  }
})

test('CORE-10: a log that ends before what its index has seen is ASR_LOST_TAIL wherever it was cut, until the loss is accepted', async () => {
  const ends = endsOf(whole)
  for (let size = HEADER_END; size < whole.bytes.length; size += 13) {
    const copy = await sample()
    copy.location.log.truncate(copy.file, Math.min(size, copy.bytes.length - 1))
    const { records } = endsOf(copy).findLast((end) => end.at <= Math.min(size, copy.bytes.length - 1))!
    const store = await openStore(copy.location)
    const stream = await store.stream('s')
    for (const ask of [() => stream.append(message('x')), () => stream.digest(), () => collect(stream.records())]) {
      const error = await fails('ASR_LOST_TAIL', ask)
      assert.equal([error.sessionId, error.pos], ['s', records + 1])
    }
    assert.is((await store.verify()).ok, false)
    const ids = copy.records.map(({ id }) => id)
    for (const [i, id] of ids.entries())
      assert.equal(await got(stream, id), i < records ? copy.records[i] : 'ASR_LOST_TAIL')
    const lines = await salvaged(stream)
    assert.is(lines.length, 1 + records + 1)
    assert.match(lines.at(-1) as string, `"from":${records + 1},"to":${copy.records.length},`)
    await store.close()

    const accepting = await openStore(copy.location, { acceptLoss: true })
    const accepted = await accepting.stream('s')
    assert.equal(await collect(accepted.records()), copy.records.slice(0, records))
    assert.ok(accepting.notices.length > 0)
    await accepted.append(message('next'))
    await accepting.close()
    const later = await openStore(copy.location)
    assert.is((await later.stream('s')).length, records + 1)
    assert.is((await later.verify()).ok, true)
    await later.close()
  }
  assert.ok(ends.length > 5)
})

test('CORE-10: shapes of an append that was cut off are not taken for known', async () => {
  const shaped = (n: number): AsrRecord => ({ type: 'x', key: n, other: n })
  const one = await sample([[message('m1')], [shaped(1), shaped(2), shaped(3)]])
  const { log } = placeWith(one, one.bytes.subarray(0, one.bytes.length - 2))
  const store = await openStore({ ...memoryLocation(), log })
  const stream = await store.stream('s')
  assert.is(stream.length, 1)
  for (let n = 0; n < 3; n++) await stream.append([{ type: 'y', third: n }, shaped(n)])
  const stored = await collect(stream.records())
  await store.close()
  const again = await openStore({ ...memoryLocation(), log })
  assert.equal(await collect((await again.stream('s')).records()), stored)
  assert.is((await again.verify()).ok, true)
})

test('CORE-10: damage in a promised append is not called torn because an unfinished one follows', async () => {
  const one = await sample([[message('m1')], [message('m2')], [message('m3'), message('m4')]])
  const bytes = one.bytes.slice(0, one.bytes.length - 4)
  bytes[recordPiece(one, 2).at + 60] ^= 1
  const location = placeWith(one, bytes)
  const store = await openStore(location)
  const stream = await store.stream('s')
  const error = await fails('ASR_CORRUPT', () => stream.get('m2'))
  assert.is(error.pos, 2)
  await fails('ASR_CORRUPT', () => collect(stream.records()))
  assert.equal((await stream.get('m1'))?.id, 'm1')
  await store.close()
  assert.equal((await onlyLogFile(location.log)).bytes, bytes, 'nothing is cut')
})

for (const [place, within] of [
  ['head', 10],
  ['body', 60],
] as const) {
  test(`CORE-10: a bit turned over in the last record’s ${place}, of a stream that was closed, is not taken for a torn tail`, async () => {
    const one = await sample([[message('m1')], [message('m2')], [message('m3')]])
    const bytes = one.bytes.slice()
    bytes[recordPiece(one, 3).at + within] ^= 1
    const location = await placeWithIndex(one, bytes)
    const store = await openStore(location)
    const stream = await store.stream('s')
    const outcome = await got(stream, 'm3')
    assert.ok(outcome === 'ASR_CORRUPT' || outcome === 'ASR_LOST_TAIL', `m3 is ${JSON.stringify(outcome)}`)
    assert.equal((await stream.get('m1'))?.id, 'm1')
    await store.close()
    assert.is((await onlyLogFile(location.log)).bytes.length, bytes.length, 'nothing is cut')
  })
}

test('CORE-10: a reader repairs nothing: it sees the whole appends, and the files stay as they are', async () => {
  for (let size = HEADER_END; size < whole.bytes.length; size += 29) {
    const location = placeWith(whole, whole.bytes.subarray(0, size))
    const reader = await openStore(location, { readOnly: true })
    const stream = await reader.stream('s')
    const { records } = endsOf(whole).findLast((end) => end.at <= size)!
    assert.is(stream.length, records)
    expectPrefix(await collect(stream.records()), whole.records)
    await reader.close()
    assert.equal(location.log.list('streams'), [{ name: whole.file, size }])
  }
  const half = placeWith(whole, whole.bytes.subarray(0, HEADER_END - 1))
  await fails('ASR_STREAM_NOT_FOUND', async () => (await openStore(half, { readOnly: true })).stream('s'))
  assert.is(half.log.list('streams').length, 1)
})

test('CORE-10: what was put aside is not overwritten by what is put aside later', async () => {
  const location = placeWith(whole, whole.bytes.subarray(0, whole.bytes.length - 3))
  const cuts = new Set<string>()
  for (let n = 0; n < 3; n++) {
    const store = await openStore({ ...memoryLocation(), log: location.log })
    await store.stream('s')
    await store.close()
    for (const { name } of location.log.list('streams')) if (name.includes('.cut-')) cuts.add(name)
    const { name, bytes } = await onlyLogFile(location.log)
    await overwrite(location.log, name, joined(bytes, Uint8Array.of(1, 2, 3)))
  }
  assert.is(cuts.size, 3)
  assert.is(location.log.list('streams').filter(({ name }) => cuts.has(name)).length, 3)
})

test('CORE-10: in a folder, too, a log cut anywhere in its last append is cut there and the rest is kept in a file', async () => {
  const folder = tempFolder()
  const store = await openStore(folder)
  const stream = await store.createStream(header())
  for (let n = 1; n <= 3; n++) await stream.append([message(`a${n}`), message(`b${n}`)])
  await store.close()
  const logs = join(folder, 'streams')
  const [file] = readdirSync(logs)
  const bytes = new Uint8Array(readFileSync(join(logs, file)))
  const [from, to] = piecesOf(file, bytes)
    .filter(({ end }) => end)
    .slice(-2)
    .map(({ at, size }) => at + size)
  assert.is(to, bytes.length)
  for (const size of [to - 1, from + 60, from + 1]) {
    truncateSync(join(logs, file), size)
    const losing = await openStore(folder)
    await fails('ASR_LOST_TAIL', async () => (await losing.stream('s')).digest())
    await losing.close()
    assert.equal(readdirSync(logs), [file])
  }
  // A reader who accepts the loss reads on, and repairs nothing.
  const reading = await openStore(folder, { readOnly: true, acceptLoss: true })
  const read = await reading.stream('s')
  assert.equal(await idsOf(read.records()), ['a1', 'b1', 'a2', 'b2'])
  assert.equal([(await read.heads())[0].recordId, (await read.contextView()).length], ['b2', 4])
  await reading.close()
  assert.equal(readdirSync(logs), [file])
  const accepting = await openStore(folder, { acceptLoss: true })
  assert.equal(await idsOf((await accepting.stream('s')).records()), ['a1', 'b1', 'a2', 'b2'])
  await accepting.close()
  const aside = readdirSync(logs).filter((name) => name.startsWith(`${file}.cut-`))
  assert.equal(aside, [`${file}.cut-${from}`])
  assert.equal(new Uint8Array(readFileSync(join(logs, aside[0]))), bytes.slice(from, from + 1))
  assert.is(statSync(join(logs, file)).size, from)
})

test('an independent reader of the page says the same of each cut', async () => {
  for (let size = HEADER_END; size < whole.bytes.length; size += 17) {
    const read = readLog([{ name: whole.file, bytes: whole.bytes.slice(0, size) }])
    const { at, records } = endsOf(whole).findLast((end) => end.at <= size)!
    assert.equal(
      [read.records.length, read.tornBytes, read.damage, read.tailWasChanged],
      [records, size - at, [], false],
    )
  }
})

test.run()
