import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { StreamCounter } from '../../src/cli/stats.js'
import type { StoredRecord } from '../../src/main.js'

type Counts = ReturnType<StreamCounter['counts']>

async function counted(records: Omit<StoredRecord, 'seq'>[]): Promise<Counts> {
  const stored = records.map((record, i) => ({ seq: i + 1, ...record }) as StoredRecord)
  const counter = new StreamCounter({
    get: async (id) => stored.find((record) => record.id === id),
    position: async (id) => stored.findIndex((record) => record.id === id) + 1 || undefined,
  })
  for (const record of stored) await counter.add(record)
  return counter.counts()
}

test('records and bytes are counted by type, the bytes those of the JSON text in UTF-8', async () => {
  const { records, bytes, types } = await counted([
    { type: 'message', id: 'é' },
    { type: 'message', id: 'b' },
    { type: 'head', id: 'c', name: 'x', recordId: 'b' },
  ])
  const sizes = ['{"seq":1,"type":"message","id":"é"}', '{"seq":2,"type":"message","id":"b"}'].map((s) =>
    Buffer.byteLength(s),
  )
  assert.is(records, 3)
  assert.equal(types[0], { type: 'message', records: 2, bytes: sizes[0] + sizes[1] })
  assert.equal(
    types.map(({ type }) => type),
    ['message', 'head'],
  )
  assert.is(bytes, types[0].bytes + types[1].bytes)
})

test('CORE-17: a chain of revisions is one entity, whichever of its records a revision names', async () => {
  const { entities, revisions } = await counted([
    { type: 'message', id: 'a', messageId: 'm' },
    { type: 'message', id: 'b', messageId: 'm', supersedes: 'a' },
    { type: 'message', id: 'c', messageId: 'm', supersedes: 'b' },
    { type: 'message', id: 'd', messageId: 'm', supersedes: 'a' },
    { type: 'tombstone', id: 't', targetId: 'a' },
    { type: 'head', id: 'h', name: 'x', recordId: 'a' },
  ])
  assert.equal([entities, revisions], [1, 3])
})

test('CORE-17: what names no earlier record of its own entity founds one', async () => {
  const { entities, revisions } = await counted([
    { type: 'message', id: 'a', messageId: 'm', supersedes: 'later' },
    { type: 'message', id: 'b', messageId: 'other', supersedes: 'a' },
    { type: 'tool_call', id: 'c', callId: 'm', supersedes: 'a' },
    { type: 'message', id: 'd', supersedes: 'a' },
    { type: 'message', id: 'later', messageId: 'm', supersedes: 'nowhere' },
  ])
  assert.equal([entities, revisions], [5, 0])
})

test('CORE-17: plans of one planId are one entity', async () => {
  const { entities, revisions } = await counted([
    { type: 'plan', id: 'a', planId: 'p' },
    { type: 'plan', id: 'b', planId: 'p' },
    { type: 'plan', id: 'c', planId: 'q' },
  ])
  assert.equal([entities, revisions], [2, 1])
})

test('tools are counted by name, with results that failed or were denied', async () => {
  const { tools } = await counted([
    { type: 'tool_call', id: 'a', callId: '1', name: 'bash' },
    { type: 'tool_call', id: 'b', callId: '2', name: 'bash' },
    { type: 'tool_call', id: 'c', callId: '3', name: 'read' },
    { type: 'tool_result', id: 'd', callId: '1', status: 'failed' },
    { type: 'tool_result', id: 'e', callId: '2', status: 'completed' },
    { type: 'tool_result', id: 'f', callId: '3', status: 'denied' },
    { type: 'tool_result', id: 'g', callId: 'none', status: 'failed' },
  ])
  assert.equal(tools, [
    { name: 'bash', calls: 2, failures: 1 },
    { name: 'read', calls: 1, failures: 1 },
    { name: null, calls: 0, failures: 1 },
  ])
})

test('a revision of a result takes the place of what it revises', async () => {
  const { tools } = await counted([
    { type: 'tool_call', id: 'a', callId: '1' },
    { type: 'tool_call', id: 'b', callId: '1', name: 'bash', supersedes: 'a' },
    { type: 'tool_result', id: 'c', callId: '1', status: 'failed' },
    { type: 'tool_result', id: 'd', callId: '1', status: 'completed', supersedes: 'c' },
    { type: 'tool_result', id: 'e', callId: '1', status: 'failed', supersedes: 'd' },
  ])
  assert.equal(tools, [
    { name: 'bash', calls: 1, failures: 1 },
    { name: null, calls: 0, failures: 0 },
  ])
})

test('the time span is that of the earliest and the latest ts, whatever their order', async () => {
  const { from, to } = await counted([
    { type: 'x', id: 'a', ts: '2026-02-01T00:00:00Z' },
    { type: 'x', id: 'b', ts: '2026-01-01T00:00:00Z' },
    { type: 'x', id: 'c', ts: 'no time' },
    { type: 'x', id: 'd', ts: 5 },
    { type: 'x', id: 'e' },
  ])
  assert.equal([from, to], ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'])
})

test.run()
