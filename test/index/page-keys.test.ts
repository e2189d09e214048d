import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PageKeys } from '../../src/index/keys/page-keys.js'

test('names are remembered by position, as long as the page grows', () => {
  const keys = new PageKeys()
  keys.add(5, 1)
  keys.name(1, { id: 'a', stated: undefined })
  keys.name(2, { id: 'b', stated: 'e' })
  assert.equal(
    [keys.nameOf(1), keys.nameOf(2), keys.nameOf(3)],
    [{ id: 'a', stated: undefined }, { id: 'b', stated: 'e' }, undefined],
  )
  assert.is(PageKeys.from(keys.toRun()).nameOf(1), undefined, 'level does not hold them')
})

test('what a key leads to is added behind what was found before', () => {
  const keys = new PageKeys()
  for (const pos of [3, 5, 9]) keys.add(7, pos)
  keys.add(8, 4)
  const found = [1]
  keys.collect(7, found)
  keys.collect(6, found)
  keys.collect(8, found)
  assert.equal(found, [1, 3, 5, 9, 4])
})

test.run()
