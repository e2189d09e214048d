import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AsrError } from '../../src/base/error.js'
import { errnoOf, ioError } from '../../src/log/storage/io-error.js'

function failed(code: string): Error {
  return Object.assign(new Error(`${code}: it failed`), { code })
}

test('a full disk is ASR_NO_SPACE, a refused write ASR_READ_ONLY, all else ASR_IO', () => {
  for (const [errno, code] of [
    ['ENOSPC', 'ASR_NO_SPACE'],
    ['EDQUOT', 'ASR_NO_SPACE'],
    ['EROFS', 'ASR_READ_ONLY'],
    ['EACCES', 'ASR_READ_ONLY'],
    ['EPERM', 'ASR_READ_ONLY'],
    ['EIO', 'ASR_IO'],
    ['EMFILE', 'ASR_IO'],
    ['ENOENT', 'ASR_IO'],
  ]) {
    const cause = failed(errno)
    const error = ioError(cause, 'appending to stream s')
    assert.is(error.code, code, errno)
    assert.is(error.cause, cause)
    assert.is(error.message, `appending to stream s: ${errno}: it failed`)
  }
})

test('a read that is refused does not make the store read-only', () => {
  assert.is(ioError(failed('EACCES'), 'reading stream s', 'read').code, 'ASR_IO')
  assert.is(ioError(failed('ENOSPC'), 'reading stream s', 'read').code, 'ASR_NO_SPACE')
})

test("the engine's own errors pass through", () => {
  const error = new AsrError('ASR_FENCED', 'taken over')
  assert.is(ioError(error, 'appending'), error)
})

test('anything thrown is ASR_IO', () => {
  for (const thrown of [
    'text',
    undefined,
    null,
    { code: 'ENOSPC' },
    new Error('plain'),
    Object.assign(new Error(), { code: 7 }),
  ]) {
    const error = ioError(thrown, 'reading')
    assert.is(error.code, 'ASR_IO')
    assert.is(error.cause, thrown)
  }
})

test('errnoOf tells the code of an error and of nothing else', () => {
  assert.is(errnoOf(failed('ENOENT')), 'ENOENT')
  for (const other of [new Error('x'), { code: 'ENOENT' }, undefined, Object.assign(new Error(), { code: 7 })]) {
    assert.is(errnoOf(other), undefined)
  }
})

test.run()
