import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { assertFileName } from '../../src/log/storage/file-name.js'

test('relative names pass', () => {
  for (const name of ['a', 'streams/a.log', 'a/b/c', '...', '..a', 'a..'])
    assert.not.throws(() => assertFileName(name), name)
})

test('names that leave the folder, or mean another file somewhere, do not', () => {
  for (const name of ['', '/', '/a', 'a/', 'a//b', '.', '..', 'a/..', 'a/./b', '../a', 'a\\b', 'c:', 'a\0']) {
    assert.throws(
      () => assertFileName(name),
      (error: unknown) => error instanceof TypeError,
      name,
    )
  }
})

test.run()
