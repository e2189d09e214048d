import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Chunks, type Line, readLines } from '../../src/jsonl/lines.js'

const encoder = new TextEncoder()

function bytesOf(...parts: (string | number[])[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...encoder.encode(part)] : part)))
}

async function linesOf(chunks: Chunks, maxBytes?: number): Promise<Line[]> {
  const lines: Line[] = []
  for await (const batch of readLines(chunks, { maxBytes })) lines.push(...batch)
  return lines
}

async function textsOf(chunks: Chunks): Promise<string[]> {
  return (await linesOf(chunks)).map((line) => ('text' in line ? line.text : line.refused))
}

test('CORE-2: lines end at LF, and a last line without one is torn', async () => {
  assert.equal(await linesOf(['{"a":1}\n{"ü":2}']), [
    { number: 1, text: '{"a":1}', bytes: 7, torn: false },
    { number: 2, text: '{"ü":2}', bytes: 8, torn: true },
  ])
  assert.equal(await linesOf(['{"a":1}\n']), [{ number: 1, text: '{"a":1}', bytes: 7, torn: false }])
})

test('an input without lines, or without chunks, yields nothing', async () => {
  assert.equal(await linesOf([]), [])
  assert.equal(await linesOf(['', new Uint8Array(0)]), [])
  assert.equal(await linesOf(['\n', '\r\n', ' \t\r \n', '  ']), [])
})

test('CORE-2: one CR before the LF belongs to the line end, a second one to the text', async () => {
  assert.equal(await textsOf(['a\r\nb\r\r\nc\rd\n']), ['a', 'b\r', 'c\rd'])
  assert.equal(await textsOf(['a\r', '\nb\r', '\r\n', '\r', '\n']), ['a', 'b\r'])
})

test('a CR that ends the input is half of a line end, so that a torn line reads as the whole one', async () => {
  assert.equal(await linesOf(['a\r']), [{ number: 1, text: 'a', bytes: 1, torn: true }])
})

test('CORE-2: a byte order mark before a line is dropped, and only there', async () => {
  assert.equal(await textsOf(['\uFEFFa\n\uFEFFb\n']), ['a', 'b'])
  assert.equal(await textsOf(['\uFEFFa\r\n\uFEFF\r\n\uFEFFü\uFEFF\n\uFEFF\uFEFFc\n']), ['a', 'ü\uFEFF', '\uFEFFc'])
  assert.equal(await textsOf([bytesOf([0xef]), bytesOf([0xbb]), bytesOf([0xbf], 'a\n')]), ['a'])
  assert.equal(await linesOf(['\uFEFF']), [])
  assert.equal(await textsOf(['\n\uFEFFa']), ['a'])
})

test('CORE-2: empty lines are skipped but counted', async () => {
  const numbers = (await linesOf(['\n \t\r\n{"a":1}\n\n\r\n{"b":2}'])).map((line) => line.number)
  assert.equal(numbers, [3, 6])
})

test('a line of other white space than JSON knows is no empty line', async () => {
  assert.equal(await textsOf(['\u00A0\n\v\n\u2028\n']), ['\u00A0', '\v', '\u2028'])
})

test('a line that is not UTF-8 is refused alone, with its number', async () => {
  const input = bytesOf('one\ntw', [0xff], 'o\n{"ü":3}\r\n\n', [0xed, 0xa0, 0x80], '\nsix\n', [0xc3])
  assert.equal(await linesOf([input]), [
    { number: 1, text: 'one', bytes: 3, torn: false },
    { number: 2, refused: 'bad_utf8', torn: false },
    { number: 3, text: '{"ü":3}', bytes: 8, torn: false },
    { number: 5, refused: 'bad_utf8', torn: false },
    { number: 6, text: 'six', bytes: 3, torn: false },
    { number: 7, refused: 'bad_utf8', torn: true },
  ])
})

test('a lone surrogate in a chunk of text makes its line bad_utf8, a pair cut by chunks does not', async () => {
  assert.equal(await textsOf(['a\nb\ud83d\nc\n\udf89d\n']), ['a', 'bad_utf8', 'c', 'bad_utf8'])
  assert.equal(await textsOf(['\ud83c', '', '\udf89\n']), ['🎉'])
  assert.equal(await textsOf(['\ud83c', new Uint8Array(0), '\udf89\n']), ['🎉'])
  assert.equal(await textsOf(['\ud83c', bytesOf('x'), '\udf89\n', 'ok']), ['bad_utf8', 'ok'])
  assert.equal(await textsOf(['ok\nlast\ud83c']), ['ok', 'bad_utf8'])
})

test('wherever chunks are cut, as text, as bytes or mixed, the lines are the same', async () => {
  const text = '\uFEFF{"type":"header"}\r\n\r\n\uFEFF{"ü€🎉":1}\n \t \nx\r\r\n{"b":"\u2028"}\r\n\uFEFF🎉'
  const bytes = encoder.encode(text)
  const whole = await linesOf([bytes])
  assert.is(whole.length, 5)
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.equal(await linesOf([bytes.subarray(0, cut), bytes.subarray(cut)]), whole, `bytes cut at ${cut}`)
  }
  for (let cut = 0; cut <= text.length; cut++) {
    assert.equal(await linesOf([text.slice(0, cut), text.slice(cut)]), whole, `text cut at ${cut}`)
  }
  assert.equal(await linesOf(Array.from(bytes, (byte) => Uint8Array.of(byte))), whole)
  assert.equal(await linesOf(text.split('')), whole)
  assert.equal(await linesOf([...text].map((char, i) => (i % 2 === 0 ? char : encoder.encode(char)))), whole)
})

test('chunks may come from an asynchronous source that reuses its buffer', async () => {
  async function* reusing(): AsyncGenerator<Uint8Array> {
    const buffer = new Uint8Array(4)
    for (const part of ['{"a"', ':1}\n', '{"b"', ':2}\n', 'c   ']) {
      buffer.set(encoder.encode(part))
      yield buffer
    }
  }
  const lines: Line[] = []
  for await (const batch of readLines(reusing())) lines.push(...batch)
  assert.equal(
    lines.map((line) => 'text' in line && line.text),
    ['{"a":1}', '{"b":2}', 'c   '],
  )
})

test('a line of the limit is read, one byte more is too_large, and reading goes on', async () => {
  const limit = 10
  for (const [size, fits] of [
    [limit - 1, true],
    [limit, true],
    [limit + 1, false],
    [limit * 7, false],
  ] as const) {
    const long = 'x'.repeat(size)
    const expected = fits
      ? { number: 2, text: long, bytes: size, torn: false }
      : { number: 2, refused: 'too_large', torn: false }
    const after = { number: 3, text: 'c', bytes: 1, torn: false }
    const input = encoder.encode(`a\n${long}\r\nc\n`)
    for (const chunks of [
      [input],
      [input.subarray(0, 5), input.subarray(5)],
      Array.from(input, (b) => Uint8Array.of(b)),
    ]) {
      assert.equal((await linesOf(chunks, limit)).slice(1), [expected, after], `${size} bytes, ${chunks.length} chunks`)
    }
    assert.equal(await linesOf([`\uFEFF${long}\r`], limit), [{ ...expected, number: 1, torn: true }])
  }
})

test('the limit counts bytes, not characters', async () => {
  assert.equal(
    (await linesOf(['üüü\nüüüü\n🎉🎉\nab'], 7)).map((line) => 'text' in line),
    [true, false, false, true],
  )
})

test('a line far beyond the limit is never held', async () => {
  const chunk = new Uint8Array(1024 * 1024).fill(0x78)
  function* endless(): Generator<Uint8Array> {
    for (let i = 0; i < 512; i++) yield chunk
    yield encoder.encode('\nnext\n')
  }
  const before = process.memoryUsage()
  const lines: Line[] = []
  for await (const batch of readLines(endless(), { maxBytes: 8 * 1024 * 1024 })) lines.push(...batch)
  const after = process.memoryUsage()
  assert.equal(lines, [
    { number: 1, refused: 'too_large', torn: false },
    { number: 2, text: 'next', bytes: 4, torn: false },
  ])
  assert.ok(after.rss - before.rss < 128 * 1024 * 1024, `grew by ${after.rss - before.rss} bytes`)
})

test('one chunk of many lines comes in several batches, and lines across its pieces are whole', async () => {
  const count = 40_000
  const text = Array.from({ length: count }, (_, i) => `{"seq":${i},"text":"grüße ${'🎉'.repeat(i % 7)}"}`).join('\n')
  for (const chunk of [text, encoder.encode(text)]) {
    let batches = 0
    const lines: Line[] = []
    for await (const batch of readLines([chunk])) {
      batches++
      lines.push(...batch)
    }
    assert.ok(batches > 1)
    assert.is(lines.map((line) => 'text' in line && line.text).join('\n'), text)
    assert.equal(
      lines.map((line) => line.number),
      Array.from({ length: count }, (_, i) => i + 1),
    )
  }
})

test.run()
