/**
 * The fixtures of spec/fixtures/replay: the stream of each, and what a client is told of it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ReplayLoss, type ReplayOptions, replay, type SessionUpdate } from '../../../src/acp/replay/main.js'
import { projectRoot } from '../../project/load-script.js'
import { collect } from '../../support/collect.js'
import { copied, openMemory } from '../../support/stores.js'
import { assertTaken } from './support.js'

const FOLDER = join(projectRoot, 'spec/fixtures/replay')

interface Fixture {
  name: string
  shows: string
  rules: string[]
  stream: string
  expected: string
}

interface Expected {
  session: string
  replays: { options: ReplayOptions; updates: SessionUpdate[]; losses: ReplayLoss[] }[]
}

const fixtures: Fixture[] = JSON.parse(readFileSync(join(FOLDER, 'manifest.json'), 'utf8'))

for (const { name, shows, rules, stream: file, expected } of fixtures) {
  test(`${name} (${rules.join(', ')}): ${shows}`, async () => {
    const { session, replays }: Expected = JSON.parse(readFileSync(join(FOLDER, expected), 'utf8'))
    const { store } = await openMemory()
    await store.importJsonl([readFileSync(join(FOLDER, file))])
    const stream = await store.stream(session)
    for (const { options, updates, losses } of replays) {
      const replayed = replay(stream, options)
      const told = await collect(replayed)
      assert.equal(
        told.map(({ update }) => update),
        updates,
      )
      for (const params of told) assertTaken(params)
      assert.equal(await replayed.losses(), losses)
      const elsewhere = await collect(replay((await copied(stream)).stream, options))
      assert.equal(elsewhere, told)
    }
  })
}

test('every file of the folder is listed, and every rule of a replay that a stream can show has a fixture', () => {
  const listed = fixtures.flatMap(({ stream, expected }) => [stream, expected])
  assert.equal(readdirSync(FOLDER).sort(), ['manifest.json', ...listed].sort())
  const held = new Set(fixtures.flatMap(({ rules }) => rules))
  const rules = ['ASR-724', 'ASR-725', 'ASR-726', 'ASR-727', 'ASR-728', 'ASR-729', 'ASR-730', 'ASR-731']
  assert.equal(
    rules.filter((rule) => !held.has(rule)),
    [],
  )
})

test.run()
