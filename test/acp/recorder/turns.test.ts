/**
 * Sessions of many turns: what is told of again in each turn costs the same in the last as in the first (ASR-706).
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createRecorder } from '../../../src/acp/main.js'
import { memoryLocation, openStore, type Store, type Stream } from '../../../src/main.js'
import { ofType, recordsOf, startRecording, talk, textBlock, type Update } from '../support.js'

const plan = (n: number): Update => ({
  sessionUpdate: 'plan_update',
  plan: { planId: 'p', type: 'items', entries: [{ content: `step ${n}`, status: 'pending', priority: 'low' }] },
})

const TURNS = 20

const AGAIN: Record<string, (n: number) => Update> = {
  plan,
  title: (n) => ({ sessionUpdate: 'session_info_update', title: `title ${n}` }),
  'meta of a title': (n) => ({ sessionUpdate: 'session_info_update', _meta: { n } }),
  call: (n) => ({ sessionUpdate: 'tool_call_update', toolCallId: 't', title: `title ${n}`, status: 'completed' }),
  message: (n) => ({ sessionUpdate: 'agent_message', messageId: 'm', content: [textBlock(`text ${n}`)] }),
  chunk: (n) => ({ sessionUpdate: 'agent_message_chunk', messageId: 'm', content: textBlock(`text ${n}`) }),
  terminal: (n) => ({ sessionUpdate: 'terminal_update', terminalId: 'x', command: `run ${n}`, exitStatus: {} }),
  compaction: (n) => ({ sessionUpdate: 'compaction_update', compactionId: 'c', status: 'completed', error: `${n}` }),
  usage: (n) => ({ sessionUpdate: 'usage_update', used: n, size: 1000 }),
}

/** A store that counts what is asked of its streams. */
function counting(store: Store): { store: Store; count: () => number } {
  let asked = 0
  const seen = <T extends object>(target: T, found: (name: string, value: unknown) => unknown): T =>
    new Proxy(target, {
      get: (object, name) => {
        const value: unknown = Reflect.get(object, name)
        return found(String(name), typeof value === 'function' ? value.bind(object) : value)
      },
    })
  const streamSeen = (stream: Stream): Stream =>
    seen(stream, (name, value) => {
      if (['entity', 'records', 'get', 'text'].includes(name)) asked++
      return value
    })
  const streams = new Map<Stream, Stream>()
  const one = async (id: string): Promise<Stream> => {
    const stream = await store.stream(id)
    const known = streams.get(stream) ?? streamSeen(stream)
    streams.set(stream, known)
    return known
  }
  return { store: seen(store, (name, value) => (name === 'stream' ? one : value)), count: () => asked }
}

test('ASR-706: what each turn tells of again is not looked for in the store each time', async () => {
  for (const [name, update] of Object.entries(AGAIN)) {
    const { store, count } = counting(await openStore(memoryLocation()))
    const recorder = createRecorder(store)
    const said = talk()
    const told: number[] = []
    for (let turn = 0; turn < TURNS; turn++) {
      said.state('running').update(update(turn)).state('idle')
      for (const frame of said.frames.splice(0)) recorder.observe(frame)
      await recorder.settled()
      told.push(count())
    }
    await recorder.stop()
    assert.is(told.at(-1), told[5], name)
    assert.ok((await store.stream('s')).length >= 3 * TURNS, `${name}: each turn is recorded`)
  }
})

test('ASR-706: beside those that come back there are others, and what a replay wrote meanwhile is gone on from', async () => {
  const { store, recorder, problems } = await startRecording()
  const said = talk()
  for (let n = 0; n < 3; n++) said.update(plan(n)).state('idle')
  for (let n = 0; n < 100; n++) {
    const other = { sessionUpdate: 'agent_message', messageId: `m${n}` }
    said.update({ ...other, content: [textBlock('x')] }).state('idle')
    said.update({ ...other, content: [textBlock('y')] }).state('idle')
  }
  said.update(plan(3)).state('idle').update(plan(4)).state('idle')
  said.resume((again) => again.update(plan(5)))
  said.update(plan(6)).state('idle')
  for (const frame of said.frames) recorder.observe(frame)
  await recorder.stop()
  assert.equal(problems, [])
  const stream = await store.stream('s')
  const plans = ofType(await recordsOf(stream), 'plan')
  assert.equal(
    plans.map(({ entries }) => entries[0].content),
    [0, 1, 2, 3, 4, 5, 6].map((n) => `step ${n}`),
  )
  assert.equal(
    plans.slice(1).map(({ supersedes }) => supersedes),
    plans.slice(0, -1).map(({ id }) => id),
  )
  assert.is((await stream.entity('message', 'm7'))[0].inForce?.content[0].text, 'y')
})

test.run()
