/** What the properties of this folder have found, each in its smallest form. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AsrRecord, memoryLocation, openStore } from '../../src/main.js'
import type { Store } from '../../src/store/api.js'
import type { Stream } from '../../src/stream/api.js'
import { exportText, outcomeOf } from './subject.js'

const HEADER = { type: 'header' as const, sessionId: 's' }

async function withStore(check: (store: Store) => Promise<void>): Promise<void> {
  const store = await openStore(memoryLocation())
  try {
    await check(store)
  } finally {
    await store.close()
  }
}

const withStream = (check: (stream: Stream, store: Store) => Promise<void>) =>
  withStore(async (store) => check(await store.createStream(HEADER), store))

function importLines(store: Store, ...lines: (object | string)[]) {
  return store.importJsonl([
    lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  ])
}

const recordLines = async (stream: Stream) => (await exportText(stream)).trimEnd().split('\n').slice(1)

test('CORE-4: a seq that fell back does not lead to an id that is taken', () =>
  withStream(async (stream) => {
    await stream.append({ type: 'x' })
    await stream.append({ type: 'x', seq: 1 })
    assert.equal(await recordLines(stream), ['{"type":"x","seq":1,"id":"r1"}', '{"type":"x","seq":1,"id":"r1.1"}'])
  }))

test('CORE-4: an ill-formed id is no JSON value that can be an id', () =>
  withStream(async (stream) => {
    assert.equal(await outcomeOf(() => stream.append({ type: 'x', id: 'a\ud800' })), { code: 'ASR_BAD_VALUE' })
  }))

test('CORE-7: a record that its caller changes while it is appended is stored as it was given', () =>
  withStream(async (stream, store) => {
    for (let ticks = 0; ticks < 12; ticks++) {
      const record: AsrRecord = { type: 'x', id: `id${ticks}`, nested: { value: 1 } }
      const appended = stream.append(record)
      for (let i = 0; i < ticks; i++) await null
      record.nested.value = 2
      await appended
      assert.equal((await stream.get(`id${ticks}`))?.nested, { value: 1 }, `${ticks} ticks`)
    }
    assert.ok((await store.verify()).ok)
  }))

test('CORE-3: header revisions that are under way at once all come in force', () =>
  withStream(async (stream) => {
    await Promise.all([stream.reviseHeader({ a: 1 }), stream.reviseHeader({ b: 2 })])
    const { a, b } = await stream.header()
    assert.equal([a, b], [1, 2])
  }))

test('CORE-3: a revision behind a repeated line of the file is not lost with the next record', () =>
  withStore(async (store) => {
    const one = { type: 'x', id: 'a' }
    await importLines(store, { ...HEADER, v: 1 }, one, { ...HEADER, v: 1 }, one, { ...HEADER, v: 2 }, { type: 'x' })
    const stream = await store.stream('s')
    assert.is((await stream.header()).v, 2)
    assert.ok((await store.verify()).ok)
  }))

test('CORE-7: the header of a file that extends a stream is exported as its line was', () =>
  withStore(async (store) => {
    const header = '{"type":"header","sessionId":"s","v":1.0}'
    await importLines(store, HEADER, { type: 'x' })
    await importLines(store, header, { type: 'x' }, { type: 'y' })
    assert.is((await exportText(await store.stream('s'))).split('\n')[0], header)
  }))

test('CORE-7: a rounded number is reported of any header line that is kept', () =>
  withStore(async (store) => {
    const revision = '{"type":"header","sessionId":"s","v":9007199254740993}'
    const { diagnostics } = await importLines(store, HEADER, { type: 'x' }, revision)
    assert.equal(
      diagnostics.map(({ code, line }) => `${line} ${code}`),
      ['3 number_rounded'],
    )
  }))

test('CORE-12: a parent that is an earlier head record is not called a later one', () =>
  withStore(async (store) => {
    const head = { type: 'head', id: 'h', name: 'x', recordId: '1' }
    const orphan = { type: 'message', parentId: 'h' }
    const { diagnostics } = await importLines(store, HEADER, { ...orphan, id: '1' }, head, orphan)
    assert.equal(
      diagnostics.map(({ code, line }) => `${line} ${code}`),
      ['2 forward_parent', '4 orphan_parent'],
    )
  }))

test('CORE-18: what supersedes nothing is no second revision', () =>
  withStore(async (store) => {
    await importLines(store, HEADER, { type: 'x', supersedes: 'ghost' }, { type: 'x', supersedes: 'ghost' })
    const { streams } = await store.verify()
    assert.equal(
      streams[0].problems.map(({ code }) => code),
      ['supersedes_unknown', 'supersedes_unknown'],
    )
  }))

test('CORE-21: a file without ids that extends a stream brings no id in twice', () =>
  withStream(async (stream, store) => {
    await stream.append([
      { type: 'x', id: 'a' },
      { type: 'x', id: 'b' },
    ])
    const report = await importLines(store, HEADER, { type: 'x' }, { type: 'x', id: 'b' }, { type: 'x', id: 'a', n: 1 })
    assert.equal(
      report.diagnostics.map(({ code, line }) => `${line} ${code}`),
      ['4 id_conflict'],
    )
    assert.is(stream.length, 2)
  }))

test('CORE-4: what an extending file leaves out is assigned by the stream, for lines kept as text too', () =>
  withStream(async (stream, store) => {
    await stream.append({ type: 'x', id: 'a', seq: 100 })
    await importLines(store, HEADER, { type: 'x', id: 'a' }, '{"type":"x","v":1.0}', { type: 'x', v: 1 })
    assert.equal((await recordLines(stream)).slice(1), [
      '{"type":"x","v":1.0,"seq":101,"id":"r101"}',
      '{"type":"x","v":1,"seq":102,"id":"r102"}',
    ])
  }))

test.run()
