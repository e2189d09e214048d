import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { VERSION } from '../../src/cli/version.js'
import { run } from './helper.js'

test('asr --version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  assert.is(VERSION, version)
  assert.equal(await run(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' })
})

test.run()
