import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { fromBase64, joinedBytes, toBase64 } from '../../src/acp/base64.js'

test('bytes of every value and length come back from base64', () => {
  for (const length of [0, 1, 2, 3, 255, 0x8000, 0x8001, 100_000]) {
    const bytes = Uint8Array.from({ length }, (_, index) => index & 0xff)
    assert.equal(fromBase64(toBase64(bytes)), bytes)
    assert.is(toBase64(bytes), Buffer.from(bytes).toString('base64'))
  }
})

test('what is no base64 is told, not guessed', () => {
  assert.is(fromBase64('%%%'), undefined)
  assert.equal(fromBase64(''), new Uint8Array(0))
})

test('pieces are joined in order', () => {
  assert.equal(joinedBytes([Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(2, 3)]), Uint8Array.of(1, 2, 3))
})

test.run()
