import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { idKey, messageOf, messagesIn } from '../../src/acp/frames.js'

test('requests, notifications and responses are told apart, and what is none of them is none', () => {
  assert.is(messageOf({ id: 1, method: 'a' })?.kind, 'request')
  assert.is(messageOf({ id: null, method: 'a' })?.kind, 'request')
  assert.is(messageOf({ method: 'a', params: {} })?.kind, 'notification')
  assert.is(messageOf({ id: 'x', result: null })?.kind, 'response')
  assert.is(messageOf({ id: 1, error: { code: 1 } })?.kind, 'response')
  for (const bad of [null, 1, 'x', [], {}, { id: 1 }, { result: 1 }, { id: {}, method: 'a' }, { method: 1 }]) {
    assert.is(messageOf(bad), undefined, JSON.stringify(bad))
  }
})

test('the id 1 and the id "1" are two ids', () => {
  assert.is.not(idKey(1), idKey('1'))
  assert.is(idKey(1), idKey(1))
})

test('M24: a batch is its messages, an empty one is a frame that is none', () => {
  assert.equal(messagesIn([{ method: 'a' }, 3]), [{ method: 'a' }, 3])
  assert.equal(messagesIn([]), [[]])
  assert.equal(messagesIn({ method: 'a' }), [{ method: 'a' }])
})

test.run()
