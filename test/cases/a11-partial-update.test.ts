/**
 * A11: an update that carries only a status blanks the title, kind and content that were stored.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AsrRecord } from '../../src/main.js'
import { ofType, recordAll, recordsOf, type Talk, talk, textBlock } from '../acp/support.js'

const item = (words: string) => ({ type: 'content', content: textBlock(words) })

function told(pause: (frames: Talk) => Talk): Talk {
  const frames = talk().call('t1', {
    title: 'Run',
    kind: 'execute',
    status: 'pending',
    content: [item('A')],
    locations: [{ path: '/w/a.txt' }],
  })
  pause(frames).call('t1', { title: 'Run ls' })
  pause(frames).call('t1', { status: 'in_progress' })
  pause(frames).call('t1', { content: [item('B')] })
  return pause(pause(frames).call('t1', { locations: null }))
}

for (const [name, pause] of [
  ['in one turn', (frames: Talk) => frames],
  ['with the turn over after each update', (frames: Talk) => frames.state('idle')],
] as const) {
  test(`A11, ASR-704: a field that is left out stays as it was, ${name}`, async () => {
    const { store } = await recordAll(told(pause).frames)
    const stream = await store.stream('s')
    const [call, ...others] = await stream.entity('tool_call', 't1')
    assert.equal(others, [])
    const { title, kind, locations } = call.inForce as AsrRecord
    assert.equal([title, kind, locations], ['Run ls', 'execute', undefined])
    const [result] = await stream.entity('tool_result', 't1')
    assert.equal([result.inForce?.status, result.inForce?.displayContent], ['partial', [textBlock('B')]])
  })
}

test('A11, ASR-706: each state that was written is a revision of the one entity', async () => {
  const { store } = await recordAll(told((frames) => frames.state('requires_action')).frames)
  const stream = await store.stream('s')
  const records = await recordsOf(stream)
  assert.is(ofType(records, 'tool_call').length, 3)
  const [call] = await stream.entity('tool_call', 't1')
  assert.equal(
    call.revisions.map(({ title, locations }) => [title, locations === undefined]),
    [
      ['Run', false],
      ['Run ls', false],
      ['Run ls', true],
    ],
  )
})

test.run()
