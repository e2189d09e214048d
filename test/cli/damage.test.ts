import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { everyStream } from '../../src/cli/commands/stats.js'
import { openStore } from '../../src/main.js'
import { openMemory } from '../support/stores.js'
import { filledStore, folder, HEADER, jsonl, run } from './helper.js'

const RECORDS = Array.from({ length: 50 }, (_, i) => ({
  type: 'message',
  seq: i + 1,
  id: `r${i + 1}`,
  content: `words ${i}`,
}))

function logOf(store: string): string {
  const [name] = readdirSync(join(store, 'streams')).filter((file) => file.endsWith('.log'))
  return join(store, 'streams', name)
}

/** A store whose log has one wrong byte in the body of record 30. */
async function damagedStore(): Promise<string> {
  const store = await filledStore(jsonl([HEADER, ...RECORDS]))
  const bytes = readFileSync(logOf(store))
  bytes[bytes.indexOf('words 29') + 2] ^= 1
  writeFileSync(logOf(store), bytes)
  return store
}

test('asr verify names the damage, says what can be done, and ends with 1', async () => {
  const store = await damagedStore()
  const { code, stdout } = await run(['verify', '--store', store])
  assert.is(code, 1)
  assert.match(
    stdout,
    /^s1: DAMAGED, 50 records\n {2}damage: .*position 30.*\(ASR_CORRUPT\)\n {2}-> .*\n {2}-> asr export --salvage/,
  )
  assert.match(stdout, /\n1 stream checked, 1 damaged\n$/)
  const report = JSON.parse((await run(['verify', '--store', store, '--json'])).stdout)
  assert.equal([report.ok, report.streams[0].ok, report.streams[0].problems[0].severity], [false, false, 'damage'])
})

test('CORE-10: damage ends a list with its code and 1, and is never printed as data', async () => {
  const store = await damagedStore()
  for (const command of ['log', 'path', 'export']) {
    const { code, stdout, stderr } = await run([command, 's1', '--store', store, '--jsonl'])
    assert.is(code, 1, command)
    assert.match(stderr, 'asr: ASR_CORRUPT: ')
    const seqs = [...stdout.matchAll(/"seq":(\d+)/g)].map(([, seq]) => Number(seq))
    assert.ok(Math.max(0, ...seqs) < 30, command)
  }
})

test('an export of a damaged stream to a file leaves no file', async () => {
  const store = await damagedStore()
  const place = folder()
  assert.is((await run(['export', 's1', '-o', join(place, 'out'), '--store', store])).code, 1)
  assert.equal(readdirSync(place), [])
})

test('asr export --salvage gives what is intact, tells on stderr what is missing, and ends with 1', async () => {
  const store = await damagedStore()
  const target = join(folder(), 'out')
  const { code, stderr } = await run(['export', 's1', '--salvage', '-o', target, '--store', store])
  assert.is(code, 1)
  assert.match(stderr, /^asr: missing: ASR_CORRUPT: .*position 30/)
  const [gap] = readFileSync(target, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"type":"gap"'))
  assert.match(gap, '"reason":"damaged","from":30,"to":30,')
  const lines = RECORDS.map((record) => (record.seq === 30 ? JSON.parse(gap) : record))
  assert.is(readFileSync(target, 'utf8'), jsonl([HEADER, ...lines]))
  // Imported, its paths list the gap, and the command line says so.
  const copy = await filledStore(readFileSync(target, 'utf8'))
  for (const command of ['path', 'context']) {
    const shown = await run([command, 's1', '--store', copy])
    assert.is(shown.code, 0)
    assert.match(shown.stderr, `something is missing from the path at ${JSON.parse(gap).id}`)
  }
})

test('a log that lost its end is told by every command that needs it', async () => {
  const store = await filledStore(jsonl([HEADER, ...RECORDS]))
  truncateSync(logOf(store), readFileSync(logOf(store)).length - 100)
  assert.is((await run(['verify', '--store', store])).code, 1)
  for (const args of [
    ['digest', 's1'],
    ['set-head', 's1', 'x', 'r1'],
  ]) {
    const { code, stderr } = await run([...args, '--store', store])
    assert.is(code, 1)
    assert.match(stderr, 'asr: ASR_LOST_TAIL: ')
  }
})

test('a store without its index answers as before', async () => {
  const store = await filledStore(jsonl([HEADER, ...RECORDS]))
  const before = await run(['heads', 's1', '--store', store, '--json'])
  rmSync(join(store, 'index'), { recursive: true })
  const after = await run(['heads', 's1', '--store', store, '--json'])
  assert.is(after.stdout, before.stdout)
  assert.is(after.code, 0)
  assert.match(after.stderr, /^asr: note: index_rebuilt: .*index was missing/)
  const writer = await openStore(store)
  assert.equal(
    writer.notices.map(({ code }) => code),
    ['index_rebuilt'],
  )
  await writer.close()
  const again = await run(['heads', 's1', '--store', store, '--json'])
  assert.equal([again.stdout, again.stderr], [before.stdout, ''])
  const fresh = await openStore(join(folder(), 'store'))
  assert.equal(fresh.notices, [], 'a new store misses nothing')
  await fresh.close()
})

test('what can not be read of one stream does not end the list of the others', async () => {
  const store = await damagedStore()
  const sound = { ...HEADER, sessionId: 's2' }
  await run(['import', '--store', store, '-'], { input: jsonl([sound, ...RECORDS]) })
  for (const format of ['--json', '--jsonl']) {
    const { code, stdout, stderr } = await run(['stats', '--store', store, format])
    assert.is(code, 1)
    assert.match(stderr, /^asr: left out: ASR_CORRUPT: stream "s1"/)
    assert.equal(
      [JSON.parse(stdout)].flat().map(({ sessionId }) => sessionId),
      ['s2'],
    )
  }
})

test('a stream that is deleted while statistics are made of others is left out', async () => {
  const { store } = await openMemory()
  for (const sessionId of ['a', 'b', 'c']) await store.createStream({ type: 'header', asr: '1', sessionId })
  const told: string[] = []
  for await (const { sessionId } of everyStream(store, new AbortController().signal)) {
    if (told.push(sessionId) === 1) await store.deleteStream('b')
  }
  assert.equal(told, ['a', 'c'])
})

test.run()
