/**
 * Messages and thoughts as a client is told them.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AsrRecord } from '../../../src/main.js'
import { message, text, tombstone } from '../../support/records.js'
import { history, lost, streamWith, told } from './support.js'

function assistant(id: string, content: unknown, fields: object = {}): AsrRecord {
  return { type: 'message', id, messageId: `m-${id}`, role: 'assistant', content, ...fields }
}

function user(id: string, words: string, fields: object = {}): AsrRecord {
  return { type: 'message', id, messageId: `m-${id}`, role: 'user', content: text(words), ...fields }
}

test('ASR-724: the path of primary is told in path order, each entity once, in its latest revision there', async () => {
  const stream = await streamWith([
    user('a', 'first'),
    assistant('b', text('draft')),
    user('c', 'later'),
    assistant('b2', text('final'), { messageId: 'm-b', supersedes: 'b' }),
    user('x', 'aside', { parentId: 'a', head: 'side' }),
    assistant('x2', text('elsewhere'), { messageId: 'm-b', supersedes: 'b', parentId: 'x', head: 'side' }),
  ])
  const messages = (await told(stream)).slice(0, -1)
  assert.equal(messages, [
    { sessionUpdate: 'user_message', messageId: 'm-a', content: text('first') },
    { sessionUpdate: 'agent_message', messageId: 'm-b', content: text('final') },
    { sessionUpdate: 'user_message', messageId: 'm-c', content: text('later') },
  ])
})

test('ASR-724: another head, or a record, ends another path', async () => {
  const stream = await streamWith([
    user('a', 'first'),
    user('b', 'second'),
    user('x', 'aside', { parentId: 'a', head: 'side' }),
  ])
  const ids = async (options: object): Promise<unknown[]> =>
    (await told(stream, options)).slice(0, -1).map(({ messageId }) => messageId)
  assert.equal(await ids({ head: 'side' }), ['m-a', 'm-x'])
  assert.equal(await ids({ at: 'a' }), ['m-a'])
  assert.equal(await ids({}), ['m-a', 'm-b'])
})

test('a head that is not there, and a record that ends no path, are refused as the store refuses them', async () => {
  const stream = await streamWith([user('a', 'x')])
  for (const options of [{ head: 'none' }, { at: 'none' }]) {
    const error = await told(stream, options).catch(({ code }) => code)
    assert.is(error, 'ASR_NOT_FOUND')
  }
})

test('the path is told as it stood when the replay was first asked, however the head moves on', async () => {
  const { replay } = await import('../../../src/acp/replay/main.js')
  const stream = await streamWith([user('a', 'x')])
  const once = replay(stream)
  const first = once[Symbol.asyncIterator]()
  await first.next()
  await stream.append(user('b', 'y'))
  for (const again of [once, once]) {
    const ids: unknown[] = []
    for await (const { update } of again) ids.push(update.messageId ?? update.state)
    assert.equal(ids, ['m-a', 'idle'])
  }
})

test('ASR-727: reasoning of a mixed message is told before it, under ids derived from its own', async () => {
  const parts = [
    { type: 'reasoning', text: 'one' },
    { type: 'text', text: 'said' },
    { type: 'reasoning', opaque: 'zzz' },
    { type: 'reasoning', summary: ['two', { text: 'three' }], signature: 's' },
    { type: 'refusal', refusal: 'I will not' },
  ]
  assert.equal(await history(assistant('a', parts, { _meta: { k: 1 } })), [
    { sessionUpdate: 'agent_thought', messageId: 'm-a#thought-0', content: text('one') },
    { sessionUpdate: 'agent_thought', messageId: 'm-a#thought-2', content: text('two\n\nthree') },
    {
      sessionUpdate: 'agent_message',
      messageId: 'm-a',
      content: [...text('said'), ...text('I will not')],
      _meta: { k: 1 },
    },
  ])
})

test('ASR-727: a message of reasoning only is a thought under its own id; what is opaque is never sent', async () => {
  const stream = await streamWith([
    assistant('a', [
      { type: 'reasoning', text: 'one', signature: 'secret' },
      { type: 'reasoning', text: 'two' },
    ]),
    assistant('b', [{ type: 'reasoning', opaque: 'secret' }]),
    assistant('c', [{ type: 'reasoning', text: '' }]),
  ])
  assert.equal((await told(stream)).slice(0, -1), [
    { sessionUpdate: 'agent_thought', messageId: 'm-a', content: text('one\n\ntwo') },
    { sessionUpdate: 'agent_thought', messageId: 'm-c', content: [] },
  ])
  assert.is((await lost(stream)).reasoning, 1)
})

test('a message without content is told, empty', async () => {
  const absent = { capture: { content: { state: 'absent' } } }
  const stream = await streamWith([
    assistant('a', []),
    { type: 'message', id: 'b', messageId: 'm-b', role: 'user', ...absent },
  ])
  assert.equal((await told(stream)).slice(0, -1), [
    { sessionUpdate: 'agent_message', messageId: 'm-a', content: [] },
    { sessionUpdate: 'user_message', messageId: 'm-b', content: [] },
  ])
  assert.is((await lost(stream)).capture, 1)
})

test('a message without an id of its own has the id of its first record, whichever revision is told', async () => {
  const stream = await streamWith([message('r-a'), message('r-b', { supersedes: 'r-a' }), message('r-c')])
  const ids = (await told(stream)).slice(0, -1).map(({ messageId, content }) => [messageId, content])
  assert.equal(ids, [
    ['r-a', text('r-b')],
    ['r-c', text('r-c')],
  ])
})

test('ASR-730: notices, messages between sessions and messages of other roles are not told, and are said to be left out', async () => {
  const stream = await streamWith([
    user('a', 'x', { origin: 'notice' }),
    user('b', 'x', { origin: 'inter_session', from: { session: 'other' } }),
    user('c', 'x', { role: 'system' }),
    user('d', 'told', { audience: 'user', author: 'human', origin: 'prompt' }),
    user('e', 'dead'),
    tombstone('f', 'e'),
  ])
  assert.equal((await told(stream)).slice(0, -1), [
    { sessionUpdate: 'user_message', messageId: 'm-d', content: text('told') },
  ])
  assert.equal(await lost(stream), {
    '_org.agent-session.acp/inter_session': 1,
    '_org.agent-session.acp/message_audience': 1,
    '_org.agent-session.acp/message_role': 1,
    '_org.agent-session.acp/notice': 1,
    'message.author': 1,
    senders: 1,
    tombstone: 1,
    turn_triggers: 1,
  })
})

test('blocks that no client takes are left out, and optional fields of a wrong kind count as omitted', async () => {
  const link = { type: 'resource_link', name: 'n', uri: 'file:///x', size: 3, title: 7 }
  const parts = [
    { type: 'text', text: 1 },
    { type: 'text', text: 'x', annotations: { audience: ['user'], priority: 0.5 } },
    { type: 'text', text: 'y', annotations: { priority: 2 } },
    { type: 'image', data: 'AA==', mimeType: 'image/png', uri: null },
    { type: 'audio', data: 'AA==' },
    link,
    { type: 'resource_link', name: 'n', uri: 'not a uri' },
    { type: 'resource', resource: { uri: 'file:///y', text: 't' } },
    { type: 'resource', resource: { uri: 'file:///y' } },
    { type: 'tool_use', id: 'x' },
    { type: '_acme/card', any: [1] },
    'words',
    null,
  ]
  const stream = await streamWith([user('a', '', { content: parts })])
  const [{ content }] = await told(stream)
  assert.equal(content, [
    { type: 'text', text: 'x', annotations: { audience: ['user'], priority: 0.5 } },
    { type: 'text', text: 'y' },
    { type: 'image', data: 'AA==', mimeType: 'image/png', uri: null },
    { type: 'resource_link', name: 'n', uri: 'file:///x', size: 3 },
    { type: 'resource', resource: { uri: 'file:///y', text: 't' } },
    { type: '_acme/card', any: [1] },
  ])
  assert.is((await lost(stream))['_org.agent-session.acp/content'], 7)
})

test('M1: one id in the spaces of user, agent and thought is three entities', async () => {
  const id = { messageId: 'same' }
  const stream = await streamWith([
    user('a', 'u', id),
    assistant('b', [{ type: 'reasoning', text: 't' }], id),
    assistant('c', text('w'), id),
  ])
  assert.equal(
    (await told(stream)).map(({ sessionUpdate }) => sessionUpdate),
    ['user_message', 'agent_thought', 'agent_message', 'state_update'],
  )
  assert.is((await lost(stream))['_org.agent-session.acp/shared_id'], undefined)
})

test('entities that share an id are one to a client: the later clears what the earlier had, and is said to', async () => {
  const id = { messageId: 'same' }
  const stream = await streamWith([
    assistant('a', text('one'), { ...id, _meta: { k: 1 } }),
    user('b', 'between'),
    assistant('c', text('two'), id),
  ])
  const updates = await told(stream)
  assert.equal(updates[0]._meta, { k: 1 })
  assert.equal(updates[2], { sessionUpdate: 'agent_message', messageId: 'same', content: text('two'), _meta: null })
  assert.is((await lost(stream))['_org.agent-session.acp/shared_id'], 1)
})

test('ids are known to be shared however far apart the entities are', async () => {
  const between = Array.from({ length: 100 }, (_, n) => user(`x${n}`, 'between'))
  const same = { messageId: 'same' }
  const stream = await streamWith([assistant('a', text('one'), same), ...between, assistant('c', text('two'), same)])
  const updates = await told(stream)
  assert.equal(updates.at(-2), { sessionUpdate: 'agent_message', messageId: 'same', content: text('two'), _meta: null })
  assert.is((await lost(stream))['_org.agent-session.acp/shared_id'], 1)
  assert.not(updates.slice(0, -2).some(({ _meta }) => _meta === null))
})

test.run()
