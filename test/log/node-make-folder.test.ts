import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { errnoOf } from '../../src/log/storage/io-error.js'
import { makeFolder } from '../../src/log/storage/node-make-folder.js'
import { tempFolder } from '../support/temp.js'

function failure(path: string): string | undefined {
  try {
    makeFolder(path)
    return undefined
  } catch (error) {
    return errnoOf(error)
  }
}

test('a folder is made with those above it, and nobody else may look into any of them', () => {
  const top = tempFolder()
  makeFolder(join(top, 'a', 'b', 'c'))
  for (const path of ['a', 'a/b', 'a/b/c']) {
    const stats = statSync(join(top, path))
    assert.ok(stats.isDirectory())
    assert.is(stats.mode & 0o077, 0)
  }
})

test('a folder that is there is left as it is, also behind a link', () => {
  const top = tempFolder()
  mkdirSync(join(top, 'open'), { mode: 0o755 })
  symlinkSync(join(top, 'open'), join(top, 'link'))
  for (const path of ['open', 'link', 'open/']) makeFolder(join(top, path))
  assert.is(statSync(join(top, 'open')).mode & 0o700, 0o700)
  makeFolder(join(top, 'link', 'below'))
  assert.ok(statSync(join(top, 'open', 'below')).isDirectory())
})

test('what can not be made is said by the system’s name for it', () => {
  const top = tempFolder()
  writeFileSync(join(top, 'file'), '')
  symlinkSync(join(top, 'nowhere', 'at', 'all'), join(top, 'dangling'))
  assert.is(failure(join(top, 'file')), 'EEXIST')
  assert.is(failure(join(top, 'file', 'below')), 'ENOTDIR')
  assert.is(failure(join(top, 'dangling')), 'EEXIST')
  assert.is(failure(join(top, 'x'.repeat(300))), 'ENAMETOOLONG')
  assert.is(failure(''), 'ENOENT')
})

test.run()
