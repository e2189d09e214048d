import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { clip, cut, pad, printable, printableLines, width } from '../../src/cli/text.js'

test('a cut never lands inside a surrogate pair, at no width', () => {
  const text = 'ab😀cd😀😀e'
  for (let columns = 0; columns <= 14; columns++) {
    const shown = cut(text, columns)
    assert.ok(shown.isWellFormed(), `${columns}: ${shown}`)
    assert.ok(width(shown) <= columns, `${columns}: ${shown}`)
  }
  for (let units = 0; units <= text.length; units++) assert.ok(clip(text, units).isWellFormed(), `${units}`)
})

test('text that fits is not cut, and what is cut ends with an ellipsis', () => {
  assert.is(cut('abcd', 4), 'abcd')
  assert.is(cut('abcde', 4), 'abc…')
  assert.is(cut('😀😀', 4), '😀😀')
  assert.is(cut('😀😀', 3), '😀…')
  assert.is(cut('😀😀', 2), '…')
  assert.is(cut('abc', 0), '')
})

test('in plain text a character is a column', () => {
  for (const text of ['', 'a', 'plain ~ text', 'x…y', 'caf\u00e9 na\u00efve']) {
    assert.equal([printable(text), width(text)], [text, text.length])
    for (let columns = 1; columns < 14; columns++) {
      const expected = text.length <= columns ? text : `${text.slice(0, columns - 1)}…`
      assert.is(cut(text, columns), expected)
    }
  }
})

test('wide characters take two columns and combining marks none', () => {
  assert.is(width('漢字'), 4)
  assert.is(width('e\u0301'), 1)
  assert.is(pad('漢', 4), '漢  ')
  assert.is(pad('abcde', 4), 'abcde')
})

test('nothing printed can steer the terminal: controls become spaces, lone surrogates the replacement character', () => {
  assert.is(printable('a\u001b[31mb\nc\u009bd\u202ee'), 'a [31mb c d e')
  assert.is(printable('x\ud83dy\udc00z😀'), 'x\ufffdy\ufffdz😀')
  assert.is(printableLines('{\n  "a": "\u009b"\n}'), '{\n  "a": " "\n}')
})

test.run()
