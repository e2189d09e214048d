import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { writeWhole } from '../../src/cli/write-file.js'
import { folder } from './helper.js'

async function* chunks(...texts: (string | Error)[]): AsyncIterable<Uint8Array> {
  for (const text of texts) {
    if (text instanceof Error) throw text
    yield Buffer.from(text)
  }
}

async function underUmask(umask: number, work: () => Promise<void>): Promise<void> {
  const was = process.umask(umask)
  try {
    await work()
  } finally {
    process.umask(was)
  }
}

const UMASKS = [0, 0o022, 0o077, 0o277, 0o777]

test('a file takes the place of the old one, with its mode, whatever the umask, and leaves nothing beside it', async () => {
  for (const umask of UMASKS) {
    for (const mode of [0o640, 0o666, 0o400, 0o755]) {
      const target = join(folder(), 'out.jsonl')
      writeFileSync(target, 'old')
      chmodSync(target, mode)
      await underUmask(umask, () => writeWhole(target, chunks('a', 'b')))
      assert.is(statSync(target).mode & 0o777, mode, `umask ${umask.toString(8)}`)
      assert.is(readFileSync(target, 'utf8'), 'ab')
      assert.equal(readdirSync(dirname(target)), ['out.jsonl'])
    }
  }
})

test('a new file is its owner’s alone, whatever the umask', async () => {
  for (const umask of UMASKS) {
    const target = join(folder(), 'out.jsonl')
    await underUmask(umask, () => writeWhole(target, chunks('a')))
    assert.is(statSync(target).mode & 0o777, 0o600, `umask ${umask.toString(8)}`)
  }
})

test('when writing fails the old file stays as it was, and nothing is left beside it', async () => {
  const target = join(folder(), 'out.jsonl')
  writeFileSync(target, 'old')
  let message = ''
  await writeWhole(target, chunks('a', new Error('damaged'))).catch((error: Error) => {
    message = error.message
  })
  assert.is(message, 'damaged')
  assert.is(readFileSync(target, 'utf8'), 'old')
  assert.equal(readdirSync(dirname(target)), ['out.jsonl'])
})

test('a link stays a link, and the file it names is replaced', async () => {
  const place = folder()
  writeFileSync(join(place, 'real'), 'old')
  symlinkSync('real', join(place, 'link'))
  await writeWhole(join(place, 'link'), chunks('new'))
  assert.ok(lstatSync(join(place, 'link')).isSymbolicLink())
  assert.is(readFileSync(join(place, 'real'), 'utf8'), 'new')
})

test('a device is written to, never replaced', async () => {
  await writeWhole('/dev/null', chunks('a'))
  assert.ok(statSync('/dev/null').isCharacterDevice())
})

test('a folder that is not there is told as ASR_IO', async () => {
  let code = ''
  await writeWhole(join(folder(), 'no', 'out'), chunks('a')).catch((error: { code: string }) => {
    code = error.code
  })
  assert.is(code, 'ASR_IO')
})

test.run()
