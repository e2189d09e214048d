/**
 * One bit turned over at every byte of a log (CORE-10): the battery's case 6.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KIND } from '../../src/log/format/frame.js'
import { isAsrError, openStore, type Store } from '../../src/main.js'
import { flipped } from '../log/handmade.js'
import { readLog } from '../log/independent-reader.js'
import {
  expectPrefix,
  got,
  isTold,
  type Piece,
  placeWith,
  placeWithIndex,
  readUntilDamage,
  recordPiece,
  type Sample,
  salvaged,
  sample,
} from './sample-stream.js'

const whole = await sample()
const lines = whole.records.map((record) => (Object.is(record.n, -0) ? record.id : JSON.stringify(record)))

function pieceAt({ pieces }: Sample, at: number): Piece {
  return pieces.findLast((piece) => piece.at <= at)!
}

/** The first record of the last append. */
const lastAppend = whole.pieces.filter(({ end }) => end).at(-2)!.pos + 1

async function allGot(store: Store): Promise<Awaited<ReturnType<typeof got>>[]> {
  const stream = await store.stream('s')
  return Promise.all(whole.records.map(({ id }) => got(stream, id)))
}

test('CORE-10: a bit turned over anywhere gives no wrong record, no phantom, no silent loss, and no other error', async () => {
  for (let at = 0; at < whole.bytes.length; at++) {
    const place = `byte ${at}`
    const location = placeWith(whole, flipped(whole.bytes, at, (at * 5) % 8))
    const store = await openStore(location)
    const stream = await store.stream('s')
    const { records, stopped } = await readUntilDamage(stream)
    expectPrefix(records, whole.records)
    const outcomes = await allGot(store)
    outcomes.forEach((outcome, i) => {
      if (typeof outcome === 'object') assert.equal(outcome, whole.records[i], place)
      else assert.is(outcome, stopped ?? 'an error', `${place}: record ${i + 1}`)
    })
    if (records.length < whole.records.length) assert.ok(stopped !== undefined, place)
    assert.ok(await isTold(store), `${place}: nobody is told`)
    await store.close()
  }
})

test('CORE-10: what is salvaged is every record that an independent reader finds, and nothing else', async () => {
  for (let at = 0; at < whole.bytes.length; at += 3) {
    const bytes = flipped(whole.bytes, at, at % 8)
    const store = await openStore(placeWith(whole, bytes))
    const [first, ...all] = await salvaged(await store.stream('s'))
    const rest = all.filter((line) => !line.startsWith('{"type":"gap"'))
    const read = readLog([{ name: whole.file, bytes }])
    assert.equal(
      rest,
      read.records.map(({ line }) => line),
      `byte ${at}`,
    )
    const hit = pieceAt(whole, at)
    assert.is(read.tailWasChanged, hit === whole.pieces.at(-1), `byte ${at}`)
    if (hit.kind === KIND.record) {
      const isLast = hit.pos === whole.records.length
      assert.is(rest.length, isLast ? lastAppend - 1 : whole.records.length - 1)
    }
    assert.is((JSON.parse(first) as { sessionId: string }).sessionId, 's')
    for (const line of rest) assert.ok(lines.includes(line) || line.includes('-0'), line)
    await store.close()
  }
})

test('CORE-10: beside a sound index a bit turned over costs the record it is in, and says so at that record', async () => {
  for (let at = 0; at < recordPiece(whole, whole.records.length).at; at += 2) {
    const hit = pieceAt(whole, at)
    const store = await openStore(await placeWithIndex(whole, flipped(whole.bytes, at, at % 8)))
    const outcomes = await allGot(store)
    outcomes.forEach((outcome, i) => {
      const isHit = hit.kind === KIND.record && hit.pos === i + 1
      if (isHit)
        assert.ok(
          outcome === 'ASR_CORRUPT' || outcome === 'ASR_LOST_TAIL',
          `byte ${at}, record ${i + 1}: ${JSON.stringify(outcome)}`,
        )
      else assert.equal(outcome, whole.records[i], `byte ${at}, record ${i + 1}`)
    })
    if (hit.kind === KIND.header) {
      const error = await (await store.stream('s')).header().catch((reason: unknown) => reason)
      assert.ok(isAsrError(error, 'ASR_CORRUPT'))
    }
    await store.close()
  }
})

test('CORE-10: with the loss accepted the stream ends where it is sound, and goes on from there', async () => {
  for (let at = 0; at < whole.bytes.length; at += 11) {
    const location = placeWith(whole, flipped(whole.bytes, at, 2))
    const accepting = await openStore(location, { acceptLoss: true })
    const stream = await accepting.stream('s').catch((error: unknown) => {
      if (!isAsrError(error, 'ASR_STREAM_NOT_FOUND')) throw error
      return undefined
    })
    assert.ok(accepting.notices.length > 0)
    if (stream === undefined) continue
    const { records, stopped } = await readUntilDamage(stream)
    assert.is(stopped, undefined)
    expectPrefix(records, whole.records)
    await stream.append({ type: 'x', id: 'next' })
    await accepting.close()
    const later = await openStore(location)
    const again = await readUntilDamage(await later.stream('s'))
    assert.equal([again.stopped, again.records.length], [undefined, records.length + 1])
    await later.close()
  }
})

test.run()
