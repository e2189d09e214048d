/**
 * Runs random commands on the engine and on the model, and compares both after each.
 */
import fc from 'fast-check'
import * as assert from 'uvu/assert'
import type { AsrRecord, StoreLocation } from '../../src/main.js'
import { type Command, command, entityIds } from './arbitraries.js'
import { isFault, type ModelAt } from './model.js'
import { idOf, MALFORMED, recordsOf } from './records.js'
import { isHead } from './rows.js'
import { COMMANDS, settings } from './settings.js'
import {
  compareAll,
  compareAt,
  compareEntity,
  compareRecord,
  compareState,
  nameOf,
  outcomeOf,
  Subject,
  told,
} from './subject.js'

const MISSING: ModelAt[] = [{ head: 'ghost' }, { at: 'ghost' }]

/** Holds the engine to the model for a number of runs, each in a store of its own. */
export async function holdEngine(runs: number, locate?: () => StoreLocation): Promise<void> {
  const commands = fc.array(fc.tuple(command, fc.nat(10_000)), { minLength: 1, maxLength: COMMANDS, size: 'max' })
  await fc.assert(
    fc.asyncProperty(commands, async (steps) => {
      const subject = await Subject.create(locate?.())
      try {
        for (const [step, dice] of steps) {
          await perform(subject, step)
          await compareSome(subject, dice)
        }
        await compareAll(subject.stream, subject.model)
        await subject.verify()
      } catch (error) {
        throw told(error, subject)
      } finally {
        await subject.store.close()
      }
    }),
    settings(runs),
  )
}

async function perform(subject: Subject, step: Command): Promise<void> {
  const { model } = subject
  switch (step.kind) {
    case 'append': {
      const length = model.rows.length
      const expected = { none: undefined, right: length, old: Math.max(length - 1, 0), ahead: length + 1 }[
        step.expected
      ]
      const options = { ...(expected !== undefined && { expected }), ...(step.head !== null && { head: step.head }) }
      return subject.append(recordsOf(model, step.batch), options)
    }
    case 'together': {
      const ends = await Promise.allSettled(step.writes.map((write) => perform(subject, write)))
      for (const end of ends) if (end.status === 'rejected') throw end.reason
      return
    }
    case 'malformed': {
      const [what, bad, code] = MALFORMED[step.how % MALFORMED.length]
      const records = recordsOf(model, step.batch)
      const at = step.at % (records.length + 1)
      const before = model.copy().append(records.slice(0, at))
      const batch = [...records.slice(0, at), bad, ...records.slice(at)] as AsrRecord[]
      const expected = isFault(before) ? before : { code }
      assert.equal(await outcomeOf(() => subject.stream.append(batch)), expected, what)
      return
    }
    case 'setHead':
      return subject.setHead(step.name, step.target === null ? null : idOf(model, step.target))
    case 'reviseHeader':
      return subject.reviseHeader(step.patch)
    case 'reopen':
      return subject.reopen()
    case 'rebuildIndex':
      return subject.store.rebuildIndex()
    case 'copyElsewhere':
      return subject.copyElsewhere(step.stay)
  }
}

/** The state, primary, every head, and a few earlier records and entities, chosen by the dice. */
async function compareSome({ stream, model }: Subject, dice: number): Promise<void> {
  await compareState(stream, model)
  await compareAt(stream, model, { head: 'primary' })
  for (const { name } of model.heads()) if (name !== 'primary') await compareAt(stream, model, { head: name })
  const { rows } = model
  if (rows.length === 0) return
  const some = [dice, dice * 7 + 3].map((n) => rows[n % rows.length])
  for (const row of some) {
    await compareAt(stream, model, { at: row.id })
    await compareRecord(stream, model, row)
    if (isHead(row)) continue
    await compareEntity(stream, model, ...nameOf(row), { head: 'primary' })
    await compareEntity(stream, model, ...nameOf(row), 'anywhere')
    await compareEntity(stream, model, row.record.type as string, row.id, 'anywhere')
    await compareEntity(stream, model, row.record.type as string, entityIds[dice % entityIds.length], {
      at: some[0].id,
    })
  }
  await compareAt(stream, model, MISSING[dice % MISSING.length])
}
