/**
 * Compares a stream's answers with a fixture's (spec/fixtures/README.md).
 */
import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { At, Entity, Stream } from '../../src/main.js'
import { bytesOf, collect, idsOf } from '../support/collect.js'
import { fails } from '../support/fails.js'
import type { Expected, ExpectedAt, ExpectedEntity } from '../support/fixtures.js'

/** Everything a fixture says but what the import reports. */
export async function compareAnswers(stream: Stream, answers: Expected, where: string): Promise<void> {
  await compareLog(stream, answers, where)
  await compareTree(stream, answers, where)
  await compareEntities(stream, answers, where)
  const exported = await bytesOf(stream.exportJsonl())
  assert.is(createHash('sha256').update(exported).digest('hex'), answers.exportSha256, `${where}: export`)
}

/** The answers of a copy made by export and import, where nothing tells of refused lines any more (CORE-12). */
export function withoutGaps(answers: Expected): Expected {
  return { ...answers, at: answers.at.map((item) => ({ ...item, gaps: [] })) }
}

async function compareLog(stream: Stream, answers: Expected, where: string): Promise<void> {
  assert.is(stream.sessionId, answers.session, `${where}: session`)
  assert.is(stream.length, answers.records.length, `${where}: length`)
  assert.equal(await stream.header(), answers.header, `${where}: header`)
  const stored = await collect(stream.records())
  const given = answers.records.map(({ id, seq }) => ({ id, seq }))
  assert.equal(
    stored.map(({ id, seq }) => ({ id, seq })),
    given,
    `${where}: records`,
  )
  for (const [index, { id, hash }] of answers.records.entries()) {
    assert.is(await stream.position(id), index + 1, `${where}: position of ${id}`)
    assert.is(await stream.hash(id), hash, `${where}: hash of ${id}`)
    assert.is(JSON.stringify(await stream.get(id)), JSON.stringify(stored[index]), `${where}: record ${id}`)
  }
  assert.is(await stream.digest(), answers.digest, `${where}: digest`)
}

async function compareTree(stream: Stream, answers: Expected, where: string): Promise<void> {
  const heads = await stream.heads()
  const named = Object.fromEntries(heads.map(({ name, recordId }) => [name, recordId]))
  assert.equal(named, answers.heads, `${where}: heads`)
  for (const { recordId, pos } of heads) assert.is(pos, await stream.position(recordId), `${where}: ${recordId}`)
  const leaves = (await stream.leaves()).map(({ recordId, heads }) => ({ id: recordId, heads: heads.toSorted() }))
  const expected = answers.leaves.map(({ id, heads }) => ({ id, heads: heads.toSorted() }))
  assert.equal(leaves, expected, `${where}: leaves`)
  const items = new Map(answers.at.map((item) => [item.id, item]))
  for (const item of answers.at) await compareAt(stream, { at: item.id }, item, where)
  for (const [name, id] of Object.entries(answers.heads)) await compareAt(stream, { head: name }, items.get(id)!, where)
  await compareAt(stream, undefined, items.get(answers.heads.primary) ?? NOTHING, where)
  for (const { id } of answers.records) {
    if (!items.has(id)) await fails('ASR_NOT_FOUND', () => stream.activePath({ at: id }))
  }
}

/** CORE-16: a stream without records. */
const NOTHING: ExpectedAt = {
  id: '',
  path: [],
  cut: null,
  gaps: [],
  resolved: [],
  view: { compaction: null, entries: [], openCalls: [], danglingResults: [], diagnostics: [] },
}

async function compareAt(stream: Stream, at: At | undefined, item: ExpectedAt, fixture: string): Promise<void> {
  const where = `${fixture}: ${JSON.stringify(at ?? 'primary')}`
  const path = await stream.activePath(at)
  assert.equal(await collect(path.ids()), item.path, `${where}: path`)
  assert.equal(await idsOf(path.records()), item.path, `${where}: records of the path`)
  assert.equal(await idsOf(path.resolved()), item.resolved, `${where}: resolved`)
  assert.equal(
    [path.length, path.cut, path.gaps],
    [item.path.length, item.cut, item.gaps],
    `${where}: length, cut, gaps`,
  )
  const view = await stream.contextView(at)
  const entries = await idsOf(view.entries())
  const found = {
    compaction: view.compaction?.id ?? null,
    entries,
    openCalls: view.openCalls,
    danglingResults: view.danglingResults,
    diagnostics: view.diagnostics.map(({ code }) => code),
  }
  assert.equal(found, item.view, `${where}: view`)
  const head = at === undefined ? 'primary' : (at.head ?? null)
  assert.equal([view.head, view.length, view.cut, view.gaps], [head, entries.length, item.cut, item.gaps], where)
}

async function compareEntities(stream: Stream, answers: Expected, where: string): Promise<void> {
  for (const { type, id, primary, anywhere } of answers.entities) {
    const name = `${where}: ${type} ${JSON.stringify(id)}`
    assert.equal((await stream.entity(type, id)).map(shown), primary, `${name} on primary's path`)
    assert.equal((await stream.entity(type, id, { anywhere: true })).map(shown), anywhere, `${name} anywhere`)
  }
  assert.equal(await stream.entity('message', 'no such entity', { anywhere: true }), [], `${where}: no entity`)
}

function shown({ first, inForce, revisions }: Entity): ExpectedEntity {
  return { first: first.id, inForce: inForce?.id ?? null, revisions: revisions.map(({ id }) => id) }
}
