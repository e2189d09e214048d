/**
 * What a recorder does grows with the frames it sees, and not with their square: what can be long in a session or on a connection,
 * at one size and at ten times that. Told by the processor time, with so much room that only a square fails.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createRecorder, type ObservedFrame, type RecorderProblem } from '../../src/acp/main.js'
import { memoryLocation, openStore } from '../../src/main.js'
import { type Talk, talk, textBlock } from '../acp/support.js'

const TIMES = 10
/** Linear work takes 10 times as long; more memory is slower memory. */
const GROWTH_MAX = 22
/** What takes less is not measured, but taken for so much, in ms. */
const CPU_MIN = 8

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

/** A connection that ends here. */
interface End {
  ended: string
}

type Shape = (size: number) => Iterable<ObservedFrame | End>

function said(tell: (told: Talk, size: number) => void): Shape {
  return (size) => {
    const told = talk()
    tell(told, size)
    return told.frames
  }
}

/** What can be long, each alone, and at which size a square shows. */
const SHAPES: { [name: string]: [size: number, shape: Shape] } = {
  'directories that are told of when a session is opened again': [
    20_000,
    said((told, size) => {
      const directories = (name: string): string[] => numbers(size).map((n) => `/${name}${n}`)
      told
        .newSession('s', { additionalDirectories: directories('a') })
        .say('m', 'a')
        .state('idle')
      const id = told.request('c2a', 'session/resume', { sessionId: 's', additionalDirectories: directories('b') })
      told.respond('a2c', id, {})
    }),
  ],
  'diffs of one call': [
    30_000,
    said((told, size) => {
      const content = numbers(size).map((n) => ({ type: 'diff', changes: [{ operation: 'modify', path: `/f${n}` }] }))
      const update = { sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'completed', content }
      told.newSession().update(update).state('idle')
    }),
  ],
  'calls of one turn that stay open': [
    60_000,
    said((told, size) => {
      told.newSession().state('running')
      const call = (n: number) => ({ sessionUpdate: 'tool_call_update', toolCallId: `c${n}` })
      for (const n of numbers(size)) told.update({ ...call(n), status: 'in_progress' })
      for (const n of numbers(size).reverse()) told.update({ ...call(n), status: 'completed' })
      told.state('idle')
    }),
  ],
  'updates of other kinds, told again while a turn is under way': [
    20_000,
    said((told, size) => {
      told.newSession().say('m', 'a')
      const id = told.request('c2a', 'session/resume', { sessionId: 's' })
      for (const n of numbers(size)) told.update({ sessionUpdate: '_vendor', n })
      told.respond('a2c', id, {}).state('idle')
    }),
  ],
  'options that change in one turn': [
    20_000,
    said((told, size) => {
      told.newSession().say('m', 'a')
      for (const n of numbers(size)) {
        const id = told.request('c2a', 'session/set_config_option', { sessionId: 's' })
        told.respond('a2c', id, { configOptions: [{ id: 'mode', currentValue: `${n}` }] })
      }
      told.state('idle')
    }),
  ],
  'a child that is told of again and again while its parent is opened': [
    40_000,
    said((told, size) => {
      told.newSession()
      const id = told.request('c2a', 'session/resume', { sessionId: 's' })
      for (const n of numbers(size))
        told.update({ sessionUpdate: 'subagent_update', sessionId: 'child', title: `${n}` })
      told.respond('a2c', id, {})
    }),
  ],
  'prompts that wait, and sessions that are refused meanwhile': [
    20_000,
    said((told, size) => {
      told.newSession()
      for (const _ of numbers(size)) told.request('c2a', 'session/prompt', { sessionId: 's', prompt: [textBlock('a')] })
      for (const _ of numbers(size)) told.refuse('a2c', told.request('c2a', 'session/new', { cwd: '/' }))
    }),
  ],
  'connections that come and go beside sessions': [
    20_000,
    function* (size) {
      const told = talk()
      for (const n of numbers(size / 20)) told.newSession(`s${n}`)
      yield* told.frames
      for (const n of numbers(size)) {
        yield* talk().on(`c${n}`).initialize().frames
        yield { ended: `c${n}` }
      }
    },
  ],
}

interface Recorded {
  cpu: number
  records: number
  problems: RecorderProblem[]
}

async function recorded(frames: Iterable<ObservedFrame | End>): Promise<Recorded> {
  const store = await openStore(memoryLocation())
  const problems: RecorderProblem[] = []
  const recorder = createRecorder(store, { keepWire: 'none', onProblem: (problem) => problems.push(problem) })
  const all = [...frames]
  const before = process.cpuUsage()
  for (const one of all) {
    if ('ended' in one) recorder.disconnected(one.ended)
    else recorder.observe(one)
  }
  const { records } = await recorder.stop()
  const { user, system } = process.cpuUsage(before)
  await store.close()
  return { cpu: (user + system) / 1_000, records, problems }
}

for (const [name, [size, shape]] of Object.entries(SHAPES)) {
  test(`${name}: recording them takes no square of time`, async () => {
    await recorded(shape(size / TIMES)) // what is compiled by then is not measured
    let least = Number.POSITIVE_INFINITY
    // Whatever else runs only adds to a measure.
    for (let tries = 0; tries < 3 && least > GROWTH_MAX; tries++) {
      const small = await recorded(shape(size / TIMES))
      const large = await recorded(shape(size))
      assert.equal([...small.problems, ...large.problems], [])
      least = Math.min(least, large.cpu / Math.max(small.cpu, CPU_MIN))
    }
    assert.ok(least <= GROWTH_MAX, `${least.toFixed(0)} times`)
  })
}

test('a turn of more records than may wait for a store that fails is recorded whole', async () => {
  const messages = 100_100
  const told = talk().newSession().state('running')
  for (const n of numbers(messages)) told.update({ sessionUpdate: 'agent_message', messageId: `m${n}`, content: [] })
  const { records, problems } = await recorded(told.state('idle').frames)
  assert.equal(problems, [])
  assert.is(records, messages + 2)
})

test.run()
