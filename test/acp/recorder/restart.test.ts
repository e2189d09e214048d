import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sameJson } from '../../../src/acp/json.js'
import { memoryLocation, openStore, type Store } from '../../../src/main.js'
import { UPDATE_KINDS, updateArbitrary } from '../generator.js'
import { CWD, ofType, outline, recordAll, recordsOf, said, Talk, talk, type Update } from '../support.js'

/** Kinds that speak of entities of the session. */
const ENTITIES = UPDATE_KINDS.filter((kind) =>
  /^(?:user|agent|tool_call|plan_update|terminal|compaction|subagent)/.test(kind),
)

const UPDATES = fc.array(fc.constantFrom(...ENTITIES).chain(updateArbitrary), { minLength: 1, maxLength: 12 })

function tellAll(told: Talk, updates: readonly object[]): Talk {
  for (const update of updates) told.update(update as Update)
  return told.state('idle')
}

/** What there is in the end. What an interruption may leave its trace on is left out: how it came about, and in what order. */
async function inForce(store: Store): Promise<object[]> {
  const bodies: object[] = []
  for await (const record of (await (await store.stream('s')).activePath()).resolved()) {
    const { supersedes, replaces, assembly, record: kept, ...body } = said(record)
    if (record.type !== 'state') bodies.push(body)
  }
  return bodies
}

function demandSame(actual: readonly object[], expected: readonly object[]): void {
  const left = [...actual]
  for (const body of expected) {
    const at = left.findIndex((one) => sameJson(one, body))
    assert.ok(at !== -1, `${JSON.stringify(body)} is not in ${JSON.stringify(actual)}`)
    left.splice(at, 1)
  }
  assert.equal(left, [])
}

test('ASR-717: a recorder that begins anew between any two frames records what one recorder does', async () => {
  const property = fc.asyncProperty(UPDATES, fc.nat(12), async (updates, cut) => {
    const { frames } = tellAll(talk(), updates).close()
    const location = memoryLocation()
    const at = 4 + Math.min(cut, updates.length)
    await recordAll(frames.slice(0, at), {}, location)
    const { store } = await recordAll(frames.slice(at), {}, location)
    demandSame(await inForce(store), await inForce((await recordAll(frames)).store))
  })
  await fc.assert(property, { numRuns: 80, seed: 5 })
})

test('ASR-717: a session whose updates are all told again is what it was, with the same recorder and a new one', async () => {
  const property = fc.asyncProperty(UPDATES, fc.boolean(), async (updates, isNew) => {
    const told = tellAll(talk(), updates)
    const once = await inForce((await recordAll(told.frames)).store)
    const at = isNew ? told.frames.length : 0
    const { frames } = told.resume((again) => tellAll(again, updates))
    const location = memoryLocation()
    await recordAll(frames.slice(0, at), {}, location)
    demandSame(await inForce((await recordAll(frames.slice(at), {}, location)).store), once)
  })
  await fc.assert(property, { numRuns: 80, seed: 5 })
})

const diff = (name: string): object => ({ type: 'diff', changes: [{ operation: 'modify', path: `${CWD}/${name}` }] })

/** A call that was revised before its first diff came, in a chunk. */
function revisedCall(): Talk {
  const told = talk().call('t', { status: 'completed' }).call('t', { status: 'completed', title: 'T' })
  return told.update({ sessionUpdate: 'tool_call_content_chunk', toolCallId: 't', content: diff('a') }).state('idle')
}

test('ASR-715: a change is named below the first record of its call, and found there whatever was revised before', async () => {
  const location = memoryLocation()
  await recordAll(revisedCall().frames, {}, location)
  const again = new Talk()
    .initialize()
    .resume((more) => more.call('t', { status: 'completed', title: 'T', content: [diff('b')] }))
  const { store, problems } = await recordAll(again.frames, {}, location)
  const changes = ofType(await recordsOf(await store.stream('s')), 'file_change')
  assert.equal(
    changes.map(({ id, supersedes, changes: [{ path }] }) => [id, supersedes, path.path]),
    [
      ['r1.d0', undefined, 'a'],
      ['r7', 'r1.d0', 'b'],
    ],
  )
  assert.equal(problems, [])
})

test('a record id that somebody else took is no trouble, also that of a change', async () => {
  const location = memoryLocation()
  const store = await openStore(location)
  const stream = await store.createStream({ sessionId: 's' })
  await stream.append({ type: 'com.example/note', id: 'r2.d0' })
  await store.close()
  const told = talk()
    .call('t', { status: 'completed', content: [diff('a')] })
    .state('idle')
  const recorded = await recordAll(told.frames, {}, location)
  const records = await recordsOf(await recorded.store.stream('s'))
  assert.equal(outline(records).slice(1), [
    'tool_call t',
    'tool_result t completed',
    'file_change t applied',
    'state idle',
  ])
  assert.equal(recorded.problems, [])
})

test.run()
