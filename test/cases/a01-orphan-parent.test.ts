/**
 * A01: a record points at a parent that was never stored; most of the history disappears without a word.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { collect, idsOf } from '../support/collect.js'
import { fails, said } from '../support/fails.js'
import { message } from '../support/records.js'
import { importOf, reopened, streamOf } from '../support/stores.js'

const FILE = [
  message('m1', { parentId: null }),
  message('m2', { parentId: 'm1' }),
  message('m3', { parentId: 'ghost' }),
  message('m4', { parentId: 'm3' }),
]

test('A01, CORE-12: append refuses a record whose parent is unknown, and stores nothing', async () => {
  const { stream } = await streamOf(FILE[0], FILE[1])
  const error = await fails('ASR_PARENT_UNKNOWN', () => stream.append(FILE[2]))
  assert.match(error.message, 'ghost')
  assert.is(stream.length, 2)
})

test('A01, CORE-12: import keeps the orphan, reports it, and its path says that it is cut', async () => {
  const { stream, report } = await importOf(...FILE)
  assert.equal(said(report.diagnostics), ['4 orphan_parent'])
  assert.is(report.diagnostics[0].recordId, 'm3')
  const path = await stream.activePath({ at: 'm4' })
  assert.equal(await collect(path.ids()), ['m3', 'm4'])
  assert.equal(path.cut, { recordId: 'm3', missingParentId: 'ghost' })
  assert.equal((await stream.contextView()).cut, { recordId: 'm3', missingParentId: 'ghost' })
  assert.equal(await idsOf(stream.records()), ['m1', 'm2', 'm3', 'm4'])
  assert.equal(
    (await stream.leaves()).map(({ recordId }) => recordId),
    ['m2', 'm4'],
  )
})

test('A01, CORE-12: an orphan stays one when the missing id turns up later', async () => {
  const imported = await importOf(...FILE)
  await imported.stream.append(message('ghost', { parentId: 'm2' }))
  const { stream } = await reopened(imported)
  const path = await stream.activePath({ at: 'm4' })
  assert.equal(await collect(path.ids()), ['m3', 'm4'])
  assert.equal(path.cut, { recordId: 'm3', missingParentId: 'ghost' })
  assert.equal(await collect((await stream.activePath({ at: 'ghost' })).ids()), ['m1', 'm2', 'ghost'])
})

test('A01, CORE-12: a record of a refused batch is no parent', async () => {
  const { stream } = await streamOf(FILE[0])
  await fails('ASR_PARENT_UNKNOWN', () => stream.append([message('held'), message('bad', { parentId: 'ghost' })]))
  await fails('ASR_PARENT_UNKNOWN', () => stream.append(message('m2', { parentId: 'held' })))
  assert.equal(await idsOf(stream.records()), ['m1'])
})

test.run()
