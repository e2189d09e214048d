/**
 * What a replay leaves out is said, and streams that are not whole are told as far as they go.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { losses, replay } from '../../../src/acp/replay/main.js'
import { type AsrRecord, openStore } from '../../../src/main.js'
import { collect } from '../../support/collect.js'
import { indexOfText, onlyLogFile, overwrite } from '../../support/logs.js'
import { header, jsonl, message, text } from '../../support/records.js'
import { importOf, openMemory } from '../../support/stores.js'
import { lost, streamWith, told } from './support.js'

const VENDOR = '_org.agent-session.acp'

/** Records whose type alone is a category of ASR-731. */
const BY_TYPE = [
  ...['inference', 'vcs', 'workspace_state', 'checkpoint', 'gap', 'declaration', 'instructions', 'config_change'],
  ...['permission', 'input_request', 'hook', 'memory_change', 'delivery', 'redaction', 'subagent'],
]

test('ASR-731: each category that the stream has is reported, with how many and the first of them', async () => {
  const records: AsrRecord[] = BY_TYPE.flatMap((type) => [
    { type, id: `${type}-1` },
    { type, id: `${type}-2` },
  ])
  const stream = await streamWith(records)
  const expected = BY_TYPE.toSorted().map((loss) => ({ loss, count: 2, recordId: `${loss}-1` }))
  assert.equal(await losses(stream), expected)
  assert.is((await told(stream)).length, 1)
})

test('ASR-731: fields that ACP has no place for are reported by category', async () => {
  const stream = await streamWith(
    [
      message('a', { ts: '2026-01-01T00:00:00Z', author: 'human', origin: 'prompt', from: { actor: 'x' } }),
      message('b', { observedAt: '2026-01-01T00:00:00Z', capture: { content: { state: 'redacted' } } }),
      message('c', { copiedFrom: { session: 'p', id: 'x' }, recipients: [] }),
      message('c2', { supersedes: 'c', copiedFrom: { session: 'p', id: 'y' } }),
    ],
    { lineage: { forkedFrom: { session: 'p' } } },
  )
  assert.equal(await lost(stream), {
    capture: 1,
    lineage: 2,
    'message.author': 1,
    revision_history: 1,
    senders: 1,
    timestamps: 2,
    turn_triggers: 1,
  })
})

test('ASR-731: what a replay can not say of a session, an exit and a diff is named', async () => {
  const changes = [{ op: 'modify', path: { root: null, path: '/a' } }]
  const stream = await streamWith([
    { type: 'session_info', id: 'i1', _meta: { k: 1 } },
    { type: 'session_info', id: 'i2', title: 'A', _meta: { k: 1 } },
    { type: 'terminal', id: 'x1', terminalId: 'x1', status: 'exited', exitCode: -1 },
    { type: 'terminal', id: 'x2', terminalId: 'x2', status: 'exited', exitCode: 2 ** 32 },
    { type: 'terminal', id: 'x3', terminalId: 'x3', status: 'exited', exitCode: 1 },
    { type: 'tool_call', id: 'c', callId: 'c' },
    { type: 'tool_result', id: 'd', callId: 'c', status: 'completed' },
    {
      type: 'file_change',
      id: 'f',
      cause: { callId: 'c' },
      changes,
      native: { record: { type: 'diff', _meta: { k: 1 } } },
    },
    { type: 'file_change', id: 'g', cause: { callId: 'c' }, changes },
  ])
  assert.equal(await losses(stream), [
    { loss: `${VENDOR}/diff_meta`, count: 1, recordId: 'f' },
    { loss: `${VENDOR}/exit_code`, count: 2, recordId: 'x1' },
    { loss: `${VENDOR}/session_info_meta`, count: 1, recordId: 'i1' },
  ])
})

test('ASR-731: records of unknown types are reported, and so is what lies off the path', async () => {
  const stream = await streamWith([
    message('a'),
    { type: 'com.example/thing', id: 'b' },
    { type: 'unheard', id: 'c' },
    message('x', { parentId: 'a', head: 'side' }),
    { type: 'head', id: 'h', name: 'other', recordId: 'a' },
  ])
  assert.equal(await lost(stream), { [`${VENDOR}/unmapped`]: 2, off_path: 2 })
  assert.equal(await lost(stream, { at: 'a' }), { off_path: 4 })
})

test('ASR-731: the report is the same before, in the middle of and after a replay', async () => {
  const stream = await streamWith([{ type: 'hook', id: 'a' }, message('b'), message('c'), { type: 'hook', id: 'd' }])
  const expected = [{ loss: 'hook', count: 2, recordId: 'a' }]
  const replayed = replay(stream)
  assert.equal(await replayed.losses(), expected)
  const updates = replay(stream)
  const iterator = updates[Symbol.asyncIterator]()
  await iterator.next()
  assert.equal(await updates.losses(), expected)
  assert.is((await iterator.next()).value.update.messageId, 'c')
})

test('a path that is cut, or misses refused lines, is told as far as it goes, and said not to be whole', async () => {
  const cut = await importOf(message('a', { parentId: 'gone' }), message('b'))
  assert.equal((await told(cut.stream)).map(({ messageId }) => messageId).slice(0, 2), ['a', 'b'])
  assert.equal(await losses(cut.stream), [{ loss: `${VENDOR}/cut`, count: 1, recordId: 'a' }])
  const torn = await importOf(message('a'), '{"type":', message('b'))
  assert.is((await told(torn.stream)).length, 3)
  assert.equal(await losses(torn.stream), [{ loss: `${VENDOR}/refused_lines`, count: 1, recordId: 'b' }])
})

test('records that are damaged are left out and said to be; the others are told', async () => {
  const memory = await openMemory()
  const stream = await memory.store.createStream(header())
  for (const id of ['a', 'b', 'c', 'd']) await stream.append(message(id, { content: text(`words of ${id}`) }))
  await memory.store.close()
  const { log } = memory.location
  const { name, bytes } = await onlyLogFile(log)
  bytes[indexOfText(bytes, 'words of b')] ^= 1
  await overwrite(log, name, bytes)
  const store = await openStore(memory.location)
  const damaged = await store.stream('s')
  const updates = await told(damaged)
  assert.equal(
    updates.map(({ messageId }) => messageId),
    ['a', 'c', 'd', undefined],
  )
  assert.is((await lost(damaged))[`${VENDOR}/damage`], 1)
})

test('a stream that ends in damage is told up to it, where the loss was accepted', async () => {
  const memory = await openMemory()
  const stream = await memory.store.createStream(header())
  for (const id of ['a', 'b', 'c']) await stream.append(message(id, { content: text(`words of ${id}`) }))
  await memory.store.close()
  const { log } = memory.location
  const { name, bytes } = await onlyLogFile(log)
  bytes[indexOfText(bytes, 'words of b')] ^= 1
  await overwrite(log, name, bytes)
  await memory.location.index.open()
  await memory.location.index.clear()
  await memory.location.index.close()
  const refused = await openStore(memory.location)
  const error = await refused
    .stream('s')
    .then((found) => collect(replay(found)))
    .catch(({ code }) => code)
  assert.is(error, 'ASR_CORRUPT')
  await refused.close()
  const accepted = await openStore({ ...memory.location }, { acceptLoss: true })
  const updates = await told(await accepted.stream('s'))
  assert.equal(
    updates.map(({ messageId }) => messageId),
    ['a', undefined],
  )
  assert.ok(accepted.notices.some(({ code }) => code === 'loss_accepted'))
})

test('a failure that is no damage ends the replay', async () => {
  const { store } = await openMemory()
  const { sessionId } = await store.importJsonl([jsonl(header(), message('a'), message('b'))])
  const stream = await store.stream(sessionId)
  const iterator = replay(stream)[Symbol.asyncIterator]()
  await store.close()
  const error = await iterator.next().catch(({ code }) => code)
  assert.is(error, 'ASR_CLOSED')
  assert.throws(
    () => replay(stream, { protocol: 1 as 2 }),
    (thrown: unknown) => thrown instanceof TypeError,
  )
})

test.run()
