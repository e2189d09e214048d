/**
 * What stands in a salvaged export in place of what is lost, and what an import makes of it (CORE-10, CORE-12).
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FRAME_HEAD_BYTES, KIND } from '../../src/log/format/frame.js'
import { type AsrRecord, openStore, type Stream } from '../../src/main.js'
import { collect, idsOf, linesOf } from '../support/collect.js'
import { onlyLogFile, overwrite } from '../support/logs.js'
import { compaction, message, note } from '../support/records.js'
import { openMemory, streamOf } from '../support/stores.js'
import { piecesOf } from './sample-stream.js'

/** The stream whose records at these positions are damaged, exported with salvage. */
async function salvagedOf(records: AsrRecord[], lost: number[]): Promise<AsrRecord[]> {
  const { location, store } = await streamOf(...records)
  await store.close()
  const { name, bytes } = await onlyLogFile(location.log)
  for (const { at, kind, pos } of piecesOf(name, bytes))
    if (kind === KIND.record && lost.includes(pos)) bytes[at + FRAME_HEAD_BYTES] ^= 1
  await overwrite(location.log, name, bytes)
  const damaged = await (await openStore(location)).stream('s')
  return (await linesOf(damaged.exportJsonl({ salvage: true }))).map((line) => JSON.parse(line))
}

async function importedFrom(lines: AsrRecord[]): Promise<Stream> {
  const { store } = await openMemory()
  const { diagnostics } = await store.importJsonl([lines.map((line) => `${JSON.stringify(line)}\n`).join('')])
  assert.equal(diagnostics, [])
  return store.stream('s')
}

test('CORE-10, CORE-12: one record lost from the middle: a gap in its place, listed by path and view', async () => {
  const lines = await salvagedOf([message('a'), message('b'), message('c')], [2])
  const { id, ...gap } = lines[2]
  assert.equal(gap, { type: 'gap', reason: 'damaged', from: 2, to: 2, seq: 2 })
  const stream = await importedFrom(lines)
  const path = await stream.activePath()
  assert.equal([path.cut, path.gaps, await collect(path.ids())], [null, [id], ['a', id, 'c']])
  const view = await stream.contextView()
  assert.equal([view.cut, view.gaps, await idsOf(view.entries())], [null, [id], ['a', 'c']])
})

test('CORE-12: a gap has the id by which later records name the lost one, and stands in its place', async () => {
  const lines = await salvagedOf(
    [
      message('a'),
      message('b', { parentId: 'a' }),
      message('c', { parentId: 'b' }),
      compaction('k', 'b'),
      message('d'),
    ],
    [2],
  )
  assert.equal(
    lines.slice(1).map(({ type, id }) => [type, id]),
    [
      ['message', 'a'],
      ['gap', 'b'],
      ['message', 'c'],
      ['compaction', 'k'],
      ['message', 'd'],
    ],
  )
  const stream = await importedFrom(lines)
  const view = await stream.contextView()
  assert.equal([view.gaps, view.compaction?.id, view.diagnostics], [['b'], 'k', []])
  assert.equal(await idsOf(view.entries()), ['k', 'c', 'd'])
})

test('CORE-12: a hole that two branches cross is in both paths', async () => {
  const lines = await salvagedOf(
    [
      message('a'),
      message('b'), // lost, on primary
      message('x', { parentId: 'a', head: 'side' }), // lost, on side
      message('c'),
      message('y', { head: 'side' }),
    ],
    [2, 3],
  )
  assert.equal(
    lines.slice(1).map(({ type, from, to, head }) => [type, from, to, head]),
    [
      ['message', undefined, undefined, undefined],
      ['gap', 2, 2, undefined],
      ['gap', 3, 3, 'side'],
      ['message', undefined, undefined, undefined],
      ['message', undefined, undefined, 'side'],
    ],
  )
  const stream = await importedFrom(lines)
  for (const [at, gap] of [
    ['c', lines[2].id],
    ['y', lines[3].id],
  ])
    assert.ok((await stream.activePath({ at })).gaps.includes(gap as string), `${at} crosses the hole`)
})

test('CORE-11, CORE-12: a lost move of a head is said again, so that what follows hangs where it hung', async () => {
  const lines = await salvagedOf(
    [message('a'), message('b'), { type: 'head', name: 'primary', recordId: 'a' }, message('c'), note('n')],
    [3],
  )
  assert.equal(
    lines.slice(1).map(({ type, recordId }) => [type, recordId]),
    [
      ['message', undefined],
      ['message', undefined],
      ['gap', undefined],
      ['head', 'a'],
      ['message', undefined],
      ['state', undefined],
    ],
  )
  const { store } = await openMemory()
  await store.importJsonl([lines.map((line) => `${JSON.stringify(line)}\n`).join('')])
  assert.equal(await collect((await (await store.stream('s')).activePath()).ids()), ['a', 'c', 'n'])
})

test('CORE-10: a sound stream is salvaged byte for byte as it is exported', async () => {
  const { stream } = await streamOf(message('a'), message('b'))
  assert.equal(await linesOf(stream.exportJsonl({ salvage: true })), await linesOf(stream.exportJsonl()))
})

test('CORE-10: what salvage learns from damaged bytes is not written on with', async () => {
  const { location, store } = await streamOf({ type: 'x', a: 1 }, { type: 'x', a: 2 })
  await store.close()
  const again = await openStore(location)
  const stream = await again.stream('s')
  // Frames of an append that never ended, with a shape that no whole one tells.
  const { name, bytes } = await onlyLogFile(location.log)
  await stream.append([
    { type: 'y', only: 1, here: 2 },
    { type: 'y', only: 3, here: 4 },
  ])
  const grown = (await onlyLogFile(location.log)).bytes
  await again.close()
  await overwrite(location.log, name, grown.subarray(0, grown.length - 1))
  const torn = await openStore({ ...(await openMemory()).location, log: location.log }, { readOnly: true })
  const read = await torn.stream('s')
  assert.is((await linesOf(read.exportJsonl({ salvage: true }))).length, 3)
  assert.is((await torn.verify()).ok, true)
  assert.ok(bytes.length < grown.length)
})

test.run()
