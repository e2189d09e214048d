import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { StoredRecord } from '../../../src/main.js'
import { UPDATE_KINDS, updateArbitrary } from '../generator.js'
import {
  CWD,
  ofType,
  outline,
  recordAll,
  recordsFrom,
  recordsOf,
  said,
  type Talk,
  talk,
  textBlock,
  type Update,
  words,
} from '../support.js'

/** Kinds that speak of entities; what is a record an update is one each time it is told. */
const ENTITIES = UPDATE_KINDS.filter((kind) =>
  /message|thought|tool_call|plan_update|terminal|compaction|subagent/.test(kind),
)

const UPDATES = fc.array(fc.constantFrom(...ENTITIES).chain(updateArbitrary), { minLength: 1, maxLength: 12 })

/** The session on a first connection, and opened on a second. */
function onTwo(): Talk {
  return talk()
    .on(1)
    .initialize()
    .resume(() => {})
}

function bodies(records: readonly StoredRecord[]): unknown[] {
  return records
    .filter(({ type }) => type !== 'state')
    .map((record) => ({ ...said(record), replaces: undefined, supersedes: undefined }))
}

test('what an agent tells on two connections at once is recorded as if it were told on one', async () => {
  const lags = fc.array(fc.boolean(), { minLength: 24, maxLength: 24 })
  const property = fc.asyncProperty(UPDATES, lags, async (updates, turns) => {
    const both = onTwo()
    const one = onTwo().on(0)
    const done = [0, 0]
    for (const isFirst of [...turns, ...turns.map((turn) => !turn)]) {
      const conn = isFirst ? 0 : 1
      const update = updates[done[conn]++] as Update | undefined
      if (update !== undefined) both.on(conn).update(update)
    }
    for (const update of updates) one.update(update as Update)
    both.on(0).state('idle').on(1).state('idle')
    // In between the order of the lines can differ: what counts is what there is in the end.
    assert.equal(await inForce(both), await inForce(one.state('idle')))
  })
  await fc.assert(property, { numRuns: 50, seed: 11 })
})

async function inForce({ frames }: Talk): Promise<unknown[]> {
  const { store } = await recordAll(frames)
  const records: StoredRecord[] = []
  for await (const record of (await (await store.stream('s')).activePath()).resolved()) records.push(record)
  return bodies(records)
}

test('a turn that goes on over another connection is recorded whole', async () => {
  const records = await recordsFrom(
    onTwo().on(0).say('m', 'a').say('m', 'b').on(1).say('m', 'a').say('m', 'c').say('m', 'c').state('idle'),
  )
  assert.equal(ofType(records, 'message').map(words), ['abcc'])
})

test('ASR-717: history told on a second connection is not added to what the first still tells', async () => {
  const again = (more: Talk): Talk =>
    more
      .update({ sessionUpdate: 'user_message_chunk', messageId: 'u', content: textBlock('hi') })
      .say('m', 'ab')
      .call('t', { title: 'T' })
  const told = talk()
    .prompt('u', 'hi')
    .say('m', 'a')
    .say('m', 'b')
    .call('t', { title: 'T' })
    .on(1)
    .initialize()
    .resume(again)
  const records = await recordsFrom(told.on(0).say('m', 'c').call('t', { status: 'completed' }).state('idle'))
  const last = new Map(records.map((record) => [`${record.type} ${record.messageId ?? record.callId}`, record]))
  assert.is(words(last.get('message u') as StoredRecord), 'hi')
  assert.is(words(last.get('message m') as StoredRecord), 'abc')
  assert.is(last.get('tool_result t')?.status, 'completed')
})

test('ASR-717: history told on a second connection brings what the first was cut off from', async () => {
  const again = (more: Talk): Talk =>
    more
      .update({ sessionUpdate: 'agent_message', messageId: 'm', content: [textBlock('all of it')] })
      .call('t', { status: 'completed' })
  const records = await recordsFrom(
    talk().say('m', 'all').call('t', { title: 'T' }).on(1).initialize().resume(again).state('idle'),
  )
  assert.is(words(ofType(records, 'message').at(-1) as StoredRecord), 'all of it')
  assert.is(ofType(records, 'tool_call').at(-1)?.title, 'T')
  assert.is(ofType(records, 'tool_result').at(-1)?.status, 'completed')
})

test('ASR-717: two replays that are asked for at once are two windows', async () => {
  const told = talk().say('m', 'one').state('idle')
  const params = { sessionId: 's', cwd: CWD, replayFrom: { type: 'start' } }
  const ids = [told.request('c2a', 'session/resume', params), told.request('c2a', 'session/resume', params)]
  for (const id of ids) told.say('m', 'one').state('idle').respond('a2c', id, {})
  assert.equal(outline(await recordsFrom(told)), ['message m', 'state idle', 'state resumed', 'state resumed'])
})

test('ASR-717, ASR-721: a child that is told of twice in a window has one history', async () => {
  const child = { sessionUpdate: 'subagent_update', sessionId: 'kid' }
  const told = talk().resume((again) => {
    again
      .update(child)
      .say('k', 'history', 'kid')
      .update({ ...child, title: 'Kid' })
  })
  const { store } = await recordAll(told.frames)
  assert.equal((await recordsOf(await store.stream('kid'))).map(words), ['history'])
})

test('ASR-718: a fork that is resumed at once keeps the history it was told', async () => {
  const told = talk().prompt('u', 'hi').state('idle').fork('f')
  told
    .update({ sessionUpdate: 'user_message', messageId: 'u', content: [textBlock('hi')] }, 'f')
    .resume((again) => again.state('idle', {}, 'f'), 'f')
  const [copy] = await recordsFrom(told, {}, 'f')
  assert.equal(copy.copiedFrom, { session: 's', id: 'r1', proof: 'native_id' })
})

test('ASR-707: a time that can not be read is the time of receipt, and no frame is lost over it', async () => {
  const now = Date.parse('2026-01-01T00:00:00.000Z')
  const { frames } = talk().say('a', 'x').say('b', 'x').say('c', 'x').say('d', 'x')
  const times = ['yesterday', Number.NaN, 1e20, '2026-10-26T16:30:00+02:00']
  const timed = frames.map((frame, index) => ({
    ...frame,
    at: times[index - frames.length + times.length] ?? frame.at,
  }))
  const { store, problems } = await recordAll(timed, { now: () => now })
  const records = ofType(await recordsOf(await store.stream('s')), 'message')
  const received = '2026-01-01T00:00:00.000Z'
  assert.equal(
    records.map(({ ts }) => ts),
    [received, received, received, '2026-10-26T16:30:00+02:00'],
  )
  assert.equal(
    problems.map(({ code }) => code),
    ['time_read'],
  )
})

test('ASR-707: times in another unit are read as what they are, and it is said, once a unit; the clock of the caller too', async () => {
  const AT_S = 1_793_025_000
  const { frames } = talk().say('a', 'x').say('b', 'x').say('c', 'x').say('d', 'x')
  const times = [AT_S, AT_S, AT_S * 1e6, undefined]
  const timed = frames.map((frame, index) => ({ ...frame, at: times.at(index % times.length) }))
  const { store, problems } = await recordAll(timed, { now: () => AT_S })
  for (const { ts } of ofType(await recordsOf(await store.stream('s')), 'message'))
    assert.is(ts, '2026-10-26T14:30:00.000Z')
  assert.equal(
    problems.map(({ code, message }) => [code, message]),
    ['seconds', 'microseconds'].map((unit) => ['time_read', `times of frames are read as ${unit} of the epoch`]),
  )
})

test.run()
