/** Sentences hold for one record, and for none. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { counted } from '../../src/base/words.js'
import { filledStore, HEADER, jsonl, type Outcome, run } from './helper.js'

const ONE = jsonl([HEADER, { type: 'message', seq: 1, id: 'r1', messageId: 'm1', role: 'user', content: 'a' }])
const NONE = jsonl([HEADER])
const FRAMES = jsonl([{ dir: 'a2c', frame: { jsonrpc: '2.0', method: 'x' }, at: '2026-01-01T00:00:00Z' }])

const COMMANDS = [
  ['ls'],
  ['log', 's1'],
  ['heads', 's1'],
  ['leaves', 's1'],
  ['path', 's1'],
  ['context', 's1'],
  ['entity', 's1', 'message', 'm1'],
  ['digest', 's1'],
  ['verify'],
  ['stats'],
  ['replay', 's1'],
  ['import', '-'],
  ['record', '--frames', '-'],
]

async function saidOf(content: string): Promise<Outcome[]> {
  const store = await filledStore(content)
  const outcomes: Outcome[] = []
  for (const args of COMMANDS) {
    const input = args[0] === 'record' ? FRAMES : content
    outcomes.push(await run(['--store', store, ...args], { input }))
  }
  return outcomes
}

test('a count has its noun', () => {
  assert.equal(
    [counted(0, 'record'), counted(1, 'record'), counted(2, 'record')],
    ['0 records', '1 record', '2 records'],
  )
  assert.equal([counted(1, 'entry', 'entries'), counted(2, 'entry', 'entries')], ['1 entry', '2 entries'])
})

test('of a stream with one record, and of one with none, no command speaks of many, or of a time that is not there', async () => {
  for (const content of [ONE, NONE]) {
    for (const { stdout, stderr } of await saidOf(content)) {
      assert.not.match(stdout + stderr, /(?<![\d.:])1 (?!B\b)[a-z]+s\b(?!:)/)
      assert.not.match(stdout + stderr, /no time|undefined|null|NaN/)
    }
  }
})

test('the span of a stream is from its first time to its last, one time where they are one, or none', async () => {
  const times = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']
  const told = async (count: number): Promise<string> => {
    const records = times
      .slice(0, count)
      .map((ts, i) => ({ type: 'message', seq: i + 1, id: `r${i}`, ts, content: 'a' }))
    const store = await filledStore(jsonl([HEADER, ...records]))
    return (await run(['--store', store, 'stats', 's1'])).stdout.split('\n')[1]
  }
  assert.is(await told(0), '0 records, 0 B')
  assert.match(await told(1), /^1 record, \d+ B, at 2026-01-01T00:00:00Z$/)
  assert.match(await told(2), /^2 records, \d+ B, 2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z$/)
})

test.run()
