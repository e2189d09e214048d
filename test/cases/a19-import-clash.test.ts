/**
 * A19: importing an export where the session already is fails, overwrites, or makes a copy.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { recordAll, talk } from '../acp/support.js'
import { bytesOf, linesOf } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { message } from '../support/records.js'
import { openMemory } from '../support/stores.js'

async function recorded() {
  const { store } = await recordAll(
    talk().prompt('u', 'go').call('t', { status: 'completed' }).say('m', 'x').state('idle').frames,
  )
  const stream = await store.stream('s')
  return { store, stream, file: await bytesOf(stream.exportJsonl()) }
}

test('A19: the export of a recording, imported where it came from, changes nothing', async () => {
  const { store, stream, file } = await recorded()
  const before = await stream.digest()
  for (const _ of [1, 2]) {
    const { appended, duplicates, records } = await store.importJsonl([file])
    assert.equal([appended, duplicates, records], [0, stream.length, stream.length])
  }
  assert.is(await stream.digest(), before)
})

test('A19: an old export takes nothing away from a stream that has gone on', async () => {
  const { store, stream, file } = await recorded()
  await stream.append(message('m9'))
  const { appended, records } = await store.importJsonl([file])
  assert.equal([appended, records], [0, stream.length])
  assert.ok(await stream.get('m9'))
})

test('A19: exported, imported elsewhere and exported again it is the same to the byte', async () => {
  const { stream, file } = await recorded()
  const { store } = await openMemory()
  await store.importJsonl([file])
  const copy = await store.stream('s')
  assert.equal(await bytesOf(copy.exportJsonl()), file)
  assert.is(await copy.digest(), await stream.digest())
})

test('A19: a file that is cut, or that holds another session, leaves no half session behind', async () => {
  const { stream } = await recorded()
  const lines = await linesOf(stream.exportJsonl())
  const { store } = await openMemory()
  await fails('torn_tail', () => store.importJsonl([lines.join('\n').slice(0, -9)], { strict: true }))
  const other = JSON.stringify({ ...JSON.parse(lines[0]), sessionId: 'other' })
  await fails('session_mismatch', () => store.importJsonl([[...lines, other, ''].join('\n')], { strict: true }))
  for await (const { sessionId } of store.streams()) assert.unreachable(sessionId)
})

test.run()
