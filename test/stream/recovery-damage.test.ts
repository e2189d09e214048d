/**
 * Logs with any damage: bytes changed, lost, zeroed or repeated, frames in wrong places (CORE-10): the battery's case 8.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isAsrError, openStore, type Store, type Stream } from '../../src/main.js'
import { readLog } from '../log/independent-reader.js'
import { same } from '../property/json.js'
import { RUNS, settings } from '../property/settings.js'
import {
  endsOf,
  expectPrefix,
  got,
  isTold,
  placeWith,
  placeWithIndex,
  readUntilDamage,
  type Sample,
  salvaged,
  sample,
} from './sample-stream.js'

type Change =
  | { kind: 'flip'; at: number; bit: number }
  | { kind: 'lose' | 'zero'; at: number; size: number }
  | { kind: 'repeat'; at: number; from: number; size: number }
  | { kind: 'cut'; at: number }
  | { kind: 'frame'; at: number; frame: number }

const whole = await sample()
const byte = fc.nat(whole.bytes.length - 1)
const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('flip' as const), at: byte, bit: fc.nat(7) }),
    fc.record({
      kind: fc.constantFrom('lose' as const, 'zero' as const),
      at: byte,
      size: fc.integer({ min: 1, max: 300 }),
    }),
    fc.record({ kind: fc.constant('repeat' as const), at: byte, from: byte, size: fc.integer({ min: 1, max: 300 }) }),
    fc.record({ kind: fc.constant('cut' as const), at: byte }),
    fc.record({ kind: fc.constant('frame' as const), at: fc.nat(30), frame: fc.nat(30) }),
  ),
  { minLength: 1, maxLength: 3 },
)

function changed({ bytes, pieces }: Sample, list: readonly Change[]): Uint8Array {
  const all = [...bytes]
  for (const change of list) {
    if (change.kind === 'flip') all[change.at] ^= 1 << change.bit
    if (change.kind === 'lose') all.splice(change.at, change.size)
    if (change.kind === 'zero') all.fill(0, change.at, Math.min(all.length, change.at + change.size))
    if (change.kind === 'repeat') all.splice(change.at, 0, ...bytes.subarray(change.from, change.from + change.size))
    if (change.kind === 'cut') all.length = Math.min(all.length, change.at)
    if (change.kind === 'frame') {
      const { at, size } = pieces[change.frame % pieces.length]
      all.splice(pieces[change.at % pieces.length].at, 0, ...bytes.subarray(at, at + size))
    }
  }
  return Uint8Array.from(all)
}

/** Whether the bytes are those of a log with fewer appends: then only an index bears witness of the others. */
function isShorterLog(bytes: Uint8Array): boolean {
  const isEnd = endsOf(whole).some(({ at }) => at === bytes.length)
  return isEnd && bytes.every((value, i) => value === whole.bytes[i])
}

/** The stream, when there is one: where there is none, that must be told. */
async function openedStream(store: Store): Promise<Stream | undefined> {
  try {
    return await store.stream('s')
  } catch (error) {
    assert.ok(isAsrError(error, 'ASR_STREAM_NOT_FOUND'), String(error))
    assert.ok(store.notices.length > 0, 'a stream that is gone is told of')
    return undefined
  }
}

async function check(bytes: Uint8Array, withIndex: boolean, acceptLoss: boolean): Promise<void> {
  const location = withIndex ? await placeWithIndex(whole, bytes) : placeWith(whole, bytes)
  const store = await openStore(location, { acceptLoss })
  const stream = await openedStream(store)
  if (stream !== undefined) {
    const { records, stopped } = await readUntilDamage(stream)
    expectPrefix(records, whole.records)
    for (const record of whole.records) {
      const outcome = await got(stream, record.id)
      if (outcome === undefined) assert.ok(store.notices.length > 0, `${record.id} is gone`)
      if (typeof outcome === 'object') assert.ok(same(outcome, record), record.id)
    }
    if (records.length < whole.records.length) assert.ok(stopped !== undefined || store.notices.length > 0)
    const lines = (await salvaged(stream)).slice(1).filter((line) => !/^\{"type":"(gap|head)"/.test(line))
    if (!withIndex && !acceptLoss) {
      // A reader that goes by order and links finds what is in its place; salvage also what is sound elsewhere.
      const inOrder = readLog([{ name: whole.file, bytes }]).records.map(({ line }) => line)
      assert.equal(
        inOrder.filter((line) => !lines.includes(line)),
        [],
      )
      const ids = lines.map((line) => (JSON.parse(line) as { id: string }).id)
      assert.equal(
        ids,
        whole.records.map(({ id }) => id).filter((id) => ids.includes(id)),
      )
      for (const [i, line] of lines.entries()) {
        const record = whole.records.find(({ id }) => id === ids[i])
        assert.ok(record !== undefined && same(JSON.parse(line), record), line)
      }
    }
    if (records.length < whole.records.length) assert.ok(await isTold(store))
  }
  await store.close()
}

test('CORE-10: whatever was done to a log, no wrong record is given, none is lost in silence, and all that is sound is salvaged', () =>
  fc.assert(
    fc.asyncProperty(changes, fc.boolean(), fc.boolean(), async (list, withIndex, acceptLoss) => {
      const bytes = changed(whole, list)
      await check(bytes, withIndex || isShorterLog(bytes), acceptLoss)
    }),
    settings(Math.ceil(RUNS / 2)),
  ))

test('CORE-10: every frame left out, doubled, or moved to the end is noticed', async () => {
  for (const { at, size } of whole.pieces) {
    const frame = whole.bytes.subarray(at, at + size)
    const [before, after] = [whole.bytes.subarray(0, at), whole.bytes.subarray(at + size)]
    for (const parts of [
      [before, after],
      [before, frame, frame, after],
      [before, after, frame],
    ]) {
      const bytes = Uint8Array.from(parts.flatMap((part) => [...part]))
      if (bytes.length === whole.bytes.length && after.length === 0) continue
      const store = await openStore(placeWith(whole, bytes))
      const stream = await openedStream(store)
      if (stream !== undefined) expectPrefix((await readUntilDamage(stream)).records, whole.records)
      const isPrefix = bytes.every((value, i) => value === whole.bytes[i])
      if (!isPrefix) assert.ok(await isTold(store), `the frame at ${at}`)
      await store.close()
    }
  }
})

test.run()
