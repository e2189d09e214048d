/**
 * A03: what an agent replays when a session is opened again is written to the log again.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { outline, recordAll, recordsOf, type Talk, talk, textBlock } from '../acp/support.js'

const replay = (frames: Talk): Talk =>
  frames
    .update({ sessionUpdate: 'user_message_chunk', messageId: 'u1', content: textBlock('list files') })
    .say('a1', 'two files')
    .update({ sessionUpdate: 'available_commands_update', availableCommands: [] })

const stored = (): Talk =>
  talk()
    .prompt('u1', 'list files')
    .say('a1', 'two files')
    .update({ sessionUpdate: 'available_commands_update', availableCommands: [] })
    .state('idle')

async function contentOf(frames: Talk): Promise<{ outline: string[]; hashes: string[] }> {
  const stream = await (await recordAll(frames.frames)).store.stream('s')
  const records = await recordsOf(stream)
  return { outline: outline(records), hashes: await Promise.all(records.slice(0, 4).map(({ id }) => stream.hash(id))) }
}

test('A03, ASR-717: three times opened again, nothing is recorded twice, and what is new is recorded once', async () => {
  const before = await contentOf(stored())
  const frames = stored()
  for (const conn of [1, 2, 3]) frames.on(conn).initialize().resume(replay)
  const after = await contentOf(frames.say('a2', 'new').state('idle'))
  assert.equal(after.outline, [
    ...before.outline,
    'state resumed',
    'state resumed',
    'state resumed',
    'message a2',
    'state idle',
  ])
  assert.equal(after.hashes, before.hashes)
})

test('A03, ASR-717: a load that answers with an error half-way leaves nothing behind, and closes its window', async () => {
  const before = await contentOf(stored())
  const half = (frames: Talk): Talk =>
    frames.update({ sessionUpdate: 'user_message', messageId: 'u1', content: [textBlock('list files')] })
  const after = await contentOf(stored().resume(half, 's', null).say('a2', 'new').state('idle'))
  assert.equal(after.outline, [...before.outline, 'message a2', 'state idle'])
})

test.run()
