/**
 * A10: a string that was cut through an emoji is stored, and comes back as another string.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isAsrError } from '../../src/main.js'
import { collect, linesOf } from '../support/collect.js'
import { fails, said } from '../support/fails.js'
import { header, message } from '../support/records.js'
import { copied, importOf, openMemory, reopened, streamOf } from '../support/stores.js'

const TEXTS = ['ok \ud83d', 'ok \ufffd', 'ok \udc00', '\udc00 low first', `${'x'.repeat(200)}\ud83d tail`]
const RECORDS = TEXTS.map((value, index) => ({ type: 'tool_result', id: `m${index}`, seq: index + 1, text: value }))
const WITH_KEY = { type: 'tool_result', id: 'key', seq: RECORDS.length + 1, 'half \ud83d': { '\udc00': 1 } }

test('A10, CORE-7: half an emoji comes back as it went in, from the store and from a copy of it', async () => {
  const memory = await streamOf(...RECORDS, WITH_KEY)
  const { stream } = await reopened(memory)
  assert.equal(await collect(stream.records()), [...RECORDS, WITH_KEY])
  const copy = await copied(stream)
  assert.equal(await collect(copy.stream.records()), [...RECORDS, WITH_KEY])
  assert.is(await copy.stream.digest(), await stream.digest())
})

test('A10, CORE-8: texts that differ in a half have different hashes', async () => {
  const hashes = new Set<string>()
  for (const value of TEXTS) {
    const { stream } = await streamOf({ type: 'tool_result', id: 'same', seq: 1, text: value })
    hashes.add(await stream.hash('same'))
  }
  assert.is(hashes.size, TEXTS.length)
})

test('A10, CORE-7: the export is UTF-8 and JSON, with halves as escapes', async () => {
  const { stream } = await streamOf(...RECORDS)
  const [, first, second] = await linesOf(stream.exportJsonl())
  assert.ok(first.includes('"ok \\ud83d"'), first)
  assert.ok(second.includes('"ok \ufffd"'), second)
  assert.is(first.isWellFormed(), true)
})

test('A10, CORE-4: a half in an id is refused, by append and by import', async () => {
  const { stream } = await streamOf()
  await fails('ASR_BAD_VALUE', () => stream.append(message('m\ud83d')))
  assert.is(stream.length, 0)
  const { report } = await importOf('{"type":"message","id":"m\\ud83d"}')
  assert.equal(said(report.diagnostics), ['2 bad_field'])
})

test('A10, CORE-1: a half in a session id is refused', async () => {
  const { store } = await openMemory()
  const error = await store.createStream(header('s\ud83d')).catch((error: unknown) => error)
  assert.ok(isAsrError(error, 'ASR_BAD_VALUE') || isAsrError(error, 'ASR_BAD_RECORD'), String(error))
  assert.equal(await collect(store.streams()), [])
})

test('A10: a long title is not cut, so that it is not cut through an emoji', async () => {
  const title = `${'x'.repeat(79)}${'😀'.repeat(1000)}`
  const { store } = await streamOf({ type: 'session_info', id: 'i1', title })
  const [info] = await collect(store.streams())
  assert.is(info.title, title)
})

test.run()
