import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import xxhash from 'xxhash-wasm'
import { check32, hashBytes, hashPair, hashText, hex64, key53, name128, toHex } from '../../src/base/hash.js'
import { RECORD_BYTES_MAX } from '../../src/base/limits.js'
import { RUNS, settings } from '../property/settings.js'
import { fails } from '../support/fails.js'

const { h64Raw } = await xxhash()
const utf8 = (text: string) => new TextEncoder().encode(text)
const PIECE = 64 * 1024

test('CORE-8: XXH64 gives the values that its makers publish', () => {
  assert.is(hex64(hashText('')), 'ef46db3751d8e999')
  assert.is(hex64(hashText('a')), 'd24ec4f1a98c6e5b')
  assert.is(hex64(hashText('abc')), '44bc2cf5ad770999')
  assert.is(hex64(hashText('xxhash')), '32dd38952c4bc720')
  assert.is(hex64(hashBytes(utf8('xxhash'), 20141025n)), 'b559b98d844e0635')
})

test('CORE-8: bytes and text of any size are hashed in pieces as if in one', () => {
  for (const size of [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 7, 1_000_000]) {
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 7) % 128)
    const expected = h64Raw(bytes)
    assert.is(hashBytes(bytes), expected, `${size}`)
    assert.is(hashText(new TextDecoder().decode(bytes)), expected, `${size}`)
    assert.is(hashBytes(bytes, 5n), h64Raw(bytes, 5n))
  }
})

test('CORE-8: a surrogate pair that lies across two pieces is hashed as one character', () => {
  const third = Math.floor(PIECE / 3)
  for (let shift = -3; shift <= 3; shift++) {
    const text = `${'a'.repeat(third + shift)}\ud83d\ude00${'b'.repeat(third - 1)}\ud83d\ude00${'\u20ac'.repeat(third)}`
    assert.is(hashText(text), h64Raw(utf8(text)), `${shift}`)
  }
  const pairs = '\ud83d\ude00'.repeat(50_000)
  for (const text of [pairs, `x${pairs}`, `\u20acx${pairs}`]) assert.is(hashText(text), h64Raw(utf8(text)))
})

test('CORE-8: the hash of a text is that of its UTF-8', () =>
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 1, max: 2_000 }), (text, times) => {
      const long = text.repeat(times)
      assert.is(hashText(long), h64Raw(utf8(long)))
    }),
    settings(Math.ceil(RUNS / 4)),
  ))

test('CORE-7: a text beyond the limit in UTF-8 is refused, though its length in units is within it', async () => {
  await fails('ASR_TOO_LARGE', () => hashText('\u20ac'.repeat(Math.ceil(RECORD_BYTES_MAX / 3) + 1)))
})

test('CORE-9: a pair of hashes is hashed as 16 bytes, the first one first', () => {
  const bytes = Uint8Array.from([0, 1, 2, 3, 4, 5, 6, 7, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8])
  assert.is(hashPair(0x0001020304050607n, 0xfffefdfcfbfaf9f8n), h64Raw(bytes))
  assert.is.not(hashPair(1n, 2n), hashPair(2n, 1n))
})

test('16 digits, whatever the number', () => {
  assert.equal([0n, 0xabcn, 2n ** 64n - 1n].map(hex64), ['0000000000000000', '0000000000000abc', 'ffffffffffffffff'])
})

test('a check is the low half of the hash, a key its high 53 bits', () => {
  const hash = hashText('abc')
  assert.is(check32(utf8('abc')), Number(hash & 0xffffffffn))
  assert.is(key53('abc'), Number(hash >> 11n))
  assert.ok(Number.isSafeInteger(key53('abc')))
})

test('the name of a log is the first half of the SHA-256 of its session id', async () => {
  for (const session of ['s', '../../etc', 'a/b\0c', '\ud83d\ude00', 'x'.repeat(4_096)]) {
    assert.is(name128(session), createHash('sha256').update(session).digest('hex').slice(0, 32))
  }
  assert.is(toHex(Uint8Array.of(0, 15, 255)), '000fff')
})

test.run()
