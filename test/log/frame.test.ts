import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { check32 } from '../../src/base/hash.js'
import {
  bodyHolds,
  FRAME_HEAD_BYTES,
  type FrameHead,
  type FrameKind,
  findMagic,
  KIND,
  readFrame,
  writeHead,
} from '../../src/log/format/frame.js'
import { RUNS, settings } from '../property/settings.js'
import { flipped } from './handmade.js'

const SALT = 0x44556677n

const heads: fc.Arbitrary<FrameHead> = fc.record({
  kind: fc.constantFrom<FrameKind>(KIND.segment, KIND.header, KIND.record, KIND.dictionary),
  flags: fc.nat(255),
  encoding: fc.nat(255),
  shapes: fc.nat(65_535),
  bodyBytes: fc.constant(0),
  pos: fc.nat({ max: 2 ** 48 - 1 }),
  parent: fc.nat({ max: 2 ** 48 - 1 }),
  hash: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  chain: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  previous: fc.nat(2 ** 32 - 1),
  bodyCheck: fc.constant(0),
})

function frame(head: FrameHead, body: Uint8Array, at = 0): Uint8Array {
  const bytes = new Uint8Array(at + FRAME_HEAD_BYTES + body.length)
  const complete = { ...head, bodyBytes: body.length, bodyCheck: check32(body) }
  writeHead(bytes, at, complete, head.kind === KIND.segment ? 0n : SALT)
  bytes.set(body, at + FRAME_HEAD_BYTES)
  return bytes
}

const RECORD: FrameHead = {
  kind: KIND.record,
  flags: 1,
  encoding: 0,
  shapes: 3,
  bodyBytes: 0,
  pos: 7,
  parent: 6,
  hash: 1n,
  chain: 2n,
  previous: 3,
  bodyCheck: 0,
}

test('a frame is read as it was written, wherever it lies', () =>
  fc.assert(
    fc.property(heads, fc.uint8Array(), fc.nat(100), (head, body, at) => {
      const found = readFrame(frame(head, body, at), at, SALT)!
      const { body: read, check } = found
      const expected = { ...head, bodyBytes: body.length, bodyCheck: check32(body) }
      for (const [field, value] of Object.entries(expected))
        assert.is(found[field as keyof typeof expected], value, field)
      assert.equal(read, body)
      assert.is(check, new DataView(frame(head, body).buffer).getUint32(FRAME_HEAD_BYTES - 4))
    }),
    settings(RUNS),
  ))

test('positions of 48 bits are kept to the last bit', () => {
  for (const pos of [2 ** 32 - 1, 2 ** 32, 2 ** 47 + 12_345, 2 ** 48 - 1]) {
    const read = readFrame(frame({ ...RECORD, pos, parent: pos }, new Uint8Array(0)), 0, SALT)
    assert.equal([read?.pos, read?.parent], [pos, pos])
  }
})

test('CORE-10: each bit of a frame that is turned over is noticed', () => {
  const bytes = frame(RECORD, new TextEncoder().encode('{"type":"x"}'))
  for (let at = 0; at < bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const read = readFrame(flipped(bytes, at, bit), 0, SALT)
      if (at < FRAME_HEAD_BYTES) assert.is(read, undefined, `head byte ${at}, bit ${bit}`)
      else assert.is(bodyHolds(read!), false, `body byte ${at}, bit ${bit}`)
    }
  }
})

test('a frame that is not all there is no frame, or holds no whole body', () => {
  const bytes = frame(RECORD, new Uint8Array(10))
  for (let size = 0; size < bytes.length; size++) {
    const read = readFrame(bytes.subarray(0, size), 0, SALT)
    assert.is(read === undefined, size < FRAME_HEAD_BYTES)
    if (read !== undefined) assert.is(bodyHolds(read), false)
  }
})

test('a frame of another log does not pass, but a segment frame does, from which the salt is learned', () => {
  assert.is(readFrame(frame(RECORD, new Uint8Array(0)), 0, SALT + 1n), undefined)
  assert.is(readFrame(frame({ ...RECORD, kind: KIND.segment }, new Uint8Array(0)), 0, SALT + 1n)?.kind, KIND.segment)
})

test('the magic is found wherever it begins, and no text holds it', () => {
  const bytes = Uint8Array.from([0xf7, 0xf7, 0xa5, 0xa5, 0xff, 0xf7, 0xa5, 0xff, 0xf7, 0xa5])
  assert.equal(
    [0, 5, 6].map((from) => findMagic(bytes, from)),
    [5, 5, -1],
  )
  assert.is(findMagic(new Uint8Array(0), 0), -1)
  let text = ''
  for (let code = 0; code <= 0x10ffff; code += 7) text += String.fromCodePoint(code)
  assert.is(findMagic(new TextEncoder().encode(text), 0), -1)
  assert.not(new TextEncoder().encode(text).includes(0xf7))
})

test.run()
