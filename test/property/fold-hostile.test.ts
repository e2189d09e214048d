/**
 * Frames in any order, twice, missing, or with values of the wrong kind: a recorder never throws, what it writes is sound,
 * and the same frames give the same stream.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createRecorder, type ObservedFrame, type RecorderProblem } from '../../src/acp/main.js'
import { memoryLocation, openStore } from '../../src/main.js'
import { Talk, textBlock } from '../acp/support.js'
import { settings } from './settings.js'

const CHANGES = [{ operation: 'modify', path: '/home/u/proj/a', oldPath: 7 }]

/** A conversation with everything in it. */
function conversation(): ObservedFrame[] {
  const frames = new Talk().initialize().newSession('s', { mcpServers: [] }, { configOptions: [] })
  frames.prompt('u', 'go').think('m', 'hm').say('m', 'I ').say('m', 'will')
  const subject = { type: 'tool_call', toolCall: { toolCallId: 't', content: [{ type: 'diff', changes: CHANGES }] } }
  const ask = frames.request('a2c', 'session/request_permission', { sessionId: 's', title: 'T', options: [], subject })
  frames.state('requires_action').respond('c2a', ask, { outcome: { outcome: 'selected', optionId: 'y' } })
  frames.call('t', { status: 'completed', rawOutput: 1 }).call('t', { content: [] })
  const form = {
    sessionId: 's',
    mode: 'form',
    message: 'Q',
    requestedSchema: { properties: { a: { format: 'password' } } },
  }
  frames.respond('c2a', frames.request('a2c', 'elicitation/create', form), { action: 'accept', content: { a: 1 } })
  frames.update({ sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'p', entries: [] } })
  frames.update({ sessionUpdate: 'terminal_output_chunk', terminalId: 'x', data: 'YQ==' })
  frames.update({
    sessionUpdate: 'compaction_update',
    compactionId: 'c',
    status: 'completed',
    summary: [textBlock('S')],
  })
  frames.update({ sessionUpdate: 'subagent_update', sessionId: 'kid' }).say('k', 'child', 'kid').state('idle')
  frames
    .resume((again) => again.say('m', 'I will').call('t', { status: 'failed' }).state('idle'))
    .fork('f')
    .say('m', 'I', 'f')
  return frames
    .on(1)
    .initialize()
    .resume((again) => again.say('n', 'x'))
    .close().frames
}

const FRAMES = conversation()
const strange = fc.oneof(
  fc.constant(null),
  fc.integer(),
  fc.constant('s'),
  fc.constant([]),
  fc.constant({}),
  fc.boolean(),
)

interface Edit {
  at: number
  how: 'drop' | 'repeat' | 'swap' | 'spoil' | 'lose'
  depth: number[]
  value: unknown
}

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat({ max: FRAMES.length - 1 }),
  how: fc.constantFrom('drop', 'repeat', 'swap', 'spoil', 'lose'),
  depth: fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 5 }),
  value: strange,
})

/** The value with something inside of it replaced. */
function spoiled(value: unknown, [index, ...deeper]: number[], put: unknown): unknown {
  if (index === undefined || typeof value !== 'object' || value === null) return put
  const keys = Object.keys(value)
  if (keys.length === 0) return put
  const key = keys[index % keys.length]
  const inner = spoiled((value as Record<string, unknown>)[key], deeper, put)
  return Array.isArray(value)
    ? value.map((item, at) => (String(at) === key ? inner : item))
    : { ...value, [key]: inner }
}

type Step = ObservedFrame | 'lost'

function edited(edits: readonly Edit[]): Step[] {
  const steps: Step[] = [...FRAMES]
  for (const { at, how, depth, value } of edits) {
    const step = steps[at]
    if (step === undefined || step === 'lost') continue
    if (how === 'drop') steps.splice(at, 1)
    else if (how === 'repeat') steps.splice(at, 0, step)
    else if (how === 'swap') steps.push(...steps.splice(at, 1))
    else if (how === 'lose') steps.splice(at, 0, 'lost')
    else steps[at] = { ...step, frame: spoiled(step.frame, depth, value) }
  }
  return steps
}

async function recorded(steps: readonly Step[]): Promise<{ problems: RecorderProblem[]; digests: string[] }> {
  const store = await openStore(memoryLocation())
  const problems: RecorderProblem[] = []
  const recorder = createRecorder(store, {
    onProblem: (problem) => problems.push(problem),
    keepWire: 'none',
    now: () => 0,
  })
  for (const step of steps) {
    if (step === 'lost') recorder.disconnected(0)
    else recorder.observe(step)
  }
  await recorder.stop()
  const report = await store.verify()
  assert.ok(report.ok)
  const digests: string[] = []
  for await (const { sessionId } of store.streams()) {
    const stream = await store.stream(sessionId)
    digests.push(`${sessionId} ${await stream.digest()}`)
    assert.equal((await stream.contextView()).diagnostics, [])
  }
  return { problems, digests }
}

const KNOWN = ['protocol_version', 'session_lost']

test('ASR-701, ASR-704: a recorder bears any frames, and the same frames give the same streams', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { maxLength: 8 }), async (edits) => {
      const steps = edited(edits)
      const { problems, digests } = await recorded(steps)
      assert.equal(
        problems.filter(({ code }) => !KNOWN.includes(code)).map(({ message }) => message),
        [],
      )
      assert.equal((await recorded(steps)).digests, digests)
    }),
    settings(150),
  )
})

test.run()
