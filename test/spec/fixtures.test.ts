/**
 * Holds the engine to the fixtures: after the import, after reopening, with a new index, and in another store
 * (CORE-26). The rules of each fixture are in the manifest and in the test's name.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { bytesOf } from '../support/collect.js'
import { said } from '../support/fails.js'
import { type Fixture, readFixtures } from '../support/fixtures.js'
import { openMemory } from '../support/stores.js'
import { compareAnswers, withoutGaps } from './answers.js'

const fixtures = readFixtures()

async function run({ name, bytes, answers }: Fixture): Promise<void> {
  const first = await openMemory()
  const report = await first.store.importJsonl([bytes])
  assert.is(report.sessionId, answers.session)
  assert.is(report.records, answers.records.length)
  assert.is(report.appended, answers.records.length)
  assert.is(report.duplicates, answers.duplicates)
  assert.equal(said(report.diagnostics), said(answers.diagnostics))
  await compareAnswers(await first.store.stream(answers.session), answers, `${name}, imported`)

  const again = await first.store.importJsonl([bytes])
  assert.is(again.appended, 0, 'CORE-21: a file that is there already adds nothing')
  await first.store.close()

  const { store } = await openMemory(first.location)
  await compareAnswers(await store.stream(answers.session), answers, `${name}, reopened`)
  await store.rebuildIndex()
  const stream = await store.stream(answers.session)
  await compareAnswers(stream, answers, `${name}, with a new index`)
  assert.is((await store.verify()).ok, true)

  const copy = await openMemory()
  await copy.store.importJsonl([await bytesOf(stream.exportJsonl())])
  const copied = await copy.store.stream(answers.session)
  await compareAnswers(copied, withoutGaps(answers), `${name}, in another store`)
  await copy.store.close()
  await store.close()
}

for (const fixture of fixtures) {
  test(`${fixture.name} (${fixture.rules.join(', ')}): ${fixture.shows}`, () => run(fixture))
}

test('CORE-8, CORE-9: hashes, digests and exports of the fixtures are those that a script without the engine works out', () => {
  const { status, stderr } = spawnSync(process.execPath, [join('spec', 'fixtures', 'hashes.mjs')], { encoding: 'utf8' })
  assert.is(status, 0, stderr)
})

test('every rule that a stream can show has a fixture', () => {
  const held = new Set(fixtures.flatMap(({ rules }) => rules))
  const numbers = Array.from({ length: 27 }, (_, index) => index + 1).filter((number) => number !== 10)
  assert.equal(
    numbers.filter((number) => !held.has(`CORE-${number}`)),
    [],
  )
})

test.run()
