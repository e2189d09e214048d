import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { differingPlaces } from '../../../src/acp/equivalence/pointers.js'

const places = (a: unknown, b: unknown): unknown[] => [...differingPlaces(a, b)]

test('equal values differ nowhere, whatever the order of their keys', () => {
  assert.equal(places({ a: 1, b: [null, 'x'] }, { b: [null, 'x'], a: 1 }), [])
})

test('the innermost places are named, with what stands there in either', () => {
  assert.equal(places({ a: { b: [1, 2] } }, { a: { b: [1, 3, 4] } }), [
    { pointer: '/a/b/1', a: 2, b: 3 },
    { pointer: '/a/b/2', b: 4 },
  ])
})

test('values of two kinds differ as a whole', () => {
  assert.equal(places({ a: [] }, { a: {} }), [{ pointer: '/a', a: [], b: {} }])
  assert.equal(places(undefined, null), [{ pointer: '', b: null }])
})

test('keys are escaped as RFC 6901 has it, and those of a prototype are none', () => {
  assert.equal(places({ 'a/b': { '~': 1 } }, { 'a/b': { '~': 2 } }), [{ pointer: '/a~1b/~0', a: 1, b: 2 }])
  assert.equal(places({}, { constructor: 1 }), [{ pointer: '/constructor', b: 1 }])
})

test.run()
