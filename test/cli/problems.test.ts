import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { adviceFor, describeProblem } from '../../src/cli/problems.js'

const LOST = { code: 'ASR_LOST_TAIL', message: 'the log ends too early', severity: 'damage' } as const
const INDEX = { code: 'index_damaged', message: 'a row is wrong', severity: 'damage' } as const
const KEPT = { code: 'orphan_parent', message: 'no parent', recordId: 'r7', severity: 'kept' } as const

test('a problem is told with its weight, its record, its words and its code', () => {
  assert.is(describeProblem(KEPT), 'kept at record r7: no parent (orphan_parent)')
  assert.is(describeProblem(LOST), 'damage: the log ends too early (ASR_LOST_TAIL)')
})

test('advice is given for damage only, and for a damaged index it is to build it again', () => {
  assert.equal(adviceFor('s1', [KEPT]), [])
  assert.equal(adviceFor('s1', [INDEX, INDEX]), ['asr reindex s1'])
  const gone = { ...LOST, code: 'lost_stream' as const }
  assert.match(adviceFor('s1', [gone]).join('\n'), /to be put back; to forget the stream:\nasr rm s1$/)
  assert.match(adviceFor('s1', [LOST, KEPT]).join('\n'), 'asr export --salvage -o FILE s1; asr rm s1; asr import FILE')
})

test('advice can be typed as it stands, whatever the session id', () => {
  assert.equal(adviceFor("it's", [INDEX]), ["asr reindex 'it'\\''s'"])
  assert.equal(adviceFor('-x', [INDEX]), ['asr reindex -- -x'])
  assert.equal(adviceFor('a b', [INDEX]), ["asr reindex 'a b'"])
})

test.run()
