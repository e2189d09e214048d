/**
 * A23: a message is logged several times while it streams, and the reader keeps the first.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { idsOf } from '../support/collect.js'
import { message, text } from '../support/records.js'
import { reopened, streamOf } from '../support/stores.js'

const revision = (id: string, fields: { [field: string]: unknown }) => message(id, { messageId: 'a1', ...fields })
const FIRST = revision('r1', { ts: 100, content: text(''), usage: { out: 1 } })
const SECOND = revision('r2', { ts: 140, content: text('done'), usage: { out: 42 }, supersedes: 'r1' })
const THIRD = revision('r3', { ts: 140, content: text('done'), usage: { out: 42 }, supersedes: 'r2' })

test('A23, CORE-18: the last revision is in force, at the place of the first; all of them can be read', async () => {
  const memory = await streamOf(message('u1'), FIRST, message('u2'), SECOND, THIRD)
  const { stream } = await reopened(memory)
  const [entity, ...others] = await stream.entity('message', 'a1')
  assert.is(others.length, 0)
  assert.equal([entity.first.ts, entity.inForce?.ts], [100, 140])
  assert.equal(entity.inForce?.usage, { out: 42 })
  assert.equal(entity.inForce?.content, text('done'))
  assert.equal(
    entity.revisions.map(({ id }) => id),
    ['r1', 'r2', 'r3'],
  )
  assert.equal(await idsOf((await stream.contextView()).entries()), ['u1', 'r3', 'u2'])
})

test('A23, CORE-21: a revision that is sent again adds nothing', async () => {
  const { stream } = await streamOf(FIRST, SECOND)
  assert.equal(await stream.append([SECOND, THIRD]), { first: 2, last: 3, appended: 1, duplicates: 1 })
  assert.is((await stream.entity('message', 'a1'))[0].revisions.length, 3)
})

test('A23, CORE-17: without supersedes, one messageId names two messages', async () => {
  const { stream } = await streamOf(FIRST, revision('r2', { content: text('done') }))
  const entities = await stream.entity('message', 'a1')
  assert.equal(
    entities.map(({ inForce }) => inForce?.id),
    ['r1', 'r2'],
  )
})

test('A23, CORE-18: of two revisions of one target the later is in force, and verify notes it', async () => {
  const { store, stream } = await streamOf(FIRST, SECOND, { ...THIRD, supersedes: 'r1' })
  assert.is((await stream.entity('message', 'a1'))[0].inForce?.id, 'r3')
  const { ok, streams } = await store.verify()
  assert.is(ok, true)
  assert.equal(
    streams[0].problems.map(({ code, severity }) => ({ code, severity })),
    [{ code: 'superseded_twice', severity: 'note' }],
  )
})

test.run()
