import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { GrowableBytes } from '../../src/base/growable-bytes.js'

test('bytes are put one behind the other, however often the buffer grows', () => {
  const bytes = new GrowableBytes()
  const expected: number[] = []
  for (let size = 0; size < 100; size++) {
    const part = Array.from({ length: size }, (_, i) => (size + i) % 256)
    bytes.append(Uint8Array.from(part))
    expected.push(...part)
    assert.is(bytes.length, expected.length)
  }
  assert.equal([...bytes.view()], expected)
})

test('a view ends where the bytes do', () => {
  const bytes = new GrowableBytes()
  bytes.append(Uint8Array.of(1, 2, 3))
  assert.equal([...bytes.view(1)], [2, 3])
  assert.equal([...bytes.view(1, 2)], [2])
  assert.equal([...bytes.view(2, 90)], [3])
  assert.equal([...bytes.view(50, 90)], [])
})

test('resize cuts, and what it adds is zero', () => {
  const bytes = new GrowableBytes()
  bytes.append(Uint8Array.of(1, 2, 3))
  bytes.resize(1)
  bytes.resize(3)
  assert.equal([...bytes.view()], [1, 0, 0])
  bytes.resize(1000)
  assert.equal([...bytes.view()], [1, ...new Array(999).fill(0)])
})

test('clear leaves nothing, and keeps a small buffer but no large one', () => {
  const bytes = new GrowableBytes()
  for (const [size, kept] of [
    [1000, true],
    [2_000_000, false],
  ] as const) {
    bytes.append(new Uint8Array(size))
    bytes.clear()
    assert.is(bytes.length, 0)
    assert.is(bytes.view().buffer.byteLength >= size, kept)
  }
})

test.run()
