import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AsrError, ERROR_CODES, isAsrError, KEPT_CODES, REFUSED_CODES } from '../../src/base/error.js'

test('an error carries its code, its cause and what it is about, and nothing that it is not about', () => {
  const cause = new Error('below')
  const error = new AsrError('ASR_CORRUPT', 'words', { cause, sessionId: 's', pos: 3 })
  assert.equal([error.name, error.code, error.message, error.cause], ['AsrError', 'ASR_CORRUPT', 'words', cause])
  assert.equal([error.sessionId, error.pos, error.recordId], ['s', 3, undefined])
  assert.equal(Object.keys(error).sort(), ['code', 'name', 'pos', 'sessionId'])
  assert.not('cause' in new AsrError('ASR_IO', 'words'))
})

test('an error is told by its shape, also one of another copy of the package', () => {
  const other = Object.assign(new Error('words'), { name: 'AsrError', code: 'ASR_IO' })
  assert.equal([isAsrError(other), isAsrError(other, 'ASR_IO'), isAsrError(other, 'ASR_CORRUPT')], [true, true, false])
  for (const nothing of [new Error('x'), { name: 'AsrError', code: 'ASR_IO' }, null, undefined, 'AsrError']) {
    assert.is(isAsrError(nothing), false)
  }
})

test('no code means two things', () => {
  const codes = [...ERROR_CODES, ...REFUSED_CODES, ...KEPT_CODES]
  assert.is(new Set(codes).size, codes.length)
  assert.ok(ERROR_CODES.every((code) => code.startsWith('ASR_')))
})

test.run()
