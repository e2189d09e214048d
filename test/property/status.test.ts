/**
 * What is final stays final until it is final otherwise, whichever way an update comes (ASR-704): into the fold, into a
 * live turn, a turn later, or in the replay of an agent.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { foldCompaction } from '../../src/acp/fold/compaction.js'
import { isFinalStatus } from '../../src/acp/fold/status.js'
import { foldToolCall } from '../../src/acp/fold/tool-call.js'
import type { JsonObject } from '../../src/acp/json.js'
import { recordAll, talk, type Update } from '../acp/support.js'
import { settings } from './settings.js'

const STATUSES = ['pending', 'in_progress', 'completed', 'failed', 'cancelled', 'other', '_paused', undefined, 7]

type Way = 'live' | 'turn' | 'replay'

const steps = fc.array(
  fc.record({
    status: fc.constantFrom(...STATUSES),
    title: fc.option(fc.constantFrom('one', 'two'), { nil: undefined }),
    way: fc.constantFrom<Way>('live', 'live', 'turn', 'replay'),
  }),
  { minLength: 1, maxLength: 8 },
)

const lastFinal = (given: readonly { status: unknown }[]): unknown =>
  given.map(({ status }) => status).findLast((status) => isFinalStatus(status))

test('ASR-704: a late status takes nothing back in the fold, and other fields are told as ever', () => {
  const property = fc.property(steps, (given) => {
    for (const [fold, base] of [
      [foldToolCall, { sessionUpdate: 'tool_call_update', toolCallId: 't' }],
      [foldCompaction, { sessionUpdate: 'compaction_update', compactionId: 'c' }],
    ] as [(state: unknown, update: JsonObject) => JsonObject | undefined, Update][]) {
      let state: JsonObject | undefined
      for (const { status, title } of given) state = fold(state, { ...base, status, title, error: title })
      const final = lastFinal(given)
      if (final !== undefined) assert.is(state?.status, final)
      const last = given.map(({ title }) => title).findLast((title) => title !== undefined)
      assert.is(state?.title ?? state?.error, last)
    }
  })
  fc.assert(property, settings(500))
})

test('ASR-704: nor in what is recorded, live, a turn later, or told again', async () => {
  const property = fc.asyncProperty(steps, async (given) => {
    const said = talk().prompt('u', 'go')
    for (const { status, title, way } of given) {
      const call: Update = { sessionUpdate: 'tool_call_update', toolCallId: 't', status, ...(title && { title }) }
      const compaction: Update = { sessionUpdate: 'compaction_update', compactionId: 'c', status }
      if (way === 'turn') said.state('idle')
      if (way === 'replay') said.resume((again) => again.update(call).update(compaction).state('idle'))
      else said.update(call).update(compaction)
    }
    const { store, problems } = await recordAll(said.state('idle').frames)
    assert.equal(problems, [])
    const stream = await store.stream('s')
    const final = lastFinal(given)
    if (final === undefined) return
    const [result] = await stream.entity('tool_result', 't')
    assert.is(result.inForce?.status, final)
    const [compaction] = await stream.entity('compaction', 'c')
    assert.is(compaction.inForce?.status, final)
    assert.equal((await stream.contextView()).openCalls, [])
  })
  await fc.assert(property, settings(200))
})

test.run()
