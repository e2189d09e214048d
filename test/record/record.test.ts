import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { participates, statedEntityId } from '../../src/record/record.js'

test('CORE-20: each type states its entity by its own field, and only by text', () => {
  const fields = {
    message: 'messageId',
    tool_call: 'callId',
    tool_result: 'callId',
    permission: 'requestId',
    input_request: 'requestId',
    plan: 'planId',
    terminal: 'terminalId',
    compaction: 'compactionId',
    subagent: 'childSession',
  }
  const all = Object.fromEntries(Object.values(fields).map((field) => [field, `of ${field}`]))
  for (const [type, field] of Object.entries(fields)) {
    assert.is(statedEntityId({ type, ...all }), `of ${field}`)
    assert.is(statedEntityId({ type, [field]: '' }), '')
    for (const other of [1, null, {}, undefined]) assert.is(statedEntityId({ type, [field]: other }), undefined)
    assert.is(statedEntityId({ type, id: 'x' }), undefined)
  }
  for (const type of ['state', 'tombstone', 'head', 'com.example/any', ''])
    assert.is(statedEntityId({ type, ...all }), undefined)
})

test('CORE-22: what participates in context, by a record alone', () => {
  for (const type of ['message', 'tool_call', 'tool_result', 'compaction', 'instructions']) {
    assert.is(participates({ type }), true, type)
  }
  for (const type of [
    'state',
    'plan',
    'tombstone',
    'head',
    'file_change',
    'usage_summary',
    'com.example/message',
    'Message',
  ]) {
    assert.is(participates({ type }), false, type)
  }
  const messages = [
    { origin: 'notice' },
    { audience: 'user' },
    { origin: 'user' },
    { audience: 'model' },
    { origin: null },
  ]
  assert.equal(
    messages.map((fields) => participates({ type: 'message', ...fields })),
    [false, false, true, true, true],
  )
  assert.is(participates({ type: 'tool_call', origin: 'notice', audience: 'user' }), true, 'of messages alone')
})

test.run()
