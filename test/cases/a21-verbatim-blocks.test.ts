/**
 * A21: a signed block is emptied, or loses its signature, on its way through.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { recordsFrom, talk } from '../acp/support.js'
import { collect } from '../support/collect.js'
import { compaction, message } from '../support/records.js'
import { copied, reopened, streamOf } from '../support/stores.js'

const BLOCKS = [
  { type: 'reasoning', text: 'plan A', signature: 'c2ln' },
  { type: 'text', text: 'ok' },
  { type: 'reasoning', text: '', signature: 'c2lh' },
  { type: 'text', text: '' },
]

test('A21, CORE-7: blocks stay as they are through revision, compaction, reopening, export and import', async () => {
  const memory = await streamOf(
    message('a1', { content: BLOCKS }),
    message('a2', { supersedes: 'a1', content: BLOCKS, status: 'final' }),
    compaction('c1', undefined),
    message('a3', { content: BLOCKS }),
  )
  const again = await reopened(memory)
  for (const { stream } of [again, await copied(again.stream)]) {
    for (const id of ['a1', 'a2', 'a3']) assert.equal((await stream.get(id))?.content, BLOCKS)
    const view = await collect((await stream.contextView()).entries())
    assert.equal(view.at(-1)?.content, BLOCKS)
  }
})

test('A21, ASR-704: blocks that an agent tells keep their number, order and fields, also when they are empty', async () => {
  const content = [
    { type: 'text', text: 'a', _meta: { signature: 'c2ln' } },
    { type: 'text', text: '' },
    { type: 'resource', resource: { uri: 'file:///a', text: '', extra: [1] } },
    { type: '_signed', data: '', signature: 'c2lh' },
  ]
  const whole = { sessionUpdate: 'agent_message', messageId: 'm', content }
  const records = await recordsFrom(
    talk()
      .update(whole)
      .state('idle')
      .update({ sessionUpdate: 'agent_message', messageId: 'm', _meta: { k: 1 } })
      .state('idle'),
  )
  assert.equal(records[0].content, content)
  assert.equal([records[2].content, records[2]._meta], [content, { k: 1 }])
  const frames = talk()
  for (const block of content) frames.update({ sessionUpdate: 'agent_message_chunk', messageId: 'm', content: block })
  assert.equal((await recordsFrom(frames))[0].content, content)
})

test.run()
