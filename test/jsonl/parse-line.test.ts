import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { NESTING_MAX } from '../../src/base/limits.js'
import { type ParsedLine, parseLine } from '../../src/jsonl/parse-line.js'

function parse(text: string, torn = false): ParsedLine {
  return parseLine({ number: 7, text, bytes: new TextEncoder().encode(text).length, torn })
}

function refusedAs(parsed: ParsedLine): string | undefined {
  return 'refused' in parsed ? parsed.refused : undefined
}

function nested(levels: number, open = '[', close = ']'): string {
  return `{"a":${open.repeat(levels)}${close.repeat(levels)}}`
}

test('a line that JSON.stringify gives back needs no text', () => {
  const text = '{"type":"message","n":[1,-2.5,1e+21,null,true],"s":"\\ud800 ü \u2028"}'
  assert.equal(parse(text), { value: JSON.parse(text) })
})

test('CORE-7: a line that JSON.stringify does not give back keeps its text', () => {
  for (const text of [
    '{"a": 1}',
    ' {"a":1}',
    '{"a":1}\r',
    '{"a":1.0}',
    '{"a":-0}',
    '{"b":1,"1":2}',
    '{"a":1,"a":2}',
    '{"a":"\\u0041"}',
    '{"a":"\\/"}',
  ]) {
    assert.equal(parse(text), { value: JSON.parse(text), text }, text)
  }
})

test('CORE-7: keys that mean something to JavaScript are just keys', () => {
  const text = '{"__proto__":{"x":1},"constructor":2,"":3,"toJSON":4}'
  const parsed = parse(text)
  assert.ok('value' in parsed)
  assert.equal(Object.keys(parsed.value), ['__proto__', 'constructor', '', 'toJSON'])
  assert.is(parsed.text, undefined)
  assert.is(({} as Record<string, unknown>).x, undefined)
})

test('CORE-7: a literal that a double cannot hold is reported, and its text kept', () => {
  const text = '{"a":12345678901234567890}'
  assert.equal(parse(text), {
    value: { a: 12345678901234567000 },
    text,
    rounded: 'the number 12345678901234567890 at "/a" is read as 12345678901234567000',
  })
})

test('CORE-7: a literal beyond the doubles makes the line bad_json', () => {
  assert.is(refusedAs(parse('{"a":1e400}')), 'bad_json')
  assert.equal(parse('{"a":[1,{"b":-1e999}]}'), {
    refused: 'bad_json',
    message: 'line 7: the number -1e999 at "/a/1/b" is beyond what a double can hold',
  })
})

test('what is not JSON is bad_json, with the line named', () => {
  for (const text of [
    '{',
    '{"a":}',
    '{"a":1}}',
    "{'a':1}",
    '{"a":01}',
    '{"a":NaN}',
    '\uFEFF{}',
    '{}\0',
    '{"a":"\t"}',
    '\0\0\0',
  ]) {
    const parsed = parse(text)
    assert.ok('refused' in parsed, text)
    assert.is(parsed.refused, 'bad_json', text)
    assert.match(parsed.message, /^line 7 /)
  }
})

test('JSON that is not an object is not_object', () => {
  for (const text of ['1', '"a"', 'null', 'true', '[]', '[{"type":"message"}]']) {
    assert.is(refusedAs(parse(text)), 'not_object', text)
    assert.is(refusedAs(parse(text, true)), 'not_object', text)
  }
})

test('CORE-2: a last line without LF is read when it is whole', () => {
  assert.equal(parse('{"a":1}', true), { value: { a: 1 } })
})

test('a last line without LF that cannot be read is torn_tail, wherever it is cut', () => {
  const text = '{"type":"message","n":[1,{"a":-2.5e3}],"s":"\\u00fc"}'
  for (let cut = 1; cut < text.length; cut++)
    assert.is(refusedAs(parse(text.slice(0, cut), true)), 'torn_tail', `${cut}`)
  assert.is(refusedAs(parseLine({ number: 7, refused: 'bad_utf8', torn: true })), 'torn_tail')
})

test('what the reader of lines refused stays refused', () => {
  assert.is(refusedAs(parseLine({ number: 7, refused: 'bad_utf8', torn: false })), 'bad_utf8')
  assert.is(refusedAs(parseLine({ number: 7, refused: 'too_large', torn: false })), 'too_large')
  assert.is(refusedAs(parseLine({ number: 7, refused: 'too_large', torn: true })), 'too_large')
})

test('CORE-7: 512 containers nested in a record are kept, one more is too_deep', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":[', ']}'],
  ]) {
    const each = open.length === 1 ? 1 : 2
    for (const levels of [NESTING_MAX - each, NESTING_MAX]) {
      const text = nested(levels / each, open, close)
      assert.equal(parse(text), { value: JSON.parse(text) }, `${levels}`)
    }
  }
  assert.is(refusedAs(parse(nested(NESTING_MAX + 1))), 'too_deep')
  assert.is(refusedAs(parse(nested(NESTING_MAX + 1), true)), 'too_deep')
})

test('100,000 nested arrays are too_deep, closed or not, and no crash', () => {
  assert.is(refusedAs(parse(nested(100_000))), 'too_deep')
  assert.is(refusedAs(parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)), 'too_deep')
  assert.is(refusedAs(parse('['.repeat(100_000))), 'too_deep')
  assert.is(refusedAs(parse(`{"a":${'{"a":'.repeat(100_000)}`)), 'too_deep')
})

test('a deep last line without LF that is cut is torn_tail', () => {
  assert.is(refusedAs(parse(nested(100_000).slice(0, -1), true)), 'torn_tail')
})

test('many containers side by side, and brackets in strings, are not deep', () => {
  const wide = JSON.stringify({ a: Array.from({ length: 5_000 }, () => [{}]), s: '[{"'.repeat(5_000) })
  assert.equal(parse(wide), { value: JSON.parse(wide) })
})

test.run()
