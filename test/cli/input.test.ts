import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { unpacked } from '../../src/cli/input.js'

async function* pieces(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}

async function through(bytes: Uint8Array, size: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of unpacked(pieces(bytes, size))) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const PLAIN = Buffer.from('{"a":1}\n'.repeat(1_000))

test('gzip is told by its content, also when it comes a byte at a time', async () => {
  assert.equal(await through(gzipSync(PLAIN), 1), PLAIN)
  assert.equal(await through(gzipSync(PLAIN), 1 << 20), PLAIN)
})

test('gzip members one after the other are one text', async () => {
  assert.equal(await through(Buffer.concat([gzipSync('a\n'), gzipSync('b\n')]), 7), Buffer.from('a\nb\n'))
})

test('what is not gzip passes as it is, however short', async () => {
  for (const bytes of [PLAIN, Buffer.from(''), Buffer.from('x'), Buffer.from([0x1f]), Buffer.from([0x1f, 0x8c, 1])]) {
    assert.equal(await through(bytes, 1), bytes)
  }
})

test('gzip that is cut or damaged fails', async () => {
  const packed = gzipSync(PLAIN)
  const damaged = Uint8Array.from(packed)
  damaged[packed.length >> 1] ^= 0xff
  for (const bytes of [packed.subarray(0, packed.length - 9), damaged]) {
    let failed = false
    await through(bytes, 1_000).catch(() => {
      failed = true
    })
    assert.ok(failed)
  }
})

test('a failure of the source comes through gzip too', async () => {
  async function* failing(): AsyncIterable<Uint8Array> {
    yield gzipSync(PLAIN).subarray(0, 20)
    throw new Error('the disk is gone')
  }
  try {
    for await (const _ of unpacked(failing()));
    assert.unreachable()
  } catch (error) {
    assert.is((error as Error).message, 'the disk is gone')
  }
})

test.run()
