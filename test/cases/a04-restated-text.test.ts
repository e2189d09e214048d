/**
 * A04: pieces, and then the whole text again; the answer is stored twice back to back.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ofType, outline, recordsFrom, talk, textBlock, words } from '../acp/support.js'

test('A04, ASR-704: a full update replaces what the pieces made, and a later piece is added to it', async () => {
  const whole = { sessionUpdate: 'agent_message', messageId: 'b1', content: [textBlock('XY')] }
  const [record] = await recordsFrom(talk().say('b1', 'X').update(whole).say('b1', 'Z'))
  assert.equal(record.content, [textBlock('XY'), textBlock('Z')])
})

test('A04: the same words under another id, in another turn, are another message', async () => {
  const records = await recordsFrom(talk().say('a9', 'ok').state('idle').say('a10', 'ok').state('idle'))
  assert.equal(ofType(records, 'message').map(words), ['ok', 'ok'])
  assert.equal(outline(records), ['message a9', 'state idle', 'message a10', 'state idle'])
})

test.run()
