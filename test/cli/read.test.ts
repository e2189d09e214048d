import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore, type Stream } from '../../src/main.js'
import { filledStore, HEADER, jsonl, RECORDS, run } from './helper.js'

const store = await filledStore()

async function json(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await run([...args, '--store', store, '--json'])
  assert.is(stderr, '')
  assert.is(code, 0)
  return JSON.parse(stdout)
}

async function itemLines(...args: string[]): Promise<unknown[]> {
  const { code, stdout } = await run([...args, '--store', store, '--jsonl'])
  assert.is(code, 0)
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

async function text(...args: string[]): Promise<string> {
  const { code, stdout } = await run([...args, '--store', store])
  assert.is(code, 0)
  return stdout
}

async function inLibrary<T>(use: (stream: Stream) => Promise<T>): Promise<T> {
  const opened = await openStore(store, { readOnly: true, create: false })
  try {
    return await use(await opened.stream('s1'))
  } finally {
    await opened.close()
  }
}

test('asr ls lists the streams as the library does', async () => {
  const [info, ...others] = (await json('ls')) as Record<string, unknown>[]
  assert.equal(others, [])
  const { bytes, ...rest } = info
  assert.ok((bytes as number) > 0)
  assert.equal(rest, {
    sessionId: 's1',
    records: 9,
    lastSeq: 9,
    updatedAt: '2026-01-01T01:00:00.000Z',
    title: 'A title',
    agent: { name: 'com.example.agent', version: '2' },
  })
  assert.equal(await itemLines('ls'), [info])
  assert.match(await text('ls'), /SESSION.*TITLE\ns1 .* A title\n/)
})

test('asr log shows the records in log order, from any position', async () => {
  assert.equal(await json('log', 's1'), RECORDS)
  assert.equal(await itemLines('log', 's1', '--from', '8'), RECORDS.slice(7))
  assert.equal(await json('log', 's1', '--from', '100'), [])
  const { stdout } = await run(['log', 's1', '--jsonl', '--store', store])
  assert.is(stdout, jsonl(RECORDS), 'a record is printed as JSON.stringify gives it')
  const lines = (await text('log', 's1')).split('\n')
  assert.is(lines.length, RECORDS.length + 1)
  assert.match(lines[1], /^2 {2}r2 +message +user hello$/)
})

test('asr heads and asr leaves print what the library returns', async () => {
  const [heads, leaves] = await inLibrary(async (stream) => [await stream.heads(), await stream.leaves()])
  assert.ok(heads.length >= 2 && leaves.length >= 2)
  assert.equal(await json('heads', 's1'), heads)
  assert.equal(await itemLines('heads', 's1'), heads)
  assert.equal(await json('leaves', 's1'), leaves)
  assert.match(await text('heads', 's1'), /^HEAD +POS +RECORD\n/)
  assert.match(await text('leaves', 's1'), /r9 +side\n/)
})

test('asr path shows the path of primary, of another head, to a record, and resolved', async () => {
  const ids = (records: unknown): string[] => (records as { id: string }[]).map(({ id }) => id)
  assert.equal(ids(await json('path', 's1')), ['r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8'])
  assert.equal(ids(await json('path', 's1', '--head', 'side')), ['r1', 'r2', 'r9'])
  assert.equal(ids(await json('path', 's1', '--at', 'r5')), ['r1', 'r2', 'r3', 'r4', 'r5'])
  assert.equal(ids(await json('path', 's1', '--resolved')), ['r1', 'r2', 'r3', 'r4', 'r6', 'r7', 'r8'])
  assert.equal(ids(await itemLines('path', 's1', '--at', 'r2')), ['r1', 'r2'])
})

test('asr context prints the view with its entries', async () => {
  const view = (await json('context', 's1')) as Record<string, unknown>
  assert.equal(Object.keys(view), [
    'head',
    'compaction',
    'openCalls',
    'danglingResults',
    'cut',
    'gaps',
    'diagnostics',
    'length',
    'entries',
  ])
  assert.is(view.head, 'primary')
  assert.equal(view.compaction, RECORDS[6])
  assert.equal(view.openCalls, ['c2'])
  assert.equal(view.entries, [RECORDS[6], RECORDS[5], RECORDS[7]])
  assert.is(view.length, 3)
  const at = (await json('context', 's1', '--at', 'r4')) as Record<string, unknown>
  assert.is(at.head, null)
  assert.equal(at.entries, RECORDS.slice(1, 4))
  assert.equal(await itemLines('context', 's1'), view.entries)
  assert.match(
    await text('context', 's1'),
    /^head primary, 3 entries, compaction r7 in force\n(.*\n){3}open calls: c2\n$/,
  )
})

test('asr entity prints an entity with its revisions, on a path or anywhere', async () => {
  assert.equal(await json('entity', 's1', 'message', 'm2'), [
    { first: RECORDS[4], inForce: RECORDS[5], revisions: [RECORDS[4], RECORDS[5]] },
  ])
  assert.equal(await json('entity', 's1', 'message', 'm2', '--at', 'r5'), [
    { first: RECORDS[4], inForce: RECORDS[4], revisions: [RECORDS[4]] },
  ])
  assert.equal(await json('entity', 's1', 'message', 'm3'), [])
  assert.is(((await json('entity', 's1', 'message', 'm3', '--anywhere')) as unknown[]).length, 1)
  assert.match(await text('entity', 's1', 'message', 'm2'), /^2 revisions, in force: r6\n5 {2}r5 .*\n6 {2}r6 .*\n$/)
})

test('asr get prints a record with its position and hash', async () => {
  const hash = await inLibrary((stream) => stream.hash('r6'))
  assert.equal(await json('get', 's1', 'r6'), { pos: 6, hash, record: RECORDS[5] })
  assert.ok((await text('get', 's1', 'r6')).startsWith(`pos 6, hash ${hash}\n{\n  "type": "message",`))
})

test('asr stats counts one stream, or each of the store', async () => {
  const stats = (await json('stats', 's1')) as Record<string, unknown>
  const { types, bytes, ...rest } = stats
  assert.equal(rest, {
    sessionId: 's1',
    records: 9,
    entities: 8,
    revisions: 1,
    heads: 2,
    branches: 2,
    compactions: 1,
    openCalls: 1,
    tools: [{ name: 'bash', calls: 2, failures: 1 }],
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-01-01T01:00:00.000Z',
  })
  assert.is(bytes, jsonl(RECORDS).length - RECORDS.length)
  assert.equal(
    (types as { type: string; records: number }[]).map(({ type, records }) => [type, records]),
    [
      ['message', 4],
      ['tool_call', 2],
      ['compaction', 1],
      ['session_info', 1],
      ['tool_result', 1],
    ],
  )
  assert.equal(await json('stats'), [stats])
  assert.equal(await itemLines('stats'), [stats])
  assert.match(await text('stats', 's1'), /CALLS +FAILED +TOOL\n +2 +1 +bash\n$/)
})

test('what is not there ends with 1 and its code', async () => {
  const missing: [string[], string][] = [
    [['log', 'nope'], 'ASR_STREAM_NOT_FOUND'],
    [['get', 's1', 'nope'], 'ASR_NOT_FOUND'],
    [['path', 's1', '--at', 'nope'], 'ASR_NOT_FOUND'],
    [['path', 's1', '--head', 'nope'], 'ASR_NOT_FOUND'],
    [['context', 's1', '--head', 'nope'], 'ASR_NOT_FOUND'],
    [['verify', 'nope'], 'ASR_STREAM_NOT_FOUND'],
    [['stats', 'nope'], 'ASR_STREAM_NOT_FOUND'],
  ]
  for (const [args, code] of missing) {
    const outcome = await run([...args, '--store', store, '--json'])
    assert.is(outcome.code, 1, args.join(' '))
    assert.is(outcome.stdout, '', args.join(' '))
    assert.ok(outcome.stderr.startsWith(`asr: ${code}: `), outcome.stderr)
  }
})

test('a path that begins at an orphan says so on stderr, and stdout holds records only', async () => {
  const orphaned = await filledStore(jsonl([HEADER, { type: 'message', id: 'a', parentId: 'ghost' }]))
  const { code, stdout, stderr } = await run(['path', 's1', '--store', orphaned, '--json'])
  assert.is(code, 0)
  assert.is(JSON.parse(stdout).length, 1)
  assert.match(stderr, 'begins at a, whose parent ghost is not there')
})

test('text for people cannot steer their terminal', async () => {
  const content = '\u001b]0;title\u0007\u009b31m'
  const hostile = await filledStore(
    jsonl([
      { ...HEADER, sessionId: 's\u001b[2J' },
      { type: 'message', id: '\u001b[1m', content },
    ]),
  )
  for (const args of [
    ['ls'],
    ['log', 's\u001b[2J'],
    ['get', 's\u001b[2J', '\u001b[1m'],
    ['log', 'x\u001b[2J'],
    ['stats'],
  ]) {
    const { stdout, stderr } = await run([...args, '--store', hostile])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.not.match(stdout + stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  }
})

test.run()
