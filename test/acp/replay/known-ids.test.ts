/**
 * Ids that were told: none is forgotten, few are taken for known that are not.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KnownIds } from '../../../src/acp/replay/known-ids.js'

const MANY = 200_000

test('an id is new once, known for certain soon after, and known or maybe so ever after', () => {
  const known = new KnownIds()
  let maybe = 0
  for (let n = 0; n < MANY; n++) {
    const first = known.add('agent', `m${n}`)
    assert.ok(first !== true)
    if (first === 'maybe') maybe++
    if (n % 1_000 === 0) assert.is(known.add('agent', `m${n}`), true)
  }
  assert.ok(maybe < MANY / 5_000, `${maybe} new ids may be known`)
  for (let n = 0; n < MANY; n += 97) assert.is.not(known.add('agent', `m${n}`), false)
})

test('spaces keep their ids apart', () => {
  const known = new KnownIds()
  assert.is(known.add('user', 'm'), false)
  assert.is(known.add('agent', 'm'), false)
  assert.is(known.add('user', 'm'), true)
})

test.run()
