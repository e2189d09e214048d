import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Span } from '../../src/cli/output.js'
import { gist, recordLine } from '../../src/cli/record-line.js'
import { width } from '../../src/cli/text.js'

const textOf = (spans: Span[]) => spans.map(({ text }) => text).join('')
const plain = { number: 7, numberColumns: 3 }

test('the gist of a message is its role and text, with other blocks named by their kind', () => {
  const content = [
    { type: 'text', text: 'two\nlines' },
    { type: 'image', data: 'xx' },
    { type: 'reasoning', text: 'hm' },
  ]
  assert.is(gist({ type: 'message', seq: 1, id: 'a', role: 'user', content }, 80), 'user two lines [image] hm')
})

test('the gist takes fields of any kind without failing', () => {
  assert.is(gist({ type: 'message', seq: 1, id: 'a', role: 3, content: null }, 80), '3 null')
  assert.is(gist({ type: 'message', seq: 1, id: 'a', content: [] }, 80), '')
  assert.is(gist({ type: 'tool_call', seq: 1, id: 'a', name: 'ls', input: { path: '/' } }, 80), 'ls {"path":"/"}')
  assert.is(gist({ type: 'com.example/x', seq: 1, id: 'a', title: 'T', other: 1 }, 80), 'T')
})

test('a long value is looked at only as far as it can be seen, behind the white space that it begins with', () => {
  const content = `${'\n'.repeat(5_000)}word ${'x'.repeat(1_000_000)}`
  const shown = gist({ type: 'message', seq: 1, id: 'a', role: 'user', content }, 80)
  assert.ok(shown.startsWith('user word xxx'), shown.slice(0, 100))
  assert.ok(shown.length > 80 && shown.length < 500, `${shown.length}`)
})

test('a line is cut at its width, inside no surrogate pair', () => {
  const record = { type: 'message', seq: 1, id: 'r1', role: 'user', content: '😀'.repeat(50_000) }
  for (let columns = 1; columns < 60; columns++) {
    const line = textOf(recordLine(record, { ...plain, columns }))
    assert.ok(width(line) <= columns)
    assert.ok(line.isWellFormed())
  }
  assert.is(textOf(recordLine(record, { ...plain, columns: 41 })), '  7  r1        message       user 😀😀😀…')
})

test.run()
