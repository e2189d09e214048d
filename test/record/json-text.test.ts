import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hasBrackets, nesting, stringEnd } from '../../src/record/json-text.js'

test('a string ends at its first quote that is not escaped', () => {
  for (const text of ['', 'a', '\\', '"', '\\"', 'a\\\\"\\', '\n🎉']) {
    const literal = JSON.stringify(text)
    assert.is(stringEnd(`[${literal},"x"]`, 1), literal.length, literal)
  }
})

test('a string without its closing quote ends with the text', () => {
  assert.is(stringEnd('"abc', 0), 4)
  assert.is(stringEnd('"abc\\"', 0), 6)
})

test('nesting counts containers, not brackets in strings', () => {
  assert.equal(nesting('1'), { deepest: 0, open: 0 })
  assert.equal(nesting('{}'), { deepest: 1, open: 0 })
  assert.equal(nesting('{"a":[1,{"b":[]}],"c":[]}'), { deepest: 4, open: 0 })
  assert.equal(nesting('{"[[[[":"\\"{{{{","b":"\\\\"}'), { deepest: 1, open: 0 })
})

test('nesting tells what a cut text leaves open', () => {
  assert.equal(nesting('{"a":[1,{"b":"['), { deepest: 3, open: 3 })
  assert.equal(nesting('{"a":[1,{"b":"["}'), { deepest: 3, open: 2 })
})

test('nesting of a million levels is counted without a stack', () => {
  assert.equal(nesting('['.repeat(1_000_000)), { deepest: 1_000_000, open: 1_000_000 })
})

test('backslashes in a row do not make scanning quadratic', () => {
  const started = performance.now()
  const text = `"${'\\\\'.repeat(2_000_000)}"`
  assert.is(stringEnd(text, 0), text.length - 1)
  assert.is(stringEnd(`"${'\\"'.repeat(2_000_000)}"`, 0), text.length - 1)
  assert.ok(performance.now() - started < 2_000)
})

test('brackets of both kinds are counted together', () => {
  assert.is(hasBrackets('{"a":[]}', 1), true)
  assert.is(hasBrackets('{"a":[]}', 2), false)
  assert.is(hasBrackets('}]'.repeat(9), 0), false)
})

test.run()
