import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BatchBuffer } from '../../src/log/format/batch-buffer.js'
import { FRAME_HEAD_BYTES, type FrameHead, KIND, readFrame } from '../../src/log/format/frame.js'

const head = (pos: number, bodyBytes: number): FrameHead => ({
  kind: KIND.record,
  flags: 0,
  encoding: 0,
  shapes: 0,
  bodyBytes,
  pos,
  parent: 0,
  hash: 0n,
  chain: 0n,
  previous: 0,
  bodyCheck: 0,
})

test('frames lie one behind the other, however large they are', () => {
  const batch = BatchBuffer.take()
  const sizes = [0, 10, 70_000, 1, 3_000_000, 5]
  const checks = sizes.map((size, n) => batch.addFrame(head(n + 1, size), new Uint8Array(size).fill(n), 7n))
  let at = 0
  sizes.forEach((size, n) => {
    const frame = readFrame(batch.bytes(), at, 7n)
    assert.equal([frame?.pos, frame?.check, frame?.body.length], [n + 1, checks[n], size])
    assert.ok(frame?.body.every((byte) => byte === n))
    at += FRAME_HEAD_BYTES + size
  })
  assert.is(batch.bytes().length, at)
  batch.release()
})

test('two that are filled at the same time do not share bytes, and the next one begins empty', () => {
  const [one, two] = [BatchBuffer.take(), BatchBuffer.take()]
  one.addFrame(head(1, 1), Uint8Array.of(1), 7n)
  two.addFrame(head(2, 1), Uint8Array.of(2), 7n)
  assert.equal([readFrame(one.bytes(), 0, 7n)?.pos, readFrame(two.bytes(), 0, 7n)?.pos], [1, 2])
  one.release()
  two.release()
  assert.is(BatchBuffer.take().bytes().length, 0)
})

test.run()
