/**
 * The pinned schema, and every kind of update that it knows, made from the schema itself.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { settings } from '../property/settings.js'
import { schemaOf, UPDATE_KINDS, updateArbitrary } from './generator.js'
import { outline, recordAll, recordsOf, talk, type Update } from './support.js'

const require = createRequire(import.meta.url)
const DIGESTS = {
  'schema.json': '4ebe929b2502128d0f7e5265c99ac4a99c5ddb80457aac6b77ac2abe8369b0d4',
  'schema.unstable.json': '42cfef92addff96a7cbf01272eedcbfb20b2642ef0bd17a33d229384cf0b41e5',
}

test('ASR-700: the installed SDK carries the schema that the mapping is written for', () => {
  for (const [name, digest] of Object.entries(DIGESTS)) {
    const bytes = readFileSync(require.resolve(`@agentclientprotocol/sdk/schema/v2/${name}`))
    assert.is(createHash('sha256').update(bytes).digest('hex'), digest, name)
  }
})

test('the generator makes every kind of update that the schema names, and only valid ones', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  for (const format of ['uint16', 'uint32', 'uint64', 'int32', 'int64', 'double', 'regex', 'uri', 'date-time']) {
    ajv.addFormat(format, true)
  }
  ajv.addSchema({ $id: 'acp', ...schemaOf() })
  const validate = ajv.getSchema('acp#/$defs/UpdateSessionNotification') ?? assert.unreachable('no schema')
  assert.is(UPDATE_KINDS.length, 23)
  for (const kind of UPDATE_KINDS) {
    for (const update of fc.sample(updateArbitrary(kind), { numRuns: 20, seed: 7 })) {
      assert.ok(validate?.({ sessionId: 's', update }), `${JSON.stringify(update)} ${JSON.stringify(validate?.errors)}`)
    }
  }
})

/** The kinds whose updates are no records by name. */
const UNMAPPED = ['plan_removed', 'available_commands_update']

test('ASR-710: every update of every kind gives a record, and no frame is a problem', async () => {
  for (const kind of UPDATE_KINDS) {
    for (const update of fc.sample(updateArbitrary(kind), { numRuns: 15, seed: 11 })) {
      const { store, problems } = await recordAll(talk().update(update as Update).frames, { keepWire: 'none' })
      assert.equal(problems, [], JSON.stringify(update))
      const types = (await recordsOf(await store.stream('s'))).map(({ type }) => type)
      const silent = kind === 'session_info_update' && !('title' in update) && !update._meta
      assert.is(types.length > 0, !silent, JSON.stringify(update))
      const vendor = types.some((type) => type.startsWith('org.agent-session.acp/'))
      const sent = kind.startsWith('session_message') && update.recipientSessionId !== 's'
      assert.is(vendor, UNMAPPED.includes(kind) || sent, `${JSON.stringify(update)} gives ${types}`)
    }
  }
})

test('ASR-704, M5: any sequence of updates is recorded soundly, and recording it in two runs of frames is the same', async () => {
  const any = fc.oneof(...UPDATE_KINDS.map(updateArbitrary))
  await fc.assert(
    fc.asyncProperty(fc.array(any, { minLength: 1, maxLength: 25 }), async (updates) => {
      const frames = talk()
      for (const update of updates) frames.update(update as Update)
      const { store, problems } = await recordAll(frames.state('idle').frames, { keepWire: 'none' })
      assert.equal(problems, [])
      const stream = await store.stream('s')
      const records = await recordsOf(stream)
      const ids = new Set<string>()
      for (const { id, supersedes, targetId, replaces } of records) {
        for (const earlier of [supersedes, targetId, replaces?.throughId])
          assert.ok(earlier === undefined || ids.has(earlier))
        ids.add(id)
      }
      assert.equal((await stream.contextView()).diagnostics, [])
      const again = await recordAll(structuredClone(frames.frames), { keepWire: 'none' })
      assert.equal(outline(await recordsOf(await again.store.stream('s'))), outline(records))
      assert.is(await (await again.store.stream('s')).digest(), await stream.digest())
    }),
    settings(60),
  )
})

test.run()
