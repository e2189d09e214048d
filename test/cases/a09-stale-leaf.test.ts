/**
 * A09: a session with many leaves is resumed at an old one.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { collect } from '../support/collect.js'
import { message, note } from '../support/records.js'
import { reopened, streamOf } from '../support/stores.js'

test('A09, CORE-13, CORE-14, CORE-15: a head stays where it was put, whatever is newer, longer or later', async () => {
  const memory = await streamOf(
    message('m1'),
    message('m2a', { parentId: 'm1', ts: 100 }),
    message('m2b', { parentId: 'm1', ts: 50 }),
    message('m3b', { parentId: 'm2b', ts: 60 }),
    message('m3a', { parentId: 'm2a', ts: 90 }),
  )
  await memory.stream.setHead('main', 'm3b')
  await memory.stream.append(note('p1', { parentId: 'm2a', ts: 999 }))

  const { stream } = await reopened(memory)
  assert.equal(await collect((await stream.activePath({ head: 'main' })).ids()), ['m1', 'm2b', 'm3b'])
  assert.equal(await collect((await stream.activePath()).ids()), ['m1', 'm2a', 'm3a'])
  assert.equal(await stream.leaves(), [
    { recordId: 'm3b', pos: 4, heads: ['main'] },
    { recordId: 'm3a', pos: 5, heads: ['primary'] },
    { recordId: 'p1', pos: 7, heads: [] },
  ])
})

test('A09, CORE-13: an append to a head lengthens that branch and no other', async () => {
  const memory = await streamOf(message('m1'), message('m2a', { parentId: 'm1' }), message('m2b', { parentId: 'm1' }))
  await memory.stream.setHead('main', 'm2a')
  await memory.stream.append(message('m3a'), { head: 'main' })
  const { stream } = await reopened(memory)
  assert.is((await stream.get('m3a'))?.head, 'main')
  assert.equal(await collect((await stream.activePath({ head: 'main' })).ids()), ['m1', 'm2a', 'm3a'])
  assert.equal(await collect((await stream.activePath()).ids()), ['m1', 'm2b'])
})

test.run()
