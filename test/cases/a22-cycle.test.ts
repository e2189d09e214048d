/**
 * A22: an id is written a second time under a later parent; the tree becomes a loop and every start hangs.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { collect } from '../support/collect.js'
import { fails, said } from '../support/fails.js'
import { header, message, note } from '../support/records.js'
import { importOf, reopened, streamOf } from '../support/stores.js'

const AGAIN = note('h1', { parentId: 'm2' })

test('A22, CORE-21: a second record with a known id and another parent is refused by append', async () => {
  const memory = await streamOf(message('m1'), note('h1', { parentId: 'm1' }), message('m2', { parentId: 'h1' }))
  const other = await memory.store.createStream(header('other'))
  await other.append(message('x1'))
  const error = await fails('ASR_ID_CONFLICT', () => memory.stream.append(AGAIN))
  assert.is(error.recordId, 'h1')
  const { store, stream } = await reopened(memory)
  assert.equal(await collect((await stream.activePath()).ids()), ['m1', 'h1', 'm2'])
  assert.is((await store.stream('other')).length, 1)
})

test('A22, CORE-21: in a file the second one is refused, and the path is as it was', async () => {
  const { stream, report } = await importOf(
    message('m1', { parentId: null }),
    note('h1', { parentId: 'm1' }),
    message('m2', { parentId: 'h1' }),
    AGAIN,
  )
  assert.equal(said(report.diagnostics), ['5 id_conflict'])
  assert.equal(await collect((await stream.activePath({ at: 'm2' })).ids()), ['m1', 'h1', 'm2'])
})

test('A22, CORE-12: a record that is its own parent, or whose parent comes later, begins a path of its own', async () => {
  const { stream, report } = await importOf(
    message('a', { parentId: 'b' }),
    message('b', { parentId: 'a' }),
    message('c', { parentId: 'c' }),
  )
  assert.equal(said(report.diagnostics), ['2 forward_parent', '4 forward_parent'])
  const path = await stream.activePath({ at: 'b' })
  assert.equal(await collect(path.ids()), ['a', 'b'])
  assert.equal(path.cut, { recordId: 'a', missingParentId: 'b' })
  assert.equal((await stream.activePath({ at: 'c' })).cut, { recordId: 'c', missingParentId: 'c' })
})

test('A22, CORE-17: a revision of itself or of a later record makes no loop', async () => {
  const { stream, report } = await importOf(
    message('a', { supersedes: 'a' }),
    message('b', { supersedes: 'c' }),
    message('c', { supersedes: 'b' }),
  )
  assert.equal(said(report.diagnostics), ['2 supersedes_unknown', '3 supersedes_unknown'])
  const [entity] = await stream.entity('message', 'b')
  assert.equal(
    entity.revisions.map(({ id }) => id),
    ['b', 'c'],
  )
})

test.run()
