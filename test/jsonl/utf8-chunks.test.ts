import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Utf8Chunks } from '../../src/jsonl/utf8-chunks.js'

function bytesOf(...chunks: (string | Uint8Array)[]): number[] {
  const utf8 = new Utf8Chunks()
  const bytes = chunks.flatMap((chunk) => [...utf8.pieces(chunk)].flatMap((piece) => [...piece]))
  return [...bytes, ...utf8.end()]
}

test('text becomes UTF-8 and bytes stay', () => {
  assert.equal(bytesOf('ü', Uint8Array.of(1, 0xff), '🎉'), [0xc3, 0xbc, 1, 0xff, 0xf0, 0x9f, 0x8e, 0x89])
})

test('halves of a pair meet across chunks of text', () => {
  assert.equal(bytesOf('a\ud83c', '', '\udf89b'), [0x61, 0xf0, 0x9f, 0x8e, 0x89, 0x62])
})

test('each lone surrogate becomes a byte that no UTF-8 holds', () => {
  assert.equal(bytesOf('a\udf89\ud83cb'), [0x61, 0xff, 0xff, 0x62])
  assert.equal(bytesOf('\ud83c', Uint8Array.of(0x61)), [0xff, 0x61])
  assert.equal(bytesOf('\ud83c', '\ud83c'), [0xff, 0xff])
  assert.equal(bytesOf('\ud83c'), [0xff])
})

test('a large chunk comes in pieces that together are the chunk', () => {
  const text = '€🎉'.repeat(400_000)
  const expected = new TextEncoder().encode(text)
  for (const chunk of [text, expected]) {
    const pieces = [...new Utf8Chunks().pieces(chunk)]
    assert.ok(pieces.length > 2)
    assert.ok(Math.max(...pieces.map((piece) => piece.length)) <= 1024 * 1024 + 3)
    assert.is(Buffer.compare(Buffer.concat(pieces), expected), 0)
  }
})

test.run()
