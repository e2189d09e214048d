import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Header } from '../../src/main.js'
import { newHeader, revisedHeader } from '../../src/record/header.js'
import { fails } from '../support/fails.js'

const text = (header: unknown) => JSON.stringify(header)

test('CORE-3: a created header gets what it lacks of type and asr, in front; all else stays as it was', () => {
  assert.is(text(newHeader({ sessionId: 's' })), '{"type":"header","asr":"1","sessionId":"s"}')
  assert.is(text(newHeader({ sessionId: 's', asr: '1' })), '{"type":"header","sessionId":"s","asr":"1"}')
  assert.is(
    text(newHeader({ x: 1, type: 'header', sessionId: 's' })),
    '{"asr":"1","x":1,"type":"header","sessionId":"s"}',
  )
  const whole: Header = { x: { y: null }, sessionId: 's', asr: '1', type: 'header' }
  assert.is(text(newHeader(whole)), text(whole))
})

test('CORE-3: what can be no header is refused', async () => {
  for (const bad of [{}, { sessionId: '' }, { sessionId: 's', type: 'message' }, { sessionId: 's', asr: '99' }, null]) {
    await fails('ASR_BAD_RECORD', () => newHeader(bad as unknown as Header))
  }
})

const CURRENT: Header = { type: 'header', asr: '1', sessionId: 's', agent: { name: 'a', version: '1' }, x: 1 }

test('CORE-3: a patch replaces whole keys, null removes, and new keys come last', () => {
  const revised = revisedHeader(CURRENT, { agent: { name: 'b' }, x: null, y: [1] })
  assert.is(text(revised), '{"type":"header","asr":"1","sessionId":"s","agent":{"name":"b"},"y":[1]}')
  assert.is(CURRENT.x, 1, 'the header in force is left alone')
})

test('CORE-3: a patch that changes nothing makes no entry', () => {
  const nothings = [
    {},
    { x: 1 },
    { nothing: null },
    { agent: { version: '1', name: 'a' } },
    { type: 'header', sessionId: 's', asr: '1' },
  ]
  for (const patch of nothings) assert.is(revisedHeader(CURRENT, patch), undefined, text(patch))
})

test('CORE-3: type, asr and sessionId can be neither removed nor changed', async () => {
  for (const patch of [
    { type: null },
    { type: 'x' },
    { asr: '2' },
    { asr: null },
    { sessionId: 't' },
    { sessionId: null },
  ]) {
    const error = await fails('ASR_BAD_RECORD', () => revisedHeader(CURRENT, patch))
    assert.is(error.sessionId, 's')
  }
})

test('CORE-3: a key that means something to JavaScript is a key like any other', () => {
  const patch = JSON.parse('{"__proto__":{"polluted":1},"constructor":2,"toString":null}')
  const revised = revisedHeader(CURRENT, patch)
  assert.ok(Object.hasOwn(revised!, '__proto__'))
  assert.is(Object.getPrototypeOf(revised), Object.prototype)
  assert.is(
    text(revised),
    '{"type":"header","asr":"1","sessionId":"s","agent":{"name":"a","version":"1"},"x":1,"__proto__":{"polluted":1},"constructor":2}',
  )
})

test.run()
