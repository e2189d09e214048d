/**
 * A14: a provider numbers its calls anew each turn. By ASR-706 one id is one entity: the later call revises the earlier,
 * and nothing of either is gone.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { outline, recordAll, recordsOf, talk } from '../acp/support.js'

const turn = (words: string) => [{ type: 'content', content: { type: 'text', text: words } }]

test('A14, ASR-706: the second call of an id revises the first, and both stay readable', async () => {
  const frames = talk()
    .call('call_0', { title: 'ls', status: 'completed', content: turn('A') })
    .state('idle')
    .call('call_0', { title: 'cat', status: 'in_progress', content: [] })
    .call('call_0', { status: 'completed', content: turn('B') })
    .state('idle')
  const { store } = await recordAll(frames.frames)
  const stream = await store.stream('s')
  assert.equal(outline(await recordsOf(stream)), [
    'tool_call call_0',
    'tool_result call_0 completed',
    'state idle',
    '~tool_call call_0',
    '~tool_result call_0 completed',
    'state idle',
  ])
  const [call, ...more] = await stream.entity('tool_call', 'call_0')
  assert.equal(more, [])
  assert.equal(
    call.revisions.map(({ title }) => title),
    ['ls', 'cat'],
  )
  const [result] = await stream.entity('tool_result', 'call_0')
  assert.equal(
    result.revisions.map(({ displayContent }) => displayContent[0].text),
    ['A', 'B'],
  )
  assert.equal((await stream.contextView()).openCalls, [])
})

test('A14: two calls of one id in one turn keep both results as revisions', async () => {
  const frames = talk()
    .call('x', { rawInput: 1, status: 'completed', rawOutput: 'first' })
    .call('x', { rawInput: 2, status: 'completed', rawOutput: 'second' })
  const { store } = await recordAll(frames.frames)
  const [result] = await (await store.stream('s')).entity('tool_result', 'x')
  assert.equal(
    result.revisions.map(({ raw }) => raw),
    ['first', 'second'],
  )
})

test.run()
