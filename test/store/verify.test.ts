/**
 * What `verify` says of a store: nothing of a sound one, and each kind of damage by its code (CORE-10).
 */

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { logRows } from '../../src/index/rows.js'
import { KIND } from '../../src/log/format/frame.js'
import { type Diagnostic, memoryLocation, openStore, type Store, type VerifyReport } from '../../src/main.js'
import type { StoredStream } from '../../src/stream/stream.js'
import { flipped, headerEntry, recordEntry } from '../log/handmade.js'
import { placeWith, placeWithIndex, recordPiece, sample } from '../stream/sample-stream.js'
import { fails } from '../support/fails.js'
import { onlyLogFile } from '../support/logs.js'
import { storageOf } from '../support/place.js'
import { compaction, header, jsonl, message, tombstone } from '../support/records.js'
import type { MemoryLocation } from '../support/stores.js'

const whole = await sample()

async function verified(location: MemoryLocation): Promise<VerifyReport> {
  const store = await openStore(location)
  const report = await store.verify()
  await store.close()
  return report
}

/** `<severity> <code> <record>` of each problem. */
const said = (problems: readonly Diagnostic[]) =>
  problems.map(({ severity, code, recordId }) => [severity, code, recordId].filter(Boolean).join(' '))

async function problemsOf(store: Store): Promise<string[]> {
  const { ok, streams } = await store.verify()
  const problems = streams.flatMap((stream) => stream.problems)
  assert.is(ok, !problems.some(({ severity }) => severity === 'damage'))
  return said(problems)
}

test('of a sound store there is nothing to say, with its index and without', async () => {
  for (const withIndex of [true, false]) {
    const location = withIndex ? await placeWithIndex(whole, whole.bytes) : placeWith(whole, whole.bytes)
    const report = await verified(location)
    assert.equal(report, {
      ok: true,
      streams: [{ sessionId: 's', records: whole.records.length, ok: true, problems: [] }],
    })
  }
})

test('of a store in use there is nothing to say at any moment', async () => {
  const location = memoryLocation()
  const store = await openStore(location)
  assert.equal(await store.verify(), { ok: true, streams: [] })
  const stream = await store.createStream(header())
  assert.equal(await problemsOf(store), [], 'a stream without records')
  await stream.append(message('m1'))
  assert.equal(await problemsOf(store), [])
  await stream.reviseHeader({ a: 1 })
  assert.equal(await problemsOf(store), [], 'a header revision')
  await stream.append([{ type: 'session_info', title: 'one' }, message('m2', { supersedes: 'm1' })])
  assert.equal(await problemsOf(store), [])
  await store.close()
  const again = await openStore(location)
  await (await again.stream('s')).reviseHeader({ a: 2 })
  assert.equal(await problemsOf(again), [])
  for (let n = 0; n < 60; n++)
    await (await again.stream('s')).append(Array.from({ length: 100 }, () => ({ type: 'x' })))
  assert.equal(await problemsOf(again), [], 'right behind a flush')
})

test('verifying beside appends that never stop finds nothing, and stops none of them', async () => {
  const store = await openStore(memoryLocation())
  const stream = await store.createStream(header())
  let writing = true
  const appending = (async () => {
    for (let n = 0; writing; n++) {
      await stream.append(Array.from({ length: 50 }, (_, i) => message(`m${n}.${i}`)))
      if (n % 20 === 0) await stream.append({ type: 'session_info', title: `title ${n}` })
      await new Promise((resolve) => setTimeout(resolve, 0))
    }
  })()
  for (let n = 0; n < 8; n++) {
    await new Promise((resolve) => setTimeout(resolve, 30))
    assert.equal(await problemsOf(store), [])
  }
  writing = false
  await appending
  assert.ok(stream.length > 1_000)
  assert.equal(await problemsOf(store), [])
})

test('CORE-10: a bit turned over in any frame is damage, whether its record was read before or not', async () => {
  for (const { at, size, kind, pos } of whole.pieces) {
    for (const place of [at + 4, at + 45, at + size - 1]) {
      const isLast = kind === KIND.record && pos === whole.records.length
      const report = await verified(await placeWithIndex(whole, flipped(whole.bytes, place, 4)))
      const [{ problems, ok }] = report.streams
      assert.is(report.ok, false, `byte ${place}`)
      assert.is(ok, false)
      const damage = problems.filter(({ severity }) => severity === 'damage')
      assert.ok(
        damage.some(({ code }) => code === 'ASR_CORRUPT' || (isLast && code === 'ASR_LOST_TAIL')),
        said(problems).join(),
      )
    }
  }
})

test('CORE-10: a log that ends too early is damage, with the index that knows it', async () => {
  const location = await placeWithIndex(whole, whole.bytes.subarray(0, whole.bytes.length - 1))
  assert.ok(said((await verified(location)).streams[0].problems).includes('damage ASR_LOST_TAIL'))
})

test('CORE-10: a log that is gone, and that the index knows, is damage', async () => {
  const { location, file } = await sample()
  location.log.remove(file)
  const report = await verified(location)
  assert.is(report.ok, false)
  assert.equal(
    report.streams.map(({ sessionId, ok }) => [sessionId, ok]),
    [['s', false]],
  )
  for (const readOnly of [true, false]) {
    const store = await openStore(location, { readOnly })
    assert.equal(await store.verify({ sessionId: 's' }), report, 'asked for by its name, too')
    await fails('ASR_STREAM_NOT_FOUND', () => store.verify({ sessionId: 'nobody' }))
    await store.close()
  }
})

test('CORE-10: a record with sound checks and another content than its hash says is damage, and named', async () => {
  const store = await openStore(memoryLocation())
  const { core } = (await store.createStream(header())) as StoredStream
  const good = recordEntry({ ...message('m1'), seq: 1 }, 1)
  const bad = recordEntry({ ...message('m2'), seq: 2 }, 2, { hash: good.hash })
  await core.log.append([[good, bad]])
  await store.close()
  const storage = storageOf(store)
  const again = await openStore({ ...memoryLocation(), log: storage })
  assert.equal(await problemsOf(again), ['damage ASR_CORRUPT m2'])
})

test('CORE-10: a header with sound checks and another content than its hash says is damage', async () => {
  const store = await openStore(memoryLocation())
  const { core } = (await store.createStream(header())) as StoredStream
  await core.log.append([[headerEntry('s', 0, { hash: 1 })].map((entry) => ({ ...entry, hash: entry.hash ^ 1n }))])
  await store.close()
  const again = await openStore({ ...memoryLocation(), log: storageOf(store) })
  assert.equal(await problemsOf(again), ['damage ASR_CORRUPT'])
})

test('a row of the index that is not what the log says is damage, and rebuilding mends it', async () => {
  const { location, file } = await sample()
  const incarnation = /-([0-9a-f]{16})-/.exec(file)![1]
  const encodings = { keyEncoding: 'utf8', valueEncoding: 'view' } as const
  const store = await openStore(location)
  await store.stream('s')
  const rows: [string, Uint8Array][] = []
  for await (const [key, bytes] of logRows(location.index, incarnation)) rows.push([key, new Uint8Array(bytes)])
  assert.ok(rows.length >= 6)
  for (const [key, bytes] of rows) {
    await location.index.put(key, flipped(bytes, bytes.length - 1), encodings)
    assert.equal(await problemsOf(store), ['damage index_damaged'], key)
    await store.rebuildIndex()
    assert.equal(await problemsOf(store), [], key)
    await location.index.del(key, encodings)
    assert.equal(await problemsOf(store), ['damage index_damaged'], key)
    await store.rebuildIndex()
  }
  await location.index.put(`${incarnation}/e/000000000009`, Uint8Array.of(1), encodings)
  assert.equal(await problemsOf(store), ['damage index_damaged'], 'a row too many')
})

test('what import said of records that it kept is said again', async () => {
  const store = await openStore(memoryLocation())
  const lines = [
    header(),
    message('m1', { parentId: 'gone' }),
    message('m2', { supersedes: 'gone' }),
    tombstone('t1', 'gone'),
    { type: 'head', id: 'h1', name: 'primary', recordId: null },
    compaction('c1', 'gone'),
  ]
  const report = await store.importJsonl([jsonl(...lines)])
  const imported = report.diagnostics.map(({ code, recordId }) => `kept ${code} ${recordId}`)
  assert.is(imported.length, 5)
  assert.equal((await problemsOf(store)).sort(), imported.sort())
})

test('CORE-18: two revisions of one target on one path are noted', async () => {
  const store = await openStore(memoryLocation())
  const stream = await store.createStream(header())
  await stream.append([message('m1'), message('m2', { supersedes: 'm1' }), message('m3', { supersedes: 'm1' })])
  await stream.append(message('m4', { supersedes: 'm1', parentId: 'm1' }))
  assert.equal(await problemsOf(store), ['note superseded_twice m3'])
})

test('only the stream that is asked for is looked at, and one that is not there is an error', async () => {
  const store = await openStore(memoryLocation())
  for (const session of ['a', 'b']) await (await store.createStream(header(session))).append(message('m1'))
  assert.equal(
    (await store.verify()).streams.map(({ sessionId }) => sessionId),
    ['a', 'b'],
  )
  assert.equal(
    (await store.verify({ sessionId: 'b' })).streams.map(({ sessionId }) => sessionId),
    ['b'],
  )
  await fails('ASR_STREAM_NOT_FOUND', () => store.verify({ sessionId: 'c' }))
})

test('a long look tells how far it is, and ends when it is told to', async () => {
  const store = await openStore(memoryLocation())
  const stream = await store.createStream(header())
  for (let n = 0; n < 40; n++)
    await stream.append(Array.from({ length: 500 }, () => ({ type: 'x', text: 'words '.repeat(20) })))
  const steps: number[] = []
  await store.verify({
    onProgress: ({ done, total, unit }) => {
      assert.equal([total, unit], [20_000, 'records'])
      steps.push(done)
    },
  })
  assert.is(steps.at(-1), 20_000)
  assert.equal(
    steps,
    [...steps].sort((a, b) => a - b),
  )
  assert.ok(steps.length > 1)
  const stop = new AbortController()
  await fails('ASR_ABORTED', () => store.verify({ signal: stop.signal, onProgress: () => stop.abort() }))
  await fails('ASR_ABORTED', () => store.verify({ signal: AbortSignal.abort() }))
  assert.equal(await problemsOf(store), [])
})

test('CORE-10: a damaged record that a title would come from breaks neither the list of streams nor the look at others', async () => {
  const one = await sample([[message('m1')], [{ type: 'session_info', title: 'words' }], [message('m2')]])
  const location = await placeWithIndex(one, flipped(one.bytes, recordPiece(one, 2).at + 60))
  const store = await openStore(location)
  const stream = await store.stream('s')
  await (await store.createStream(header('other'))).append(message('m1'))
  const listed: string[] = []
  for await (const { sessionId } of store.streams()) listed.push(sessionId)
  assert.equal(listed, ['other', 's'])
  const report = await store.verify()
  assert.equal(
    report.streams.map(({ sessionId, ok }) => [sessionId, ok]),
    [
      ['other', true],
      ['s', false],
    ],
  )
  assert.is((await stream.get('m2'))?.id, 'm2')
  await store.close()
})

test('CORE-10: verifying changes nothing on a store that is damaged', async () => {
  const location = placeWith(whole, flipped(whole.bytes, recordPiece(whole, 4).at + 60))
  const store = await openStore(location)
  await store.verify()
  await store.verify()
  await store.close()
  assert.equal((await onlyLogFile(location.log)).bytes, flipped(whole.bytes, recordPiece(whole, 4).at + 60))
})

test('CORE-10: rebuilding the index of a damaged log is refused, names the place, and nothing is written behind it', async () => {
  const location = await placeWithIndex(whole, flipped(whole.bytes, recordPiece(whole, 4).at + 60))
  const store = await openStore(location)
  const stream = await store.stream('s')
  const error = await fails('ASR_CORRUPT', () => store.rebuildIndex())
  assert.is(error.pos, 4)
  await fails('ASR_CORRUPT', () => stream.append(message('new')))
  await fails('ASR_CORRUPT', () => stream.digest())
  assert.equal(await stream.get(whole.records[0].id), whole.records[0])
  await store.close()
  assert.is((await onlyLogFile(location.log)).bytes.length, whole.bytes.length)
  assert.is((await verified(location)).ok, false)
})

test.run()
