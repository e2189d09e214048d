import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AsrRecord, StoredRecord } from '../../src/main.js'
import { appendAssigned } from '../../src/record/assigned-text.js'

function assigned(line: string): string {
  const given = JSON.parse(line) as AsrRecord
  return appendAssigned(line, given, { seq: 7, id: 'r7', ...given } as StoredRecord)
}

test('CORE-4, CORE-7: what is assigned stands before the last brace, and every other byte as it was', () => {
  assert.is(assigned('{"type":"x","n":1.0}'), '{"type":"x","n":1.0,"seq":7,"id":"r7"}')
  assert.is(assigned('{"type":"x" }'), '{"type":"x" ,"seq":7,"id":"r7"}')
  assert.is(assigned(' {"type":"x"}\t '), ' {"type":"x","seq":7,"id":"r7"}\t ')
  assert.is(assigned('{"type":"x","a":{"b":"}"}}'), '{"type":"x","a":{"b":"}"},"seq":7,"id":"r7"}')
})

test('CORE-4: only what is missing is written', () => {
  assert.is(assigned('{"type":"x","seq":3,"n":1.0}'), '{"type":"x","seq":3,"n":1.0,"id":"r7"}')
  assert.is(assigned('{"id":"a","type":"x","n":1.0}'), '{"id":"a","type":"x","n":1.0,"seq":7}')
  const complete = '{"id":"a","seq":0,"type":"x","n":-0}'
  assert.is(assigned(complete), complete)
})

test('CORE-4: the line says the stored record', () => {
  const given = { type: 'x' }
  const stored = { type: 'x', seq: 1, id: 'r1' }
  assert.equal(JSON.parse(appendAssigned('{"type":"x"}', given, stored)), stored)
})

test.run()
