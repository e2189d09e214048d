/**
 * What an import says of lines: each code of the contract, with its line and its weight; and when a file is refused.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { collect, idsOf, linesOf } from '../support/collect.js'
import { fails, said } from '../support/fails.js'
import { compaction, header, jsonl, message, note, tombstone } from '../support/records.js'
import { importOf, openMemory } from '../support/stores.js'

const bytes = (...values: number[]) => new Uint8Array(values)
const M1 = message('m1', { parentId: null })
const refusedRecords: [string, string, string][] = [
  ['bad_json', 'text that is not JSON', '{"type":'],
  ['bad_json', 'a number beyond the doubles', '{"type":"x","n":1e400}'],
  ['bad_json', 'a number far below the doubles beside one beyond', '{"type":"x","n":[1e-400,-1e999]}'],
  ['not_object', 'an array', '[{"type":"message"}]'],
  ['not_object', 'null', 'null'],
  ['not_object', 'a number', '12'],
  ['too_deep', 'a record of 513 levels', `{"type":"x","n":${'['.repeat(513)}${']'.repeat(513)}}`],
  ['too_deep', 'an array of very many levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['bad_field', 'a record without type', '{"id":"x"}'],
  ['bad_field', 'a type that is no string', '{"type":null,"id":"x"}'],
  ['bad_field', 'an id that is no string', '{"type":"x","id":7}'],
  ['bad_field', 'an ill-formed id', '{"type":"x","id":"\\udc00"}'],
  ['bad_field', 'a null id', '{"type":"x","id":null}'],
  ['bad_field', 'a seq that is text', '{"type":"x","seq":"1"}'],
  ['bad_field', 'a seq below 0', '{"type":"x","seq":-1}'],
  ['bad_field', 'a seq with a fraction', '{"type":"x","seq":0.5}'],
  ['bad_field', 'a seq beyond the safe integers', '{"type":"x","seq":9007199254740992}'],
  ['bad_field', 'a parentId that is no string', '{"type":"x","parentId":{}}'],
  ['bad_field', 'a supersedes that is null', '{"type":"x","supersedes":null}'],
  ['bad_field', 'a head that is no string', '{"type":"x","head":[]}'],
  ['bad_field', 'a recordId that is no string', '{"type":"head","name":"a","recordId":1}'],
  ['bad_field', 'a head record without recordId', '{"type":"head","name":"a"}'],
  ['bad_field', 'a targetId that is no string', '{"type":"tombstone","targetId":null}'],
  ['bad_field', 'a tombstone without targetId', '{"type":"tombstone"}'],
  ['id_conflict', 'another record with a known id', JSON.stringify(message('m1'))],
]

for (const [code, name, line] of refusedRecords) {
  test(`CORE-7: ${name} is refused: ${code}`, async () => {
    const { stream, report } = await importOf(M1, line, message('m2', { parentId: 'm1' }))
    assert.equal(said(report.diagnostics), [`3 ${code}`])
    assert.is(report.diagnostics[0].severity, 'refused')
    assert.ok(report.diagnostics[0].message.length > 0)
    assert.equal([report.records, report.appended, report.duplicates], [2, 2, 0])
    assert.equal(await idsOf(stream.records()), ['m1', 'm2'])
  })
}

test('CORE-7: 512 levels inside a record are kept', async () => {
  const line = `{"type":"x","seq":1,"id":"deep","n":${'['.repeat(512)}${']'.repeat(512)}}`
  const { stream, report } = await importOf(line)
  assert.equal(report.diagnostics, [])
  assert.equal(await linesOf(stream.exportJsonl()), [JSON.stringify(header()), line])
})

test('CORE-2: bytes that are not UTF-8 are refused: bad_utf8', async () => {
  const { store } = await openMemory()
  const bad = [bytes(0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d, 10), bytes(0x22, 0xed, 0xa0, 0x80, 0x22, 10)]
  const report = await store.importJsonl([jsonl(header(), M1), ...bad, jsonl(message('m2'))])
  assert.equal(said(report.diagnostics), ['3 bad_utf8', '4 bad_utf8'])
  assert.equal((await (await store.stream('s')).activePath()).gaps, ['m2'])
})

test('CORE-7: a line of more than 64 MiB is refused, and the next is read: too_large', async () => {
  const { store } = await openMemory()
  const mebibyte = 'x'.repeat(2 ** 20)
  function* chunks() {
    yield jsonl(header(), M1)
    yield '{"type":"x","text":"'
    for (let n = 0; n < 64; n++) yield mebibyte
    yield '"}\n'
    yield jsonl(message('m2', { parentId: 'm1' }))
  }
  const report = await store.importJsonl(chunks())
  assert.equal(said(report.diagnostics), ['3 too_large'])
  assert.is(report.records, 2)
})

test('CORE-2: a last line without its end that cannot be read is a torn tail; one that can be read is kept', async () => {
  for (const [tail, found] of [
    ['{"type":"mess', ['3 torn_tail']],
    ['{"type":"message","id":"m2"}', []],
    [' \t', []],
  ] as const) {
    const { store } = await openMemory()
    const report = await store.importJsonl([jsonl(header(), M1), tail])
    assert.equal(said(report.diagnostics), found)
    assert.is(report.records, tail.includes('m2') ? 2 : 1)
  }
})

const keptRecords: [string, string, (string | object)[]][] = [
  ['orphan_parent', 'a parent that is nowhere', [message('m2', { parentId: 'ghost' })]],
  ['forward_parent', 'a parent later in the file', [message('m2', { parentId: 'm3' }), message('m3')]],
  ['forward_parent', 'a record that is its own parent', [message('m2', { parentId: 'm2' })]],
  ['supersedes_unknown', 'a revision of nothing', [message('m2', { supersedes: 'ghost' })]],
  ['supersedes_mismatch', 'a revision of another type', [note('n1', { supersedes: 'm1' })]],
  ['target_unknown', 'a tombstone of nothing', [tombstone('k1', 'ghost')]],
  ['head_target', 'a head at nothing', [{ type: 'head', id: 'h1', name: 'a', recordId: 'ghost' }]],
  ['head_target', 'primary dropped', [{ type: 'head', id: 'h1', name: 'primary', recordId: null }]],
  ['head_target', 'a head without a name', [{ type: 'head', id: 'h1', recordId: 'm1' }]],
  ['seq_not_rising', 'a seq that repeats', [message('m2', { seq: 1 })]],
  ['number_rounded', 'a number that is no double', ['{"type":"x","id":"n1","n":9007199254740993}']],
  ['number_rounded', 'a long fraction', ['{"type":"x","id":"n1","n":[{"a":0.1234567890123456789}]}']],
  ['number_rounded', 'a number too small for a double', ['{"type":"x","id":"n1","n":1e-400}']],
  ['compaction_bad_extent', 'an extent that is nowhere', [compaction('c1', 'ghost')]],
]

for (const [code, name, lines] of keptRecords) {
  test(`CORE-12, CORE-17, CORE-19, CORE-23: ${name} is kept and reported: ${code}`, async () => {
    const { report } = await importOf(M1, ...lines)
    assert.equal(said(report.diagnostics), [`3 ${code}`])
    const [{ severity, recordId, message: words }] = report.diagnostics
    const [first] = lines.map((line) => (typeof line === 'string' ? JSON.parse(line) : line))
    assert.equal({ severity, recordId }, { severity: 'kept', recordId: first.id })
    assert.ok(words.length > 0)
    assert.is(report.records, lines.length + 1)
  })
}

test('CORE-7: numbers that come back as they are worth are not reported, and numbers in texts are none', async () => {
  const line = '{"type":"x","n":[1.0,1E2,-0,0.10,1e23,100000000000000000000],"t":"9007199254740993 \\" 1e999"}'
  const { report } = await importOf(line)
  assert.equal(report.diagnostics, [])
})

test('CORE-7: a number that was rounded is named with its field and its digits, in headers too', async () => {
  const digits = '12345678901234567890'
  const big = (line: object): string => JSON.stringify(line).replace('"BIG"', digits)
  const { report } = await importOf(
    big(message('m1', { usage: { tokens: ['BIG'] } })),
    big(header('s', { build: 'BIG' })),
  )
  assert.equal(said(report.diagnostics), ['2 number_rounded', '3 number_rounded'])
  const words = report.diagnostics.map(({ message: text }) => text)
  assert.match(words[0], `${digits} at "/usage/tokens/0"`)
  assert.match(words[1], `${digits} at "/build"`)
  const { store } = await openMemory()
  const first = await store.importJsonl([`${big(header('s', { build: 'BIG' }))}\n`])
  assert.match(first.diagnostics[0].message, `${digits} at "/build"`)
})

test('one line can have several findings', async () => {
  const { report } = await importOf(M1, message('m2', { seq: 0, parentId: 'ghost', supersedes: 'ghost' }))
  assert.equal(said(report.diagnostics), ['3 orphan_parent', '3 seq_not_rising', '3 supersedes_unknown'])
})

test('CORE-12: a parent that only a refused line has is an orphan parent', async () => {
  const { report } = await importOf(message('m1', { parentId: 'x' }), '{"type":"message","id":"x","seq":-1}')
  assert.equal(said(report.diagnostics), ['2 orphan_parent', '3 bad_field'])
})

test('CORE-12: the mark of a refused line goes to the first record behind it that is stored, if its parent is implied', async () => {
  const gapsOf = async (...lines: (string | object)[]) => (await (await importOf(...lines)).stream.activePath()).gaps
  assert.equal(await gapsOf('bad', message('m1'), message('m2')), ['m1'])
  assert.equal(await gapsOf(M1, 'bad', M1, message('m2')), ['m2'])
  assert.equal(await gapsOf(M1, 'bad', '', 'bad', message('m2'), 'bad', message('m3')), ['m2', 'm3'])
  assert.equal(await gapsOf(M1, 'bad', message('m2', { parentId: 'm1' }), message('m3')), [])
})

/** A file that must be refused as a whole: nothing of it is in the store afterwards. */
async function refusedFile(code: string, file: string, options: { sessionId?: string; strict?: boolean } = {}) {
  const { store } = await openMemory()
  const error = await fails(code, () => store.importJsonl([file], options))
  assert.equal(await collect(store.streams()), [])
  return error
}

test('CORE-2: a file whose first object is a record has no header, unless the session is given', async () => {
  const file = jsonl('# a remark', M1, header())
  await refusedFile('no_header', file)
  await refusedFile('no_header', jsonl({ type: 'header', asr: '1' }))
  const { store } = await openMemory()
  const report = await store.importJsonl([jsonl(M1)], { sessionId: 'given' })
  assert.equal([report.sessionId, report.records], ['given', 1])
  const stream = await store.stream('given')
  assert.equal(await stream.header(), { type: 'header', asr: '1', sessionId: 'given' })
})

test('a file without anything in it is called empty', async () => {
  for (const nothing of ['', '\n', '\uFEFF', ' \r\n\n\uFEFF\n'])
    assert.match((await refusedFile('no_header', nothing)).message, /is empty/)
  for (const something of ['x', '{}', jsonl('# a remark')])
    assert.not.match((await refusedFile('no_header', something)).message, /empty/)
})

test('CORE-2: a byte order mark costs no line, wherever files were joined', async () => {
  const { report, stream } = await importOf(
    M1,
    `\uFEFF${JSON.stringify(header())}`,
    `\uFEFF${JSON.stringify(message('m2'))}`,
  )
  assert.equal(report.diagnostics, [])
  assert.equal(await idsOf(stream.records()), ['m1', 'm2'])
})

test('CORE-3: a header of another version than "1" is kept, and import and verify report it', async () => {
  for (const asr of ['99', '', 1, null, {}]) {
    const { store } = await openMemory()
    const file = jsonl('', { ...header('s'), asr }, M1)
    const { diagnostics } = await store.importJsonl([file])
    assert.equal(said(diagnostics), ['2 asr_version'], JSON.stringify(asr))
    assert.is(diagnostics[0].severity, 'kept')
    assert.equal((await (await store.stream('s')).header()).asr, asr)
    const { ok, streams } = await store.verify()
    assert.equal(
      [ok, ...streams[0].problems.map(({ code, severity }) => `${code} ${severity}`)],
      [true, 'asr_version kept'],
    )
    await fails('asr_version', () => openMemory().then((other) => other.store.importJsonl([file], { strict: true })))
  }
  const { report } = await importOf(M1)
  assert.equal(report.diagnostics, [])
})

test('CORE-3: a second header of another session refuses the file, and one of the same is a revision', async () => {
  const error = await refusedFile('session_mismatch', jsonl(header('s'), M1, header('t'), message('m2')))
  assert.match(error.message, /\b3\b/)
  const { stream, report } = await importOf(M1, header('s', { title: 'new' }))
  assert.equal(report.diagnostics, [])
  assert.is((await stream.header()).title, 'new')
})

test('a session id that is not the header’s refuses the file', async () => {
  await refusedFile('session_mismatch', jsonl(header('s'), M1), { sessionId: 't' })
})

test('CORE-21: a file that differs from the stream is refused, with the first difference, and nothing is written', async () => {
  const { store, stream } = await importOf(M1, message('m2'), message('m3'))
  const digest = await stream.digest()
  const other = jsonl(header(), M1, message('x2'), message('m3'), message('m4'))
  const error = await fails('ASR_DIVERGED', () => store.importJsonl([other]))
  assert.is(error.pos, 2)
  assert.is(error.sessionId, 's')
  await fails('ASR_DIVERGED', () => store.importJsonl([jsonl(header(), M1, message('m2', { more: 1 }))]))
  assert.equal([stream.length, await stream.digest()], [3, digest])
})

test('CORE-21: a file that goes on from the stream extends it, and a beginning of the stream changes nothing', async () => {
  const { store, stream } = await importOf(M1, message('m2'))
  const longer = await store.importJsonl([jsonl(header('s', { title: 'new' }), M1, message('m2'), message('m3'))])
  assert.equal([longer.records, longer.appended], [3, 1])
  assert.is((await stream.header()).title, 'new', 'CORE-3: the header comes in force with the first new record')
  const shorter = await store.importJsonl([jsonl(header('s', { title: 'old' }), M1)])
  assert.equal([shorter.records, shorter.appended], [3, 0])
  assert.is((await stream.header()).title, 'new')
  assert.equal(await idsOf(stream.records()), ['m1', 'm2', 'm3'])
})

test('CORE-21: records without id or seq are recognised when their file comes again', async () => {
  const file = jsonl(header(), { type: 'message', role: 'user' }, { type: 'message', role: 'user' }, { type: 'x' })
  const { store } = await openMemory()
  assert.is((await store.importJsonl([file])).appended, 3)
  const again = await store.importJsonl([file + jsonl({ type: 'y' })])
  assert.equal([again.records, again.appended], [4, 1])
})

test('strict: any finding refuses the file with its code, all findings so far are told, nothing is written', async () => {
  for (const [code, , line] of refusedRecords) {
    const error = await refusedFile(code, jsonl(header(), M1, line, message('m2')), { strict: true })
    assert.is(error.diagnostics?.[0].line, 3)
    assert.is(error.diagnostics?.[0].code, code)
  }
  for (const [code, , lines] of keptRecords) {
    const error = await refusedFile(code, jsonl(header(), M1, ...lines), { strict: true })
    assert.equal(said(error.diagnostics!), [`3 ${code}`])
  }
})

test('strict: a sound file is imported as ever, and a stream that is there stays as it was at a finding', async () => {
  const { store } = await openMemory()
  await store.importJsonl([jsonl(header(), M1)], { strict: true })
  const stream = await store.stream('s')
  const digest = await stream.digest()
  const bad = jsonl(header('s', { title: 'new' }), M1, message('m2'), message('m3', { parentId: 'ghost' }))
  const error = await fails('orphan_parent', () => store.importJsonl([bad], { strict: true }))
  assert.is(error.diagnostics?.[0].line, 4)
  assert.equal([stream.length, await stream.digest()], [1, digest])
  assert.is(await stream.get('m2'), undefined)
  await stream.append(message('m2'))
  assert.is(stream.length, 2)
})

test('CORE-2: chunks may be cut anywhere, within characters and line ends too', async () => {
  const text = `\ufeff${jsonl(header(), message('m1', { words: 'é日😀\u2028' }))}\r\n{"type":"message",bad}\r\n${JSON.stringify(message('ü2'))}`
  const whole = new TextEncoder().encode(text)
  const reports: unknown[] = []
  const digests = new Set<string>()
  for (const size of [1, 2, 3, 7, 64, whole.length]) {
    const { store } = await openMemory()
    async function* chunks() {
      for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size)
    }
    const { diagnostics, ...counts } = await store.importJsonl(chunks())
    reports.push({ ...counts, said: said(diagnostics) })
    digests.add(await (await store.stream('s')).digest())
  }
  const [first] = reports
  assert.equal(first, { sessionId: 's', records: 2, appended: 2, duplicates: 0, said: ['4 bad_json'] })
  for (const report of reports) assert.equal(report, first)
  assert.is(digests.size, 1)
})

test('CORE-2: chunks of text may be cut between the halves of a character', async () => {
  const text = jsonl(header(), message('m1', { words: '😀😀' }))
  const { store } = await openMemory()
  const report = await store.importJsonl(text.split(''))
  assert.equal(report.diagnostics, [])
  assert.is((await (await store.stream('s')).get('m1'))?.words, '😀😀')
})

test('an import tells its progress, and stops when asked, with nothing written', async () => {
  const file = jsonl(header(), ...Array.from({ length: 20_000 }, (_, index) => message(`m${index}`)))
  const { store } = await openMemory()
  const seen: number[] = []
  await store.importJsonl([file], { onProgress: ({ done }) => seen.push(done) })
  assert.ok(seen.length > 0)
  assert.equal(
    seen,
    seen.toSorted((a, b) => a - b),
  )

  const other = await openMemory()
  await fails('ASR_ABORTED', () => other.store.importJsonl([file], { signal: AbortSignal.abort() }))
  assert.equal(await collect(other.store.streams()), [])
})

test.run()
