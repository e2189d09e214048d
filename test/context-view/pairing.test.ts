import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CallPairing } from '../../src/context-view/pairing.js'
import type { StoredRecord } from '../../src/record/record.js'
import { RUNS, settings } from '../property/settings.js'

interface Event {
  type: 'tool_call' | 'tool_result' | 'message'
  callId: string | undefined
}

const events = fc.array(
  fc.record<Event>({
    type: fc.constantFrom('tool_call', 'tool_result', 'message'),
    callId: fc.constantFrom('a', 'b', '', '__proto__', undefined),
  }),
  { maxLength: 30 },
)

function paired(list: readonly Event[]): CallPairing {
  const pairing = new CallPairing()
  list.forEach(({ type, callId }, i) => {
    const record: StoredRecord = { type, seq: i, id: `r${i}`, ...(callId === undefined ? {} : { callId }) }
    pairing.add(record, `entity${i}`)
  })
  return pairing
}

test('CORE-25: a result closes the earliest open call of its id; what is left is open, or dangling', () =>
  fc.assert(
    fc.property(events, (list) => {
      const open: { id: string | undefined; name: string }[] = []
      const dangling: string[] = []
      list.forEach(({ type, callId }, i) => {
        if (type === 'tool_call') open.push({ id: callId, name: callId ?? `entity${i}` })
        if (type !== 'tool_result') return
        const index = callId === undefined ? -1 : open.findIndex(({ id }) => id === callId)
        if (index === -1) dangling.push(callId ?? '')
        else open.splice(index, 1)
      })
      const pairing = paired(list)
      assert.equal(
        pairing.openCalls,
        open.map(({ name }) => name),
      )
      assert.equal(pairing.danglingResults, dangling)
    }),
    settings(RUNS),
  ))

test('CORE-25: two calls of one id are closed one by one, and a call without one stays open', () => {
  const call = (callId?: string): Event => ({ type: 'tool_call', callId })
  const result = (callId?: string): Event => ({ type: 'tool_result', callId })
  const pairing = paired([call('a'), call('a'), call(), result('a'), result(), result('a'), result('a')])
  assert.equal([pairing.openCalls, pairing.danglingResults], [['entity2'], ['', 'a']])
})

test('CORE-25: a partial result finds its call and leaves it open; without a call it dangles', () => {
  const pairing = new CallPairing()
  const records = [
    { type: 'tool_result', callId: 'a', status: 'partial' },
    { type: 'tool_call', callId: 'a' },
    { type: 'tool_result', callId: 'a', status: 'partial' },
  ]
  for (const [i, record] of records.entries()) pairing.add({ ...record, seq: i + 1, id: `r${i + 1}` }, '')
  assert.equal([pairing.openCalls, pairing.danglingResults], [['a'], ['a']])
  pairing.add({ type: 'tool_result', callId: 'a', status: 'completed', seq: 4, id: 'r4' }, '')
  assert.equal(pairing.openCalls, [])
})

test.run()
