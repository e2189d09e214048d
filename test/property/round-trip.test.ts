/**
 * ASR-732: recording the replay of a stream gives an equivalent stream, and doing it again gives the same once more.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compareContextViews } from '../../src/acp/equivalence/compare.js'
import { memoryLocation, openStore, type Stream } from '../../src/main.js'
import { schemaOf } from '../acp/generator.js'
import { recordAll } from '../acp/support.js'
import { captureOf, framesOf, sessions } from '../support/corpora.js'
import { type Json, type Rec, same } from './json.js'
import { ModelStream } from './model.js'
import { HEADER, modelled, modelOf, recordReplay, saidBy, streamOf } from './round-trip.js'
import { step } from './round-trip-arbitraries.js'
import { comparable, normalForm, type Told } from './round-trip-model.js'
import { RUNS, settings } from './settings.js'

const steps = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })
const runs = { ...settings(Math.ceil(RUNS / 10)), endOnFailure: true }

const ajv = new Ajv2020({ strict: false })
for (const format of ['uint16', 'uint32', 'uint64', 'int32', 'int64', 'double', 'regex', 'uri', 'date-time']) {
  ajv.addFormat(format, true)
}
ajv.addSchema({ $id: 'acp', ...schemaOf() })
const validate = ajv.getSchema('acp#/$defs/UpdateSessionNotification')

/** Keys in any order. */
function alike(a: Told[], b: Told[]): boolean {
  const sorted = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(sorted)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.keys(value)
        .sort()
        .map((key) => [key, sorted(value[key])]),
    )
  }
  return same(sorted(a as unknown as Json), sorted(b as unknown as Json))
}

/** A round: the stream, and what is recorded of its replay, are equal by the model and by the comparison. */
async function holdsRound(stream: Stream, model: ModelStream): Promise<Stream> {
  const again = await recordReplay(stream)
  for (const params of again.updates) {
    assert.ok(validate?.(params), `${JSON.stringify(params)} ${JSON.stringify(validate?.errors)}`)
  }
  const [expected, found] = comparable(normalForm(model), normalForm(await modelled(again.stream)))
  assert.equal(found, expected)
  const comparison = await compareContextViews(stream, again.stream)
  assert.equal(comparison.differences, [])
  assert.ok(comparison.equal)
  assert.is(comparison.compared, expected.length)
  return again.stream
}

/** The second round gives exactly the entities of the first one. */
async function holdsRounds(stream: Stream, model: ModelStream): Promise<void> {
  const first = await holdsRound(stream, model)
  const second = await recordReplay(first)
  assert.equal(await saidBy(second.stream), await saidBy(first))
}

test('ASR-732: recording the replay of any stream gives an equivalent one, and a second round the same once more', () =>
  fc.assert(
    fc.asyncProperty(steps, async (drafts) => {
      const model = modelOf(drafts)
      await holdsRounds(await streamOf(model), model)
    }),
    runs,
  ))

test('ASR-732: it holds also where results and changes lie far from their calls', () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 300, maxLength: 500, size: 'max' }), async (drafts) => {
      const model = modelOf(drafts)
      await holdsRounds(await streamOf(model), model)
    }),
    { ...settings(Math.ceil(RUNS / 500)), endOnFailure: true },
  ))

/** What can be changed of a record, so that a view may show it. */
const FIELDS: { [type: string]: string[] } = {
  message: ['content', 'role', 'messageId', 'ts'],
  tool_call: ['input', 'name', 'callId', 'locations'],
  tool_result: ['status', 'displayContent', 'raw', 'exec'],
  file_change: ['changes', 'patch', 'cause'],
  compaction: ['summary', 'status', 'replaces'],
}

test('ASR-732: of two streams that differ in one place, compareContextViews says what the model says', () =>
  fc.assert(
    fc.asyncProperty(
      steps,
      fc.nat(1_000),
      fc.constantFrom('drop', 'swap', 'change', 'change'),
      async (drafts, dice, how) => {
        const model = modelOf(drafts)
        const shown = (model.path() ?? []).filter(({ record }) => String(record.type) in FIELDS)
        if (shown.length === 0) return
        const other = new ModelStream(HEADER)
        for (const record of altered(model, shown[dice % shown.length].pos - 1, how, dice)) other.append([record])
        const [ours, theirs] = comparable(normalForm(model), normalForm(other))
        const comparison = await compareContextViews(await streamOf(model), await streamOf(other))
        assert.is(comparison.equal, alike(ours, theirs), JSON.stringify(comparison.differences))
        assert.is(comparison.equal, comparison.differences.length === 0)
      },
    ),
    { ...settings(Math.ceil(RUNS / 6)), endOnFailure: true },
  ))

function altered(model: ModelStream, at: number, how: string, dice: number): Rec[] {
  const records = model.rows.map(({ record }) => record)
  if (how === 'drop') return records.filter((_, index) => index !== at)
  if (how === 'swap') {
    const next = (at + 1) % records.length
    const swap = (index: number): number => (index === at ? next : index === next ? at : index)
    return records.map((_, index) => ({ ...records[swap(index)], seq: index + 1 }))
  }
  const fields = FIELDS[String(records[at].type)]
  const field = fields[dice % fields.length]
  const replaced = { ...records[at] }
  if (field in replaced) delete replaced[field]
  else replaced[field] = 'new'
  return records.with(at, replaced)
}

/** A round of a stream that came from outside, and a second one. */
async function holdsOutside(stream: Stream): Promise<number> {
  const first = await recordReplay(stream)
  for (const params of first.updates) assert.ok(validate?.(params), JSON.stringify(params))
  const comparison = await compareContextViews(stream, first.stream)
  assert.equal(comparison.differences, [])
  const second = await recordReplay(first.stream)
  assert.equal(await saidBy(second.stream), await saidBy(first.stream))
  return comparison.compared
}

for (const corpus of sessions) {
  corpus.test(`ASR-732: the session ${corpus.title} is equivalent to the recording of its replay`, async () => {
    const store = await openStore(memoryLocation())
    await store.importJsonl([corpus.bytes()])
    assert.ok((await holdsOutside(await store.stream(corpus.name))) > 50)
  })
}

const CAPTURES = ['demo-all-kinds', 'claude-agent-acp-0.98.0', 'sdk-example-agent']

for (const corpus of CAPTURES.flatMap((name) => captureOf(`${name}.alpha9`))) {
  corpus.test(`ASR-732: each session of ${corpus.title} is equivalent to the recording of its replay`, async () => {
    const { store, summary } = await recordAll(framesOf(corpus.bytes()))
    let compared = 0
    for (const sessionId of summary.sessions) compared += await holdsOutside(await store.stream(sessionId))
    assert.ok(compared > 0)
  })
}

test.run()
