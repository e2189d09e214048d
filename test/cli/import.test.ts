import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { file, folder, HEADER, jsonl, RECORDS, run, STREAM, said, start } from './helper.js'

function newStore(): string {
  return join(folder(), 'store')
}

test('a file is imported, and imported again it brings nothing new', async () => {
  const store = newStore()
  const path = file('s1.jsonl', STREAM)
  const first = await run(['import', path, '--store', store, '--json'])
  assert.is(first.code, 0)
  assert.equal(JSON.parse(first.stdout), {
    files: [{ file: path, sessionId: 's1', records: 9, appended: 9, duplicates: 0, diagnostics: [] }],
  })
  const again = await run(['import', path, '--store', store])
  assert.is(again.code, 0)
  assert.is(again.stdout, `${path}: s1: 0 new, 9 there already, 9 records now\n`)
})

test('stdin and gzip are told by what they hold', async () => {
  for (const [args, input] of [
    [['-'], STREAM],
    [['-'], gzipSync(STREAM)],
    [[file('plain.gz', STREAM)], ''],
    [[file('packed.jsonl', gzipSync(STREAM))], ''],
  ] as [string[], string | Uint8Array][]) {
    const { code, stdout } = await run(['import', ...args, '--store', newStore(), '--jsonl'], { input })
    assert.is(code, 0)
    assert.is(JSON.parse(stdout).appended, RECORDS.length)
  }
})

test('a refused line ends with 1, is named by file and line, and the rest is stored', async () => {
  const store = newStore()
  const path = file(
    'bad.jsonl',
    `${jsonl([HEADER, { type: 'message', id: 'a' }])}{oops\n${jsonl([{ type: 'message', id: 'b' }])}`,
  )
  const { code, stdout } = await run(['import', path, '--store', store])
  assert.is(code, 1)
  const [counts, found] = stdout.split('\n')
  assert.is(counts, `${path}: s1: 2 new, 0 there already, 2 records now`)
  assert.ok(found.startsWith(`${path}:3 bad_json `), found)
})

test('what is kept with a remark is reported and ends with 0', async () => {
  const path = file('kept.jsonl', jsonl([HEADER, { type: 'message', id: 'a', parentId: 'ghost' }]))
  const { code, stdout } = await run(['import', path, '--store', newStore(), '--json'])
  assert.is(code, 0)
  const [{ diagnostics }] = JSON.parse(stdout).files
  assert.equal(
    diagnostics.map((found: { code: string; severity: string; line: number }) => [
      found.code,
      found.severity,
      found.line,
    ]),
    [['orphan_parent', 'kept', 2]],
  )
})

test('--strict refuses a file at any diagnostic and stores nothing of it', async () => {
  const store = newStore()
  const path = file('kept.jsonl', jsonl([HEADER, { type: 'message', id: 'a', parentId: 'ghost' }]))
  const { code, stdout, stderr } = await run(['import', path, '--strict', '--store', store, '--json'])
  assert.is(code, 1)
  const [report] = JSON.parse(stdout).files
  assert.is(report.error.code, 'orphan_parent')
  assert.equal([report.file, report.records, report.appended, report.duplicates], [path, 0, 0, 0])
  assert.match(stderr, `asr: ${path} is refused: orphan_parent: `)
  assert.equal(JSON.parse((await run(['ls', '--store', store, '--json'])).stdout), [])
})

test('a file without a header is refused, unless --session says whose it is', async () => {
  const store = newStore()
  const path = file('bare.jsonl', jsonl([{ type: 'message', id: 'a' }]))
  const refused = await run(['import', path, '--store', store, '--json'])
  assert.is(refused.code, 1)
  assert.is(JSON.parse(refused.stdout).files[0].error.code, 'no_header')
  assert.is(JSON.parse(refused.stdout).files[0].sessionId, null)
  const given = await run(['import', path, '--session', 'mine', '--store', store, '--json'])
  assert.is(given.code, 0)
  assert.is(JSON.parse(given.stdout).files[0].sessionId, 'mine')
})

test('one file that is refused, missing or damaged does not keep the others out', async () => {
  const store = newStore()
  const diverged = file('diverged.jsonl', jsonl([HEADER, { type: 'message', id: 'other' }]))
  const damaged = file('damaged.gz', gzipSync(STREAM).subarray(0, 100))
  const good = file(
    'good.jsonl',
    jsonl([
      { ...HEADER, sessionId: 's2' },
      { type: 'message', id: 'a' },
    ]),
  )
  const files = [file('s1.jsonl', STREAM), diverged, join(folder(), 'none'), folder(), damaged, good]
  const { code, stdout, stderr } = await run(['import', ...files, '--store', store, '--json'])
  assert.is(code, 1)
  const reports = JSON.parse(stdout).files
  assert.equal(
    reports.map((report: { file: string }) => report.file),
    files,
  )
  assert.equal(
    reports.map((report: { error?: { code: string } }) => report.error?.code),
    [undefined, 'ASR_DIVERGED', 'ASR_IO', 'ASR_IO', 'ASR_IO', undefined],
  )
  assert.is(reports[1].sessionId, 's1')
  assert.is(stderr.trim().split('\n').length, 4)
  const listed = JSON.parse((await run(['ls', '--store', store, '--json'])).stdout)
  assert.equal(
    listed.map(({ sessionId, records }: { sessionId: string; records: number }) => [sessionId, records]),
    [
      ['s1', 9],
      ['s2', 1],
    ],
  )
})

test('Ctrl-C while stdin is awaited ends with 130 and leaves a store that is sound', async () => {
  const store = newStore()
  const child = start(['import', file('s1.jsonl', STREAM), '-', '--store', store])
  child.stdin?.write(
    jsonl([
      { ...HEADER, sessionId: 's2' },
      { type: 'message', id: 'a' },
    ]),
  )
  await said(child, '9 records now')
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  // Long enough for the second file to have begun.
  setTimeout(() => child.kill('SIGINT'), 200)
  assert.is(await closed, 130)
  const verified = await run(['verify', '--store', store])
  assert.is(verified.code, 0, verified.stdout)
  assert.is((await run(['export', 's1', '--store', store])).stdout, STREAM)
})

test.run()
