import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ended, filledStore, folder, holder, run, STREAM } from './helper.js'

test('asr set-head moves and drops a head and prints the receipt', async () => {
  const store = await filledStore()
  const moved = await run(['set-head', 's1', 'mark', 'r2', '--store', store, '--json'])
  assert.is(moved.code, 0)
  assert.equal(JSON.parse(moved.stdout), { first: 10, last: 10, appended: 1, duplicates: 0 })
  const heads = async (): Promise<string[]> =>
    JSON.parse((await run(['heads', 's1', '--store', store, '--json'])).stdout).map(
      ({ name }: { name: string }) => name,
    )
  assert.ok((await heads()).includes('mark'))
  const dropped = await run(['set-head', 's1', 'mark', '--drop', '--store', store])
  assert.is(dropped.stdout, 'dropped mark\n')
  assert.not.ok((await heads()).includes('mark'))
})

test('asr set-head refuses what CORE-14 refuses, and ends with 1', async () => {
  const store = await filledStore()
  for (const args of [
    ['primary', '--drop'],
    ['mark', 'nope'],
  ]) {
    const { code, stderr } = await run(['set-head', 's1', ...args, '--store', store])
    assert.is(code, 1)
    assert.match(stderr, 'asr: ASR_HEAD_TARGET: ')
  }
})

test('asr export gives back what was imported, to stdout and to a file, and leaves nothing beside it', async () => {
  const store = await filledStore()
  assert.is((await run(['export', 's1', '--store', store])).stdout, STREAM)
  const place = folder()
  const { code, stdout } = await run(['export', 's1', '-o', join(place, 'out.jsonl'), '--store', store])
  assert.equal([code, stdout], [0, ''])
  assert.is(readFileSync(join(place, 'out.jsonl'), 'utf8'), STREAM)
  assert.equal(readdirSync(place), ['out.jsonl'])
  const salvaged = await run(['export', 's1', '--salvage', '--store', store])
  assert.equal(salvaged, { code: 0, stdout: STREAM, stderr: '' })
})

test('asr digest --sha256 is the SHA-256 of the exported bytes', async () => {
  const store = await filledStore()
  const { stdout } = await run(['digest', 's1', '--sha256', '--store', store, '--json'])
  const { digest, ...rest } = JSON.parse(stdout)
  assert.match(digest, /^[0-9a-f]{16}$/)
  assert.equal(rest, { sessionId: 's1', records: 9, sha256: createHash('sha256').update(STREAM).digest('hex') })
  const plain = JSON.parse((await run(['digest', 's1', '--store', store, '--json'])).stdout)
  assert.equal(plain, { sessionId: 's1', records: 9, digest })
})

test('asr verify says that a sound store is sound', async () => {
  const store = await filledStore()
  const { code, stdout } = await run(['verify', '--store', store, '--json'])
  assert.is(code, 0)
  assert.equal(JSON.parse(stdout), { ok: true, streams: [{ sessionId: 's1', records: 9, ok: true, problems: [] }] })
  assert.is((await run(['verify', 's1', '--store', store])).stdout, 's1: ok, 9 records\n1 stream checked, all sound\n')
})

test('asr reindex leaves every answer as it was', async () => {
  const store = await filledStore()
  const answers = async (): Promise<string[]> => {
    const asked = [['ls'], ['heads', 's1'], ['leaves', 's1'], ['path', 's1'], ['context', 's1'], ['digest', 's1']]
    const outcomes = await Promise.all(asked.map((args) => run([...args, '--store', store, '--json'])))
    return outcomes.map(({ stdout }) => stdout)
  }
  const before = await answers()
  for (const args of [['reindex'], ['reindex', 's1']]) {
    const { code, stderr } = await run([...args, '--store', store])
    assert.equal([code, stderr], [0, ''])
    assert.equal(await answers(), before)
  }
})

test('asr rm deletes with --yes, and without a terminal it asks for --yes and deletes nothing', async () => {
  const store = await filledStore()
  const refused = await run(['rm', 's1', '--store', store], { input: 'y\n' })
  assert.is(refused.code, 2)
  assert.match(refused.stderr, '--yes')
  assert.is((await run(['log', 's1', '--store', store])).code, 0)
  const deleted = await run(['rm', 's1', '--yes', '--store', store])
  assert.equal(deleted, { code: 0, stdout: 'deleted s1\n', stderr: '' })
  assert.is((await run(['log', 's1', '--store', store])).code, 1)
  assert.is((await run(['rm', 's1', '--yes', '--store', store])).code, 1)
})

test('while another process writes, writers end with 3 and readers read beside it', async () => {
  const store = await filledStore()
  const writer = await holder(store)
  try {
    for (const args of [['import', '-'], ['set-head', 's1', 'x', 'r1'], ['reindex'], ['rm', 's1', '--yes']]) {
      const { code, stderr } = await run([...args, '--store', store], { input: STREAM })
      assert.is(code, 3, `${args.join(' ')}: ${stderr}`)
      assert.match(stderr, 'asr: ASR_LOCKED: ')
    }
    for (const args of [
      ['ls'],
      ['log', 's1'],
      ['context', 's1'],
      ['verify'],
      ['stats'],
      ['export', 's1'],
      ['digest', 's1'],
    ]) {
      const { code, stderr } = await run([...args, '--store', store])
      assert.is(code, 0, `${args.join(' ')}: ${stderr}`)
    }
  } finally {
    await ended(writer)
  }
  assert.is((await run(['set-head', 's1', 'x', 'r1', '--store', store])).code, 0)
})

test.run()
