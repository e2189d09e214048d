/**
 * Every failure that a caller of the library can bring about: its code, soon, and the store as it was before.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import xxhash from 'xxhash-wasm'
import {
  AsrError,
  type AsrRecord,
  type DiagnosticCode,
  type ErrorCode,
  isAsrError,
  openStore,
  type Store,
  type Stream,
} from '../../src/main.js'
import { collect } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { breakableLog } from '../support/logs.js'
import { header, jsonl, message, note, tombstone } from '../support/records.js'
import { openMemory, reopened, streamOf } from '../support/stores.js'
import { tempFolder } from '../support/temp.js'

/** A stream with one of everything that a bad record can point at. */
function sample() {
  return streamOf(
    message('m1', { messageId: 'A' }),
    note('n1'),
    tombstone('k1', 'n1'),
    { type: 'head', id: 'h1', name: 'alt', recordId: 'm1' },
    message('m2'),
  )
}

/** The call fails, and neither the open stream nor the stored one has changed. */
async function refused(code: string, call: (stream: Stream, store: Store) => unknown): Promise<AsrError> {
  const memory = await sample()
  const before = [memory.stream.length, await memory.stream.digest(), await memory.stream.heads()]
  const error = await fails(code, () => call(memory.stream, memory.store))
  assert.equal([memory.stream.length, await memory.stream.digest(), await memory.stream.heads()], before)
  const { stream } = await reopened(memory)
  assert.equal([stream.length, await stream.digest(), await stream.heads()], before)
  return error
}

const badRecords: [string, string, unknown][] = [
  ['ASR_BAD_RECORD', 'no type', { id: 'x' }],
  ['ASR_BAD_RECORD', 'a type that is no string', { type: 1 }],
  ['ASR_BAD_RECORD', 'a header (CORE-4)', header('s')],
  ['ASR_BAD_RECORD', 'a negative seq', { type: 'x', seq: -1 }],
  ['ASR_BAD_RECORD', 'a seq that is text', { type: 'x', seq: '1' }],
  ['ASR_BAD_RECORD', 'an id that is no string', { type: 'x', id: 1 }],
  ['ASR_BAD_RECORD', 'a parentId that is no string', { type: 'x', parentId: 1 }],
  ['ASR_BAD_RECORD', 'a null supersedes', { type: 'x', supersedes: null }],
  ['ASR_BAD_RECORD', 'a head that is no string', { type: 'x', head: {} }],
  ['ASR_BAD_RECORD', 'a head record without a target', { type: 'head', name: 'x' }],
  ['ASR_BAD_RECORD', 'a tombstone without a target', { type: 'tombstone' }],
  ['ASR_BAD_VALUE', 'an ill-formed id', { type: 'x', id: '\ud800' }],
  ['ASR_BAD_VALUE', 'a value that is no JSON', { type: 'x', when: new Date(0) }],
  ['ASR_TOO_LARGE', 'a record over the limit', { type: 'x', text: 'é'.repeat(33 * 2 ** 20) }],
  ['ASR_TOO_DEEP', 'a record nested too deep', { type: 'x', n: JSON.parse('['.repeat(600) + ']'.repeat(600)) }],
  ['ASR_PARENT_UNKNOWN', 'an unknown parent (CORE-12)', message('x', { parentId: 'ghost' })],
  ['ASR_PARENT_UNKNOWN', 'itself as parent (CORE-12)', message('x', { parentId: 'x' })],
  ['ASR_PARENT_UNKNOWN', 'a head record as parent (CORE-14)', message('x', { parentId: 'h1' })],
  ['ASR_SUPERSEDES_UNKNOWN', 'a revision of nothing (CORE-17)', message('x', { supersedes: 'ghost' })],
  ['ASR_SUPERSEDES_UNKNOWN', 'a revision of itself (CORE-17)', message('x', { supersedes: 'x' })],
  ['ASR_SUPERSEDES_MISMATCH', 'a revision of another type (CORE-17)', note('x', { supersedes: 'm1' })],
  [
    'ASR_SUPERSEDES_MISMATCH',
    'a revision of another entity id (CORE-17)',
    message('x', { messageId: 'B', supersedes: 'm1' }),
  ],
  [
    'ASR_SUPERSEDES_MISMATCH',
    'a revision without the id its target states (CORE-17)',
    message('x', { supersedes: 'm1' }),
  ],
  ['ASR_SUPERSEDES_MISMATCH', 'a revision of a tombstone (CORE-17)', tombstone('x', 'm1', { supersedes: 'k1' })],
  ['ASR_TARGET_UNKNOWN', 'a tombstone of nothing (CORE-19)', tombstone('x', 'ghost')],
  ['ASR_TARGET_UNKNOWN', 'a tombstone of a tombstone (CORE-19)', tombstone('x', 'k1')],
  ['ASR_TARGET_UNKNOWN', 'a tombstone of a head record (CORE-19)', tombstone('x', 'h1')],
  ['ASR_HEAD_TARGET', 'a head at nothing (CORE-14)', { type: 'head', name: 'x', recordId: 'ghost' }],
  ['ASR_HEAD_TARGET', 'a head at a head record (CORE-14)', { type: 'head', name: 'x', recordId: 'h1' }],
  ['ASR_HEAD_TARGET', 'primary dropped (CORE-14)', { type: 'head', name: 'primary', recordId: null }],
  ['ASR_HEAD_TARGET', 'a head without a name (CORE-14)', { type: 'head', recordId: 'm1' }],
  ['ASR_ID_CONFLICT', 'another record of a known id (CORE-21)', message('m1')],
  ['ASR_ID_CONFLICT', 'a known id with a seq of its own (CORE-21)', message('m2', { seq: 99 })],
]

for (const [code, name, record] of badRecords) {
  test(`${code}: ${name} is refused, with every record of its call`, async () => {
    await refused(code, (stream) => stream.append(record as AsrRecord))
    await refused(code, (stream) => stream.append([message('before'), record as AsrRecord, message('after')]))
  })
}

test('ASR_ID_CONFLICT: two records of one call with one id (CORE-21)', async () => {
  const error = await refused('ASR_ID_CONFLICT', (stream) => stream.append([message('x'), note('x')]))
  assert.is(error.recordId, 'x')
})

test('ASR_CONFLICT: the stream has moved on, and how far is told (CORE-21)', async () => {
  const error = await refused('ASR_CONFLICT', (stream) => stream.append(message('x'), { expected: 4 }))
  assert.is(error.actual, 5)
  await refused('ASR_CONFLICT', (stream) => stream.append(message('x'), { expected: 6 }))
  const { stream } = await sample()
  assert.is((await stream.append([message('m2'), message('x')], { expected: 5 })).appended, 1)
  assert.is((await stream.append(message('x'), { expected: 5 })).duplicates, 1, 'a retry after a lost answer is free')
})

test('CORE-21: a retry that names the default head is the duplicate it means to be; another head is another record', async () => {
  const { stream } = await streamOf(message('a'), message('b', { head: 'primary' }), message('c', { head: 'x' }))
  const retries: [AsrRecord, string | undefined][] = [
    [message('a'), 'primary'],
    [message('a', { head: 'primary' }), undefined],
    [message('b'), 'primary'],
    [message('b'), undefined],
    [message('c'), 'x'],
  ]
  for (const [record, head] of retries) {
    const receipt = await stream.append(record, head === undefined ? {} : { head })
    assert.equal([receipt.appended, receipt.duplicates], [0, 1], JSON.stringify([record, head]))
  }
  await fails('ASR_ID_CONFLICT', () => stream.append(message('a'), { head: 'x' }))
  await fails('ASR_ID_CONFLICT', () => stream.append(message('c'), { head: 'primary' }))
  assert.is(stream.length, 3)
})

test('ASR_HEAD_TARGET: setHead at nothing, at a head record, and dropping primary (CORE-14)', async () => {
  await refused('ASR_HEAD_TARGET', (stream) => stream.setHead('x', 'ghost'))
  await refused('ASR_HEAD_TARGET', (stream) => stream.setHead('x', 'h1'))
  await refused('ASR_HEAD_TARGET', (stream) => stream.setHead('primary', null))
})

test('ASR_NOT_FOUND: a record or a head that is not there', async () => {
  await refused('ASR_NOT_FOUND', (stream) => stream.activePath({ head: 'ghost' }))
  await refused('ASR_NOT_FOUND', (stream) => stream.activePath({ at: 'ghost' }))
  await refused('ASR_NOT_FOUND', (stream) => stream.contextView({ head: 'ghost' }))
  await refused('ASR_NOT_FOUND', (stream) => stream.contextView({ at: 'h1' }))
  await refused('ASR_NOT_FOUND', (stream) => stream.entity('message', 'A', { at: 'ghost' }))
  await refused('ASR_NOT_FOUND', (stream) => stream.hash('ghost'))
})

test('ASR_STREAM_EXISTS and ASR_STREAM_NOT_FOUND', async () => {
  await refused('ASR_STREAM_EXISTS', (_, store) => store.createStream(header('s')))
  await refused('ASR_STREAM_NOT_FOUND', (_, store) => store.stream('S'))
  await refused('ASR_STREAM_NOT_FOUND', (_, store) => store.deleteStream('ghost'))
})

test('ASR_STREAM_NOT_FOUND: a stream that was deleted is gone, and its name is free', async () => {
  const { store } = await sample()
  await store.deleteStream('s')
  await fails('ASR_STREAM_NOT_FOUND', () => store.stream('s'))
  assert.is((await store.createStream(header('s'))).length, 0)
})

test('headers that are none are refused (CORE-1, CORE-3)', async () => {
  const { store } = await openMemory()
  for (const sessionId of ['', 'x'.repeat(4097), '\udfff', 7]) {
    const error = await store.createStream({ sessionId: sessionId as string }).catch((error: unknown) => error)
    assert.ok(isAsrError(error, 'ASR_BAD_VALUE') || isAsrError(error, 'ASR_BAD_RECORD'), String(error))
  }
  await fails('ASR_BAD_RECORD', () => store.createStream({ type: 'message', sessionId: 'x' } as never))
  await fails('ASR_BAD_VALUE', () => store.createStream(header('x', { when: () => 1 })))
  for (const asr of ['99', '', 1, null, {}, 1n])
    await fails('ASR_BAD_RECORD', () => store.createStream(header('x', { asr })))
  assert.equal(await collect(store.streams()), [])
  assert.is((await store.createStream(header('é'.repeat(2048)))).sessionId.length, 2048)
})

test('ASR_BAD_RECORD: what a header is, and whose, cannot be revised (CORE-3)', async () => {
  for (const patch of [{ sessionId: 'other' }, { sessionId: null }, { type: null }, { asr: '2' }, { asr: null }]) {
    await refused('ASR_BAD_RECORD', (stream) => stream.reviseHeader(patch))
  }
  await refused('ASR_BAD_VALUE', (stream) => stream.reviseHeader({ title: undefined }))
})

test('ASR_CURSOR_FUTURE: following from a place that is not there yet', async () => {
  await refused('ASR_CURSOR_FUTURE', (stream) => collect(stream.follow({ after: 6 })))
})

test('ASR_ABORTED: long calls stop when asked', async () => {
  const signal = AbortSignal.abort()
  await refused('ASR_ABORTED', (_, store) => store.importJsonl([jsonl(header('t'), message('m1'))], { signal }))
  await refused('ASR_ABORTED', (_, store) => store.verify({ signal }))
  await refused('ASR_ABORTED', (_, store) => store.rebuildIndex({ signal }))
})

/** Every call of a store and a stream that touches the store, by name. */
const calls: [string, (stream: Stream, store: Store) => unknown][] = [
  ['createStream', (_, store) => store.createStream(header('new'))],
  ['importJsonl', (_, store) => store.importJsonl([jsonl(header('new'), message('m1'))])],
  ['deleteStream', (_, store) => store.deleteStream('s')],
  ['rebuildIndex', (_, store) => store.rebuildIndex()],
  ['append', (stream) => stream.append(message('new'))],
  ['setHead', (stream) => stream.setHead('new', 'm1')],
  ['reviseHeader', (stream) => stream.reviseHeader({ title: 'new' })],
]

const reads: [string, (stream: Stream, store: Store) => unknown][] = [
  ['stream', (_, store) => store.stream('s')],
  ['streams', (_, store) => collect(store.streams())],
  ['verify', (_, store) => store.verify()],
  ['header', (stream) => stream.header()],
  ['get', (stream) => stream.get('m1')],
  ['position', (stream) => stream.position('m1')],
  ['hash', (stream) => stream.hash('m1')],
  ['digest', (stream) => stream.digest()],
  ['records', (stream) => collect(stream.records())],
  ['follow', (stream) => collect(stream.follow())],
  ['entity', (stream) => stream.entity('message', 'A')],
  ['heads', (stream) => stream.heads()],
  ['leaves', (stream) => stream.leaves()],
  ['activePath', (stream) => stream.activePath()],
  ['contextView', (stream) => stream.contextView()],
  ['exportJsonl', (stream) => collect(stream.exportJsonl())],
]

for (const [name, call] of [...calls, ...reads]) {
  test(`ASR_CLOSED: ${name} after close`, async () => {
    const { store, stream } = await sample()
    await store.close()
    await store.close()
    await fails('ASR_CLOSED', () => call(stream, store))
  })
}

test('ASR_CLOSED: an append under way when close is called is stored', async () => {
  const memory = await sample()
  const appended = memory.stream.append(message('last'))
  await memory.store.close()
  assert.is((await appended).appended, 1)
  assert.is((await (await openMemory(memory.location)).store.stream('s')).length, 6)
})

for (const [name, call] of calls) {
  test(`ASR_READ_ONLY: ${name} in a store that was opened for reading`, async () => {
    const { location, store } = await sample()
    await store.close()
    const reader = await openStore(location, { readOnly: true })
    const stream = await reader.stream('s')
    const digest = await stream.digest()
    await fails('ASR_READ_ONLY', () => call(stream, reader))
    assert.is(await stream.digest(), digest)
    for (const [, read] of reads.filter(([name]) => name !== 'follow')) await read(stream, reader)
    await reader.close()
  })
}

test('ASR_READ_ONLY: nothing is made where there is no store', async () => {
  const folder = tempFolder()
  const error = await openStore(folder, { readOnly: true }).catch((error: unknown) => error)
  assert.ok(isAsrError(error), String(error))
  assert.equal(readdirSync(folder), [])
})

test('ASR_LOCKED: a second opening in the same process, and the first goes on', async () => {
  const folder = tempFolder()
  const store = await openStore(folder)
  const error = await fails('ASR_LOCKED', () => openStore(folder))
  assert.match(String(error.holder), String(process.pid))
  const stream = await store.createStream(header())
  await stream.append(message('m1'))
  const reader = await openStore(folder, { readOnly: true })
  assert.is((await reader.stream('s')).length, 1)
  await reader.close()
  await store.close()
})

test('ASR_FORMAT: a file, and a folder with other things in it, are left as they are', async () => {
  const folder = tempFolder()
  const file = join(folder, 'file')
  writeFileSync(file, 'text')
  await fails('ASR_FORMAT', () => openStore(file))
  assert.is(readFileSync(file, 'utf8'), 'text')
  await fails('ASR_FORMAT', () => openStore(folder))
  await fails('ASR_FORMAT', () => openStore(folder, { readOnly: true }))
  assert.equal(readdirSync(folder), ['file'])
})

test('ASR_FORMAT: with create false no store is made', async () => {
  const folder = tempFolder()
  await fails('ASR_FORMAT', () => openStore(folder, { create: false }))
  await fails('ASR_FORMAT', () => openStore(join(folder, 'absent'), { create: false }))
  assert.equal(readdirSync(folder), [])
})

test('ASR_FORMAT: a store of a newer version is left as it is', async () => {
  const folder = tempFolder()
  mkdirSync(join(folder, 'store'))
  const store = await openStore(join(folder, 'store'))
  await (await store.createStream(header())).append(message('m1'))
  await store.close()
  const format = join(folder, 'store', 'FORMAT')
  const line = readFileSync(format, 'utf8').replace(/ 1 /, ' 2 ').split(' ').slice(0, 3).join(' ')
  const newer = `${line} ${(await xxhash()).h64ToString(line)}\n`
  writeFileSync(format, newer)
  const before = readdirSync(join(folder, 'store'), { recursive: true }).sort()
  await fails('ASR_FORMAT', () => openStore(join(folder, 'store')))
  assert.is(readFileSync(format, 'utf8'), newer)
  assert.equal(readdirSync(join(folder, 'store'), { recursive: true }).sort(), before)
})

test('ASR_IN_DOUBT, then ASR_POISONED: the log takes nothing; opened again the stream is whole', async () => {
  const { location, store } = await sample()
  await store.close()
  const log = breakableLog(location.log)
  const broken = await openStore({ log, index: location.index })
  const stream = await broken.stream('s')
  log.broken = true
  await fails('ASR_IN_DOUBT', () => stream.append(message('doubtful')))
  log.broken = false
  await fails('ASR_POISONED', () => stream.append(message('later')))
  await broken.close()
  const { store: again } = await openMemory(location)
  const whole = await again.stream('s')
  await whole.append([message('doubtful'), message('later')])
  assert.is(whole.length, 7)
  assert.is((await again.verify()).ok, true)
})

test('isAsrError tells errors by their shape, and by code', () => {
  const error = new AsrError('ASR_CONFLICT', 'moved on', { actual: 3, cause: 'why' })
  assert.is(isAsrError(error), true)
  assert.is(isAsrError(error, 'ASR_CONFLICT'), true)
  assert.is(isAsrError(error, 'ASR_CLOSED'), false)
  assert.is(isAsrError(new Error('ASR_CONFLICT')), false)
  assert.is(isAsrError({ name: 'AsrError', code: 'ASR_CONFLICT' }), false)
  assert.equal([error.actual, error.cause, error.name], [3, 'why', 'AsrError'])
})

test('a store closes itself at the end of `await using`', async () => {
  const { store } = await openMemory()
  await store[Symbol.asyncDispose]()
  await fails('ASR_CLOSED', () => store.createStream(header('late')))
})

test('codes are typed: what is no code does not compile', async () => {
  const { store } = await openMemory()
  const error = await fails('no_header', () => store.importJsonl(['{"type":"message"}\n']))
  const code: ErrorCode = error.code
  // @ts-expect-error: there is no such code
  assert.not(code === 'ASR_NO_SUCH_CODE')
  const diagnostic: DiagnosticCode | undefined = error.diagnostics?.[0]?.code
  // @ts-expect-error: there is no such code
  assert.not(diagnostic === 'no_such_code')
})

test.run()
