import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { assignedSeq, badField, badHeader, badSessionId, withAssigned } from '../../src/record/validate.js'

const GOOD = { type: 'x', seq: 0, id: 'a', parentId: null, supersedes: 'b', head: 'h' }

test('CORE-4: a record with sound common fields is one, whatever else it holds', () => {
  for (const record of [
    GOOD,
    { type: '' },
    { type: 'x', parentId: 'p', seq: Number.MAX_SAFE_INTEGER, ts: {}, _meta: 1, id: '' },
  ]) {
    assert.is(badField(record), undefined)
  }
  assert.is(badField({ type: 'head', recordId: null }), undefined)
  assert.is(badField({ type: 'head', recordId: 'a', name: 1 }), undefined, 'the name is looked at when the head moves')
  assert.is(badField({ type: 'tombstone', targetId: 'a' }), undefined)
  assert.is(badField({ type: 'x', recordId: 1, targetId: 1 }), undefined)
})

test('CORE-4: a common field of the wrong kind is named', () => {
  const bad: [string, unknown[]][] = [
    ['type', [undefined, null, 1, {}, ['x']]],
    ['seq', [-1, 0.5, Number.NaN, 2 ** 53, '1', null]],
    ['id', [1, null, {}, 'a\ud83d']],
    ['parentId', [1, {}, false]],
    ['supersedes', [null, 1]],
    ['head', [null, 1]],
  ]
  for (const [field, values] of bad) {
    for (const value of values)
      assert.ok(badField({ ...GOOD, [field]: value })?.includes(`\`${field}\``), `${field}: ${value}`)
  }
  for (const recordId of [undefined, 1, {}]) assert.ok(badField({ type: 'head', recordId })?.includes('`recordId`'))
  for (const targetId of [undefined, 1, null])
    assert.ok(badField({ type: 'tombstone', targetId })?.includes('`targetId`'))
})

test('CORE-1: a session id is 1 to 4,096 bytes of well-formed text', () => {
  for (const id of ['s', '.', '../x', '\0', ' ', 'x'.repeat(4_096), '\u20ac'.repeat(1_365)])
    assert.is(badSessionId(id), undefined)
  for (const id of ['', 'x'.repeat(4_097), '\u20ac'.repeat(1_366), 'a\udc00', 1, null, undefined]) {
    assert.ok(badSessionId(id)?.includes('`sessionId`'))
  }
})

test('CORE-3: of a header only the session id is demanded, and the type when it is there', () => {
  assert.is(badHeader({ sessionId: 's' }), undefined)
  assert.is(badHeader({ sessionId: 's', type: 'header', asr: 2, agent: 1 }), undefined)
  for (const header of [{}, { sessionId: 1 }, { sessionId: 's', type: 'x' }, { sessionId: 's', type: null }]) {
    assert.ok(badHeader(header))
  }
})

test('CORE-4: an assigned seq is the position, or one more than the last where that is more', () => {
  assert.equal([assignedSeq(1, 0), assignedSeq(5, 3), assignedSeq(5, 4), assignedSeq(5, 40)], [1, 5, 5, 41])
})

test('CORE-4: what is assigned comes last, seq before id, and what was given stays where it stood', () => {
  const keys = (record: object) => Object.keys(record).join()
  assert.is(keys(withAssigned({ type: 'x', a: 1 }, 1, 'r1')), 'type,a,seq,id')
  assert.is(keys(withAssigned({ id: 'i', type: 'x' }, 1, 'r1')), 'id,type,seq')
  assert.is(keys(withAssigned({ seq: 5, type: 'x' }, 1, 'r1')), 'seq,type,id')
  const given = { type: 'x', seq: 5, id: 'i' }
  assert.equal(withAssigned(given, 1, 'r1'), given)
  const bare = { type: 'x' }
  withAssigned(bare, 1, 'r1')
  assert.equal(bare, { type: 'x' }, 'the given record is left alone')
})

test.run()
