/**
 * Whatever a stream holds: what is told of it is valid, and a client takes it.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { losses, replay, type SessionUpdateParams } from '../../../src/acp/replay/main.js'
import { memoryLocation, openStore, type Stream } from '../../../src/main.js'
import { settings } from '../../property/settings.js'
import { collect } from '../../support/collect.js'
import { captures, framesOf, sessions } from '../../support/corpora.js'
import { UPDATE_KINDS, updateArbitrary } from '../generator.js'
import { recordAll, talk, type Update } from '../support.js'
import { drafts, streamOfDrafts } from './arbitraries.js'
import { assertTaken, assertValid } from './support.js'

const KINDS = ['user_message', 'agent_message', 'agent_thought', 'tool_call_update', 'plan_update', 'terminal_update']
const AFTER = ['compaction_update', 'session_info_update', 'usage_update', 'state_update']

/** The updates of a replay, which ends with the state, tells whole entities only, and tells the same again. */
async function checked(stream: Stream, check: (params: SessionUpdateParams) => void): Promise<SessionUpdateParams[]> {
  const replayed = replay(stream)
  const all = await collect(replayed)
  for (const params of all) {
    check(params)
    assert.is(params.sessionId, stream.sessionId)
    assert.ok([...KINDS, ...AFTER].includes(params.update.sessionUpdate), params.update.sessionUpdate)
  }
  assert.equal(
    all.map(({ update }) => update.sessionUpdate).indexOf('state_update'),
    all.length - 1,
    'the state comes last, and once',
  )
  assert.equal(await losses(stream), await replayed.losses())
  return all
}

test('ASR-725: of any stream, whatever its fields hold, every update is valid and known to the SDK', async () => {
  await fc.assert(
    fc.asyncProperty(drafts, async (list) => {
      await checked(await streamOfDrafts(list), assertValid)
    }),
    settings(150),
  )
})

test('ASR-725: of any recorded traffic, every update is one that a client takes whole', async () => {
  const any = fc.oneof(...UPDATE_KINDS.map(updateArbitrary))
  await fc.assert(
    fc.asyncProperty(fc.array(any, { minLength: 1, maxLength: 20 }), async (updates) => {
      const frames = talk()
      for (const update of updates) frames.update(update as Update)
      const { store } = await recordAll(frames.state('idle').frames, { keepWire: 'none' })
      await checked(await store.stream('s'), assertTaken)
    }),
    settings(60),
  )
})

for (const corpus of sessions) {
  corpus.test(`every update of the session ${corpus.title} is one that a client takes whole`, async () => {
    const store = await openStore(memoryLocation())
    const { sessionId } = await store.importJsonl([corpus.bytes()])
    const stream = await store.stream(sessionId)
    assert.ok((await checked(stream, assertTaken)).length > 50)
    for (const { recordId } of (await stream.leaves()).slice(0, 20)) {
      for (const params of await collect(replay(stream, { at: recordId }))) assertTaken(params)
    }
  })
}

for (const corpus of captures) {
  corpus.test(`every update of the recorded capture ${corpus.title} is one that a client takes whole`, async () => {
    const { store, summary } = await recordAll(framesOf(corpus.bytes()))
    for (const sessionId of summary.sessions) await checked(await store.stream(sessionId), assertTaken)
  })
}

test.run()
