import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isPlain } from '../../src/cli/hidden.js'
import { escapedJson, jsonOf } from '../../src/cli/json.js'
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

test('nothing printed can steer the terminal, or hide: what would is shown by its escape', () => {
  assert.is(printable('a\u001b[31mb\nc\u009bd\u202ee'), 'a\\u001b[31mb\\nc\\u009bd\\u202ee')
  assert.is(printable('x\ud83dy\udc00z😀'), 'x\\ud83dy\\udc00z😀')
  assert.is(printable('tag\u{e0041} soft\u00adhyphen \u061c'), 'tag\\udb40\\udc41 soft\\u00adhyphen \\u061c')
  assert.is(printableLines('{\n  "a": "\u009b"\n}'), '{\n  "a": "\\u009b"\n}')
})

test('what joins characters stays where it joins them, and is shown where it only hides', () => {
  for (const joined of ['👩\u200d💻', '❤\ufe0f', 'نامه\u200cای', '1\ufe0f\u20e3']) assert.is(printable(joined), joined)
  assert.is(printable('a\u200db\ufe0f'), 'a\\u200db\\ufe0f')
  assert.is(printable('👩\u200d'), '👩\\u200d')
})

test('every code point that Unicode has as a control, as ignorable, as a separator or as a lone surrogate is hidden', () => {
  const hidden = /^[\p{Cc}\p{DI}\p{Zl}\p{Zp}\p{Cs}\ufff9-\ufffb]$/u
  for (let code = 0; code <= 0x10ffff; code++) {
    const char = String.fromCodePoint(code)
    const shown = printable(`a${char}b`)
    if ((shown === `a${char}b`) === hidden.test(char)) assert.unreachable(`U+${code.toString(16)}`)
    if (isPlain(char) && hidden.test(char)) assert.unreachable(`U+${code.toString(16)} is plain`)
  }
})

test('JSON is printed without anything hidden, and reads back as the same value', () => {
  const all = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code)).join('')
  const value = { [all]: [all, 'tag\u{e0041}', 'plain', 1.5, null] }
  const json = jsonOf(value)
  assert.equal(JSON.parse(json), value)
  assert.is(printable(json), json)
  assert.equal(JSON.parse(escapedJson('{\r\t"a"\n:1}')), { a: 1 })
  assert.is(jsonOf(undefined), 'null')
})

test.run()
