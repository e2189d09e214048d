/** CORE-26 on streams that are longer than what the index holds together: answers from many pages equal the model's. */
import fc from 'fast-check'
import { test } from 'uvu'
import { type Draft, draft, type Ref, type Through } from './arbitraries.js'
import type { Rec } from './json.js'
import { ModelStream } from './model.js'
import { recordOf } from './records.js'
import { isHead } from './rows.js'
import { RUNS, settings } from './settings.js'
import { compareAt, compareEntity, compareRecord, compareState, HEADER, nameOf, Subject } from './subject.js'

const RECORDS = 9_000
const BATCH = 250
const SAMPLES = 60

/** The draft with its references moved on, so that they reach all of a long stream; most records follow their branch. */
function moved(given: Draft, i: number): Draft {
  const elsewhere = <T extends Ref | Through | Draft['supersedes'] | Draft['parent']>(ref: T): T =>
    'n' in ref ? { ...ref, n: ref.n * 7_919 + i * 31 } : ref
  const branches = i % 40 === 0
  return {
    ...given,
    type: given.type === 'head' && !branches ? 'message' : given.type,
    parent: branches ? elsewhere(given.parent) : { kind: 'implied' },
    supersedes: elsewhere(given.supersedes),
    target: elsewhere(given.target),
    through: elsewhere(given.through),
    head: branches ? given.head : null,
  }
}

function longStream(drafts: readonly Draft[]): ModelStream {
  const model = new ModelStream(HEADER)
  for (let i = 0; model.rows.length < RECORDS; i++) model.append([recordOf(model, moved(drafts[i % drafts.length], i))])
  return model
}

async function compareSamples({ stream, model }: Subject, dice: number): Promise<void> {
  await compareState(stream, model)
  for (const { name } of model.heads()) await compareAt(stream, model, { head: name })
  for (let i = 0; i < SAMPLES; i++) {
    const row = model.rows[(dice + i * 1_237) % model.rows.length]
    await compareRecord(stream, model, row)
    await compareAt(stream, model, { at: row.id })
    if (isHead(row)) continue
    await compareEntity(stream, model, ...nameOf(row), 'anywhere')
    await compareEntity(stream, model, ...nameOf(row), { at: row.id })
    await compareEntity(stream, model, ...nameOf(row), { head: 'primary' })
  }
}

test('CORE-26: a stream of thousands of records answers as the model, also reopened, indexed anew, and copied', () =>
  fc.assert(
    fc.asyncProperty(fc.array(draft, { minLength: 300, maxLength: 300 }), fc.nat(RECORDS), async (drafts, dice) => {
      const whole = longStream(drafts)
      const subject = await Subject.create()
      for (let from = 0; from < whole.rows.length; from += BATCH) {
        const records = whole.rows.slice(from, from + BATCH).map((row): Rec => row.record)
        await subject.append(records, { expected: from })
        if (from % 4_000 === 2_000) await subject.reopen()
      }
      await compareSamples(subject, dice)
      await subject.reopen()
      await compareSamples(subject, dice + 1)
      await subject.store.rebuildIndex()
      await compareSamples(subject, dice + 2)
      await subject.copyElsewhere(true)
      await compareSamples(subject, dice + 3)
      await subject.store.close()
    }),
    { ...settings(Math.ceil(RUNS / 500)), endOnFailure: true },
  ))

test.run()
