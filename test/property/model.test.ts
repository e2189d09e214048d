/** The model itself, against examples worked by hand: a wrong model would hold the engine to a wrong rule. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { canonical, plain, type Rec, roundsANumber, same } from './json.js'
import { isFault, isWellFormed, type ModelAt, ModelStream } from './model.js'
import { importFile, type ModelImport } from './model-import.js'

const HEADER: Rec = { type: 'header', asr: '1', sessionId: 's' }
const m = (id: string, more: Rec = {}): Rec => ({ type: 'message', id, ...more })

function streamOf(...records: Rec[]): ModelStream {
  const stream = new ModelStream(HEADER)
  for (const record of records) {
    const outcome = stream.append([record])
    if (isFault(outcome)) throw new Error(`${outcome.code} for ${JSON.stringify(record)}`)
  }
  return stream
}

function codeOf(stream: ModelStream, record: Rec, options = {}): string | null {
  const outcome = stream.append([record], options)
  return isFault(outcome) ? outcome.code : null
}

const idsAt = (stream: ModelStream, at?: ModelAt) => stream.path(at)?.map((row) => row.id)
const viewAt = (stream: ModelStream, at?: ModelAt) => {
  const { entries, diagnostics, openCalls, danglingResults } = stream.view(stream.path(at) ?? [])
  return { ids: entries.map((row) => row.id), diagnostics, openCalls, danglingResults }
}

function imported(lines: (Rec | string)[], existing?: ModelStream): ModelImport {
  const text = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
  const outcome = importFile(new TextEncoder().encode(text), existing)
  if (isFault(outcome)) throw new Error(outcome.code)
  return outcome
}
const said = (outcome: ModelImport) => outcome.diagnostics.map(({ code, line }) => `${line} ${code}`).sort()

test('CORE-4: absent seq and id are assigned last, seq before id, and evade what is taken', () => {
  const stream = streamOf({ type: 'state' }, m('r3', { seq: 2 }), { type: 'state' }, { type: 'state', seq: 1 })
  assert.is(plain(stream.rows[0].record), '{"type":"state","seq":1,"id":"r1"}')
  assert.is(plain(stream.rows[2].record), '{"type":"state","seq":3,"id":"r3.1"}')
  assert.is(plain(stream.rows[3].record), '{"type":"state","seq":1,"id":"r1.1"}')
})

test('CORE-8 and CORE-9: hash, chain and digest are the XXH64 values of the texts the rules name', () => {
  const stream = new ModelStream({ b: 1, a: '\ud800' })
  assert.is(canonical(stream.header), '{"a":"\\ud800","b":1}')
  assert.is(stream.chain(), 0n)
  stream.append([{ type: 'x', seq: 1, id: 'a' }])
  assert.is(stream.hash('a'), '6ef8922cb7bd2494')
  assert.is(stream.digest(), '7a72f7a0816870a4')
})

test('RFC 8785: the example of the canonical form comes out as printed there', () => {
  const source = `{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
    "string":"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}`
  const expected =
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
    `"string":"€$\\u000f\\nA'B\\"\\\\\\\\\\"/"}`
  assert.is(canonical(JSON.parse(source)), expected)
})

test('the helpers for JSON tell values, key order and rounded literals apart', () => {
  assert.is(plain([-0, 0, { b: 1, a: '\ud800' }]), '[-0,0,{"b":1,"a":"\\ud800"}]')
  assert.ok(same({ a: [1, { b: null }] }, { a: [1, { b: null }] }))
  assert.not(same({ a: 1, b: 2 }, { b: 2, a: 1 }))
  assert.not(same([-0], [0]))
  assert.ok(roundsANumber('[9007199254740993]'))
  assert.ok(roundsANumber('{"a":0.30000000000000004441}'))
  for (const line of [
    '[0.1,1.0,-0,1e2,100,0.10,1E-7,123456789012345680000]',
    '{"a":"9007199254740993"}',
    '["\\"1e999"]',
  ])
    assert.not(roundsANumber(line), line)
  assert.ok(isWellFormed('a😀'))
  for (const text of ['\ud83d', '\ude00\ud83d', 'a\ude00', '\ud83d\ud83d\ude00']) assert.not(isWellFormed(text))
})

test('CORE-11: an implied parent is the target of the named head, and of primary for a head that is not there', () => {
  const stream = streamOf(m('a'), m('b'), m('c', { parentId: 'a', head: 'side' }), m('d', { head: 'side' }), m('e'))
  assert.equal(idsAt(stream, { at: 'd' }), ['a', 'c', 'd'])
  assert.equal(idsAt(stream), ['a', 'b', 'e'])
  stream.append([m('f', { head: 'new' })])
  assert.equal(idsAt(stream, { head: 'new' }), ['a', 'b', 'e', 'f'])
})

test('CORE-12: append refuses a parent that is unknown or a head record; import keeps an orphan for good', () => {
  const stream = streamOf(m('a'), { type: 'head', id: 'h', name: 'x', recordId: 'a' })
  assert.is(codeOf(stream, m('b', { parentId: 'ghost' })), 'ASR_PARENT_UNKNOWN')
  assert.is(codeOf(stream, m('b', { parentId: 'h' })), 'ASR_PARENT_UNKNOWN')
  const file = imported([
    HEADER,
    m('m1'),
    m('m3', { parentId: 'ghost' }),
    m('m4', { parentId: 'm3' }),
    m('m5', { parentId: 'm6' }),
    m('m6', { parentId: 'm6' }),
    m('ghost'),
  ])
  assert.equal(said(file), ['3 forward_parent', '5 forward_parent', '6 forward_parent'])
  assert.equal(idsAt(file.stream, { at: 'm4' }), ['m3', 'm4'])
  assert.equal(file.stream.view(file.stream.path({ at: 'm4' }) ?? []).cut, { recordId: 'm3', missingParentId: 'ghost' })
  assert.equal(said(imported([HEADER, m('a', { parentId: 'nowhere' })])), ['2 orphan_parent'])
})

test('CORE-12: an implied parent right behind a refused line marks the record, a stated one does not', () => {
  const { stream } = imported([HEADER, m('a'), 'broken', m('b'), m('c'), '5', m('d', { parentId: 'b' }), m('e')])
  assert.equal(stream.view(stream.path() ?? []).gaps, ['b'])
})

test('CORE-13: an audit-only record hung elsewhere moves no head, one behind the target does', () => {
  const stream = streamOf(m('a'), m('b'), { type: 'state', id: 'c', parentId: 'a' })
  assert.equal(stream.heads(), [{ name: 'primary', recordId: 'b', pos: 2 }])
  stream.append([{ type: 'state', id: 'd' }])
  assert.equal(stream.heads(), [{ name: 'primary', recordId: 'd', pos: 4 }])
  stream.append([{ type: 'state', id: 'e', head: 'x', parentId: 'a' }])
  assert.is(stream.heads().length, 1)
  const first = streamOf({ type: 'state', id: 'a', head: 'x' })
  assert.equal(
    first.heads().map((head) => head.name),
    ['x', 'primary'],
  )
})

test('CORE-14: head records move and drop heads, but not primary, and stand on no path', () => {
  const stream = streamOf(m('a'), m('b'), { type: 'head', id: 'h', name: 'primary', recordId: 'a' }, m('c'))
  assert.equal(idsAt(stream), ['a', 'c'])
  assert.is(codeOf(stream, { type: 'head', name: 'primary', recordId: null }), 'ASR_HEAD_TARGET')
  assert.is(codeOf(stream, { type: 'head', name: 'x', recordId: 'h' }), 'ASR_HEAD_TARGET')
  assert.is(codeOf(stream, { type: 'head', name: 5, recordId: 'a' }), 'ASR_HEAD_TARGET')
  assert.is(codeOf(stream, { type: 'head', name: 'x', recordId: null }), null)
  assert.is(stream.path({ at: 'h' }), undefined)
  const file = imported([HEADER, m('a'), { type: 'head', name: 'primary', recordId: 'b' }, m('b')])
  assert.equal(said(file), ['3 head_target'])
  assert.equal(idsAt(file.stream), ['a', 'b'])
})

test('CORE-15: leaves are the records without children, with the heads at them', () => {
  const stream = streamOf(m('m1'), m('a', { head: 'x' }), m('b', { parentId: 'm1' }), {
    type: 'state',
    id: 'p',
    parentId: 'a',
  })
  assert.equal(stream.leaves(), [
    { recordId: 'b', pos: 3, heads: ['primary'] },
    { recordId: 'p', pos: 4, heads: [] },
  ])
})

test('CORE-17: a revision is of the type and entity of its target; plans of one planId are one entity', () => {
  const stream = streamOf(
    m('a', { messageId: 'x' }),
    m('b'),
    { type: 'state', id: 's' },
    { type: 'tombstone', id: 't', targetId: 'b' },
  )
  assert.is(codeOf(stream, m('c', { supersedes: 'ghost' })), 'ASR_SUPERSEDES_UNKNOWN')
  assert.is(codeOf(stream, m('c', { supersedes: 'c' })), 'ASR_SUPERSEDES_UNKNOWN')
  for (const supersedes of ['a', 's', 't']) assert.is(codeOf(stream, m('c', { supersedes })), 'ASR_SUPERSEDES_MISMATCH')
  assert.is(codeOf(stream, m('c', { supersedes: 'b', messageId: 'x' })), 'ASR_SUPERSEDES_MISMATCH')
  assert.is(codeOf(stream, m('c', { supersedes: 'b', messageId: 'b' })), null)
  assert.is(codeOf(stream, m('d', { supersedes: 'c' })), null)
  const plans = streamOf(
    { type: 'plan', id: 'p1', planId: 'p' },
    { type: 'plan', id: 'p2', planId: 'p' },
    { type: 'plan', id: 'p3' },
  )
  assert.equal(
    plans.entity('plan', 'p')?.map((plan) => plan.revisions.map((record) => record.id)),
    [['p1', 'p2']],
  )
  assert.equal(plans.entity('plan', 'p3')?.length, 1)
})

test('CORE-18: at r3 one message, at the place of r1, in the words of r3', () => {
  const stream = streamOf(
    { type: 'message' },
    { type: 'message', supersedes: 'r1' },
    { type: 'message', supersedes: 'r2', parentId: 'r1' },
  )
  assert.equal(idsAt(stream, { at: 'r3' }), ['r1', 'r3'])
  assert.equal(viewAt(stream, { at: 'r3' }).ids, ['r3'])
  assert.equal(viewAt(stream, { at: 'r2' }).ids, ['r2'])
})

test('CORE-19: a tombstone takes out the whole entity on its path, also later revisions, and only there', () => {
  const stream = streamOf(
    m('a'),
    m('b', { parentId: null }),
    { type: 'tombstone', id: 't', parentId: 'a', targetId: 'b' },
    m('c', { supersedes: 'b', parentId: 't' }),
  )
  assert.equal(viewAt(stream, { at: 'c' }).ids, ['a'])
  assert.equal(viewAt(stream, { at: 'b' }).ids, ['b'])
  assert.equal(
    stream.entity('message', 'b', { at: 'c' })?.map((entity) => entity.inForce),
    [null],
  )
  assert.equal(
    stream.entity('message', 'b', { at: 'b' })?.map((entity) => entity.inForce === null),
    [false],
  )
  assert.equal(
    stream.entity('message', 'b', 'anywhere')?.map((entity) => entity.revisions.length),
    [2],
  )
  assert.is(codeOf(stream, { type: 'tombstone', targetId: 't' }), 'ASR_TARGET_UNKNOWN')
  assert.equal(
    stream.resolved(stream.path({ at: 'c' }) ?? []).map((row) => row.id),
    ['a'],
  )
})

test('CORE-21: a repeat is counted, before the expected position is looked at; another record is a conflict', () => {
  const stream = streamOf({ type: 'message', id: 'a', head: 'x' }, m('b'))
  const repeat = stream.append([m('a'), m('b'), m('b')], { expected: 0 })
  assert.equal(repeat, { first: 1, last: 2, appended: 0, duplicates: 3 })
  assert.is(codeOf(stream, m('a', { seq: 2 })), 'ASR_ID_CONFLICT')
  assert.is(codeOf(stream, m('a', { head: 'primary' })), 'ASR_ID_CONFLICT')
  assert.equal(stream.append([m('b', { head: 'primary' })]), { first: 2, last: 2, appended: 0, duplicates: 1 })
  assert.is(codeOf(stream, m('c'), { expected: 1 }), 'ASR_CONFLICT')
  assert.is(codeOf(stream, m('c'), { expected: 2 }), null)
  assert.is(stream.rows.length, 3)
})

test('CORE-21: an import extends, is a prefix, or diverges', () => {
  const lines = [HEADER, m('a'), { type: 'state' }, m('b')]
  const once = imported(lines)
  const again = imported(lines, once.stream)
  assert.equal([again.appended, again.duplicates], [0, 3])
  assert.is(imported(lines.slice(0, 3), once.stream).appended, 0)
  const more = imported([...lines, m('c')], once.stream)
  assert.equal([more.appended, more.stream.rows.length, once.stream.rows.length], [1, 4, 3])
  assert.throws(() => imported([HEADER, m('a'), m('b')], once.stream), /ASR_DIVERGED/)
  assert.throws(() => imported([HEADER, m('a', { role: 'user' })], once.stream), /ASR_DIVERGED/)
})

test('CORE-23 and CORE-24: the compaction in force stands first, then what is positioned after its extent', () => {
  const six = [1, 2, 3, 4, 5, 6].map((n) => m(`m${n}`))
  const compaction = (id: string, throughId?: Rec[string], more: Rec = {}): Rec =>
    throughId === undefined
      ? { type: 'compaction', id, ...more }
      : { type: 'compaction', id, replaces: { throughId }, ...more }
  const stream = streamOf(...six, compaction('c1', 'm4'), { type: 'state', id: 'n1' }, m('m7'), compaction('c2', 'm6'))
  assert.equal(viewAt(stream, { at: 'm7' }).ids, ['c1', 'm5', 'm6', 'm7'])
  assert.equal(viewAt(stream, { at: 'c2' }).ids, ['c2', 'm7'])
  const bad = streamOf(
    ...six,
    compaction('c1', 'm4'),
    compaction('c2', 'ghost'),
    compaction('c3', 7),
    compaction('c4', 'c4'),
  )
  assert.equal(viewAt(bad).ids, ['c1', 'm5', 'm6'])
  assert.equal(
    viewAt(bad).diagnostics.map((diagnostic) => diagnostic.recordId),
    ['c4', 'c3', 'c2'],
  )
  const failed = streamOf(...six, compaction('c1', undefined, { status: 'failed' }))
  assert.equal(
    viewAt(failed).ids,
    six.map((record) => record.id),
  )
  const plainOne = streamOf(...six, { type: 'state', id: 'n' }, compaction('c1', null), m('m7'))
  assert.equal(viewAt(plainOne).ids, ['c1', 'm7'])
  assert.equal(viewAt(streamOf(compaction('c1'), m('a'))).ids, ['c1', 'a'])
})

test('CORE-25: results close the earliest open call of their id, and what is left over is listed', () => {
  const call = (id: string, callId?: string): Rec =>
    callId === undefined ? { type: 'tool_call', id } : { type: 'tool_call', id, callId }
  const result = (id: string, callId?: string): Rec => ({ ...call(id, callId), type: 'tool_result' })
  const stream = streamOf(
    call('1', 'x'),
    call('2', 'x'),
    call('3', 'y'),
    result('4', 'x'),
    call('5'),
    result('6', 'z'),
    result('7'),
    call('8', 'z'),
  )
  assert.equal(viewAt(stream).openCalls, ['x', 'y', '5', 'z'])
  assert.equal(viewAt(stream).danglingResults, ['z', ''])
})

test('CORE-2 and CORE-7: a line is kept as it was written, and refused lines are named', () => {
  const text = `\ufeff${JSON.stringify(HEADER)}\r\n\r\n{"type":"x","2":1,"1":1.0}\r\n[1]\r\n{"type":5}\n{"type":"y","a":1e400}\n{"type":"z"`
  const outcome = importFile(new TextEncoder().encode(text))
  if (isFault(outcome)) throw new Error(outcome.code)
  assert.equal(said(outcome), ['4 not_object', '5 bad_field', '6 bad_json', '7 torn_tail'])
  assert.is(outcome.stream.exportText(), `${JSON.stringify(HEADER)}\n{"type":"x","2":1,"1":1.0,"seq":1,"id":"r1"}\n`)
})

test('CORE-3: a patch replaces and removes keys, and what names the stream stays', () => {
  const stream = new ModelStream({ ...HEADER, a: 1, b: 2 })
  assert.equal(stream.reviseHeader({ a: null, c: { d: 1 } }), { ...HEADER, b: 2, c: { d: 1 } })
  assert.ok(isFault(stream.reviseHeader({ sessionId: 't' })))
  assert.ok(isFault(stream.reviseHeader({ asr: null })))
  const file = imported([HEADER, m('a'), { ...HEADER, x: 1 }])
  assert.equal(file.stream.header, { ...HEADER, x: 1 })
})

test.run()
