/**
 * What a scan makes of bytes that are not as they were written.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { check32 } from '../../src/base/hash.js'
import { saltOf, segmentOf } from '../../src/log/files/segment.js'
import { FLAG_END, FRAME_HEAD_BYTES, type Frame, type FrameHead, KIND, writeHead } from '../../src/log/format/frame.js'
import {
  brief,
  bytesOfSegment,
  flipped,
  found,
  framesOf,
  type HandmadeLog,
  INCARNATION,
  inNewSegment,
  logOf,
  type Placed,
  recordEntry,
  replace,
  scanAll,
} from './handmade.js'

const SALT = saltOf({ name: '', incarnation: INCARNATION })

const value = (n: number) => ({ type: 'x', text: `words ${n}` })
const values = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => value(from + i))

interface Sample extends HandmadeLog {
  file: string
  bytes: Uint8Array
  frames: Placed[]
  /** the frame of a record */
  record(pos: number): Placed
}

async function sample(...appends: { [field: string]: unknown }[][]): Promise<Sample> {
  const { storage, log } = await logOf(...appends)
  const [{ file }] = log.segments
  const bytes = bytesOfSegment(storage, log.segments[0])
  const frames = framesOf(bytes)
  const record = (pos: number) => frames.find((frame) => frame.kind === KIND.record && frame.pos === pos)!
  return { storage, log, file, bytes, frames, record }
}

/** What a scan says of the sample with other bytes in its file. */
async function scanned({ storage, file }: Sample, bytes: Uint8Array) {
  replace(storage, file, bytes)
  const log = await found(storage)
  const { items, end } = await scanAll(log)
  return { said: brief(items), items, pos: end.point.pos, tornBytes: end.tornBytes, log }
}

const joined = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]))

test('a sound log is read to its end, in order, with the point behind it', async () => {
  const one = await sample(values(1, 2), values(3, 3), values(4, 6))
  const { said, items, tornBytes, log } = await scanned(one, one.bytes)
  assert.equal(said, ['h', '1', '2', '3', '4', '5', '6'])
  assert.is(tornBytes, 0)
  const last = one.frames.at(-1)!
  const { end } = await scanAll(log)
  assert.equal(end.point, { location: one.bytes.length, last: last.at, pos: 6, chain: last.chain, check: last.check })
  assert.equal(
    items.map(({ at }) => at),
    one.frames.map(({ at }) => at),
  )
})

test('a scan from any point between two appends goes on from there', async () => {
  const one = await sample(values(1, 2), values(3, 3), values(4, 6))
  const log = await found(one.storage)
  for (const frame of one.frames.filter(({ flags }) => (flags & FLAG_END) !== 0)) {
    const point = {
      location: frame.at + frame.size,
      last: frame.at,
      pos: frame.pos,
      chain: frame.chain,
      check: frame.check,
    }
    const { items, end } = await scanAll(log, point)
    assert.equal(brief(items).map(Number), [1, 2, 3, 4, 5, 6].slice(frame.pos))
    assert.is(end.tornBytes, 0)
  }
})

test('CORE-10: a log cut at any byte gives whole appends, and calls the rest torn, not damaged', async () => {
  const one = await sample(values(1, 2), values(3, 3), values(4, 6))
  const ends = one.frames
    .filter(({ flags }) => (flags & FLAG_END) !== 0)
    .map(({ at, size, pos }) => ({ at: at + size, pos }))
  for (let size = 0; size <= one.bytes.length; size++) {
    const { said, pos, tornBytes } = await scanned(one, one.bytes.subarray(0, size))
    const whole = ends.findLast(({ at }) => at <= size) ?? { at: 0, pos: 0 }
    assert.equal([pos, tornBytes], [whole.pos, size - whole.at], `cut at ${size}`)
    assert.not(said.some((word) => word.startsWith('!')))
  }
})

test('CORE-10: a bad spot with a sound frame behind it is damage of exactly the record it is in', async () => {
  const one = await sample(values(1, 2), values(3, 3), values(4, 6), values(7, 7))
  for (const place of [0, FRAME_HEAD_BYTES - 1, FRAME_HEAD_BYTES + 2]) {
    for (let pos = 1; pos <= 6; pos++) {
      const { at } = one.record(pos)
      const { said, items, tornBytes } = await scanned(one, flipped(one.bytes, at + place))
      const expected = ['h', '1', '2', '3', '4', '5', '6', '7'].map((word) =>
        word === `${pos}` ? `!${pos}-${pos}` : word,
      )
      assert.equal(said, expected)
      assert.is(items.find((item) => item.entry === undefined)?.at, at)
      assert.is(tornBytes, 0)
    }
  }
})

test('CORE-10: a bad spot with nothing sound behind it is a torn tail', async () => {
  const one = await sample(values(1, 2), values(3, 5))
  for (const pos of [5, 4]) {
    const { at } = one.record(pos)
    const bytes = pos === 5 ? one.bytes : one.bytes.subarray(0, one.record(5).at)
    const { said, tornBytes } = await scanned(one, flipped(bytes, at + 60))
    assert.equal(said, ['h', '1', '2'])
    assert.is(tornBytes, bytes.length - one.record(3).at)
  }
})

test('a lost header frame, and a lost segment frame, are damage without a lost position', async () => {
  const one = await sample(values(1, 2))
  for (const [frame, expected] of [
    [one.frames[0], ['!', 'h', '1', '2']],
    [one.frames[1], ['!', '1', '2']],
  ] as const) {
    const { said } = await scanned(one, flipped(one.bytes, frame.at + 30))
    assert.equal(said, expected)
  }
})

test('a lost dictionary frame is damage without a lost position, and costs no record once the next one is read', async () => {
  const shaped = (n: number) => ({ type: 'x', [`a${n}`]: 1 })
  const one = await sample([shaped(1)], [shaped(1)], [shaped(2)], [shaped(2)], [shaped(1)])
  const [first] = one.frames.filter(({ kind }) => kind === KIND.dictionary)
  const { said, items, log } = await scanned(one, flipped(one.bytes, first.at + 60))
  assert.equal(said, ['h', '1', '!', '2', '3', '4', '5'])
  for (const { entry } of items) if (entry?.kind === KIND.record) assert.ok('type' in log.decode(entry as Frame))
})

test('CORE-10: whole frames that were cut out of the middle are missed, and what is sound behind them is not', async () => {
  const one = await sample(...values(1, 6).map((one) => [one]))
  const [from, to] = [one.record(3), one.record(4)]
  const { said } = await scanned(one, joined(one.bytes.subarray(0, from.at), one.bytes.subarray(to.at)))
  assert.equal(said, ['h', '1', '2', '!3-3', '4', '5', '6'])
})

test('CORE-10: two records that changed places are not read in the wrong order', async () => {
  const one = await sample(...values(1, 6).map((one) => [one]))
  const [third, fourth, fifth] = [3, 4, 5].map(one.record)
  assert.is(third.size, fourth.size)
  const { said } = await scanned(
    one,
    joined(
      one.bytes.subarray(0, third.at),
      one.bytes.subarray(fourth.at, fifth.at),
      one.bytes.subarray(third.at, fourth.at),
      one.bytes.subarray(fifth.at),
    ),
  )
  assert.equal(said.slice(0, 3), ['h', '1', '2'])
  assert.ok(said.some((word) => word.startsWith('!')))
  assert.equal(said.slice(-2), ['5', '6'])
  assert.not(said.includes('3') && said.indexOf('3') > said.indexOf('4') && said.includes('4'))
})

test('CORE-10: a stale block, of another log or of an earlier time, is not believed', async () => {
  const one = await sample(...values(1, 6).map((one) => [one]))
  const other = await sample(...values(1, 6).map(({ type }, n) => [{ type, text: `other ${n + 1}` }]))
  const { at, size } = one.record(4)
  const stale = other.bytes.subarray(other.record(4).at, other.record(4).at + size)
  assert.is(stale.length, size)
  const bytes = one.bytes.slice()
  bytes.set(stale, at)
  const { said } = await scanned(one, bytes)
  assert.equal(said, ['h', '1', '2', '3', '!4-4', '5', '6'])
  assert.is(other.log.identity.incarnation, one.log.identity.incarnation, 'the salt alone did not tell them apart')
})

test('CORE-10: a frame whose checks hold is not the next one unless position, chain and link say so', async () => {
  const one = await sample(...values(1, 3).map((one) => [one]))
  const third = one.record(3)
  const { at, check: _, body: __, size: ___, ...head } = third
  for (const wrong of [{ pos: 2 }, { pos: 4 }, { chain: 7n }, { previous: head.previous ^ 1 }, { hash: 7n }]) {
    const bytes = one.bytes.slice()
    writeHead(bytes, at, { ...head, ...wrong }, SALT)
    const { said } = await scanned(one, bytes)
    assert.equal(said.slice(0, 3), ['h', '1', '2'])
    // It may be found again behind the bad spot that it makes, but not as what follows record 2.
    assert.ok(said[3] === undefined || said[3].startsWith('!'), said.join(' '))
  }
  const same = one.bytes.slice()
  writeHead(same, at, head, SALT)
  assert.equal(same, one.bytes)
})

/** A frame as somebody makes it who knows the format, but not the salt. */
function fake(head: Partial<FrameHead>, salt: bigint): Uint8Array {
  const body = new TextEncoder().encode('{"type":"x","id":"fake"}')
  const bytes = new Uint8Array(FRAME_HEAD_BYTES + body.length)
  const whole = {
    kind: KIND.record,
    flags: FLAG_END,
    encoding: 1,
    shapes: 0,
    pos: 3,
    parent: 2,
    hash: 1n,
    chain: 1n,
    previous: 0,
  }
  writeHead(bytes, 0, { ...whole, bodyBytes: body.length, bodyCheck: check32(body), ...head }, salt)
  bytes.set(body, FRAME_HEAD_BYTES)
  return bytes
}

/** A record whose body, kept as it is, holds bytes that no JSON could: as if a codec had let them through. */
async function planted(salt: bigint, head: Partial<FrameHead>) {
  const one = await sample(values(1, 2), [{ type: 'x', text: 'X'.repeat(400) }], values(4, 5))
  const target = one.record(3)
  const bytes = one.bytes.slice()
  bytes.set(fake(head, salt), target.at + 200)
  return { one, target, bytes }
}

test('CORE-10: a frame planted in a body is not found, whether the body alone is bad or its head too', async () => {
  for (const [made, head] of [
    [SALT + 1n, {}],
    [0n, { kind: KIND.segment, pos: 2 }],
    [0n, { kind: KIND.segment, pos: 2 ** 40 }],
  ] as const) {
    const { one, target, bytes } = await planted(made, head)
    for (const broken of [bytes, flipped(bytes, target.at + 10)]) {
      const { said, items } = await scanned(one, broken)
      assert.equal(said, ['h', '1', '2', '!3-3', '4', '5'])
      for (const { entry } of items)
        assert.not(entry && new TextDecoder().decode((entry as Frame).body).includes('fake'))
    }
  }
})

async function threeSegments() {
  const { storage, log } = await logOf(values(1, 3))
  for (const from of [4, 7]) {
    await inNewSegment(log, () => log.append(values(from, from + 2).map((one, i) => [recordEntry(one, from + i)])))
  }
  return { storage, log, sizes: log.segments.map(({ size }) => size) }
}

test('a log of several segments is read across them', async () => {
  const { storage, sizes } = await threeSegments()
  const log = await found(storage)
  const { items, end } = await scanAll(log)
  assert.equal(brief(items), ['h', ...'123456789'])
  assert.equal([segmentOf(end.point.location), end.tornBytes], [2, 0])
  assert.is(log.bytes, sizes[0] + sizes[1] + sizes[2])
})

for (const [missing, expected, pos] of [
  [0, ['!1-3', ...'456789'], 9],
  [1, ['h', ...'123', '!4-6', ...'789'], 9],
  [2, ['h', ...'123456'], 6],
] as const) {
  test(`CORE-10: with segment ${missing} missing the others are read, and what is lost is named`, async () => {
    const { storage, log } = await threeSegments()
    storage.remove(log.segments[missing].file)
    const { items, end } = await scanAll(await found(storage))
    assert.equal([brief(items), end.point.pos, end.tornBytes], [expected, pos, 0])
  })
}

test('CORE-10: a middle segment that ends early, or in the middle of a frame, is damage', async () => {
  for (const cut of [1, 30]) {
    const { storage, log } = await threeSegments()
    storage.truncate(log.segments[1].file, log.segments[1].size - cut)
    assert.equal(brief((await scanAll(await found(storage))).items), ['h', ...'12345', '!6-6', ...'789'])
  }
})

test('CORE-10: what a writer cuts off while it is read can be the beginning of an append', async () => {
  const { storage, log } = await logOf([{ type: 'x' }], [{ type: 'y', text: 'z'.repeat(200) }])
  const [segment] = log.segments
  const last = framesOf(bytesOfSegment(storage, segment)).at(-1)!
  for (const size of [last.size - 1, FRAME_HEAD_BYTES, 10, 0]) {
    storage.truncate(segment.file, last.at + size) // `log` knows of more
    const { end } = await scanAll(log)
    assert.equal([end.point.pos, end.isBeginning], [1, true], `${size}`)
  }
})

test('a last segment that is empty, or torn from its first byte, is no damage', async () => {
  for (const keep of [0, 30, 60]) {
    const { storage, log } = await threeSegments()
    storage.truncate(log.segments[2].file, keep)
    const { items, end } = await scanAll(await found(storage))
    assert.equal([brief(items), end.point.pos, end.tornBytes], [['h', ...'123456'], 6, keep])
  }
})

test('records larger than a block are read, and a bad one is left out', async () => {
  const large = (n: number) => ({ type: 'x', n, noise: Array.from({ length: 200_000 }, (_, i) => Math.sin(i + n)) })
  const one = await sample([value(1)], [large(2)], [large(3)], [value(4)])
  assert.ok(one.record(2).size > 1_500_000)
  assert.equal((await scanned(one, one.bytes)).said, ['h', '1', '2', '3', '4'])
  const { at, size } = one.record(2)
  for (const place of [at + 1, at + size - 1]) {
    assert.equal((await scanned(one, flipped(one.bytes, place))).said, ['h', '1', '!2-2', '3', '4'])
  }
})

test.run()
