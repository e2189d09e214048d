import { PassThrough } from 'node:stream'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { confirm } from '../../src/cli/confirm.js'

async function answered(answer: string): Promise<boolean> {
  const input = new PassThrough()
  const output = new PassThrough()
  const asked = confirm('Delete s1?', undefined, { input, output })
  input.end(answer)
  const result = await asked
  assert.match(String(output.read()), 'Delete s1? [y/N] ')
  return result
}

test('only y and yes affirm; anything else, and the end of the input, is a no', async () => {
  for (const yes of ['y\n', 'Y\n', 'yes\n', ' y \n']) assert.is(await answered(yes), true, yes)
  for (const no of ['n\n', '\n', '', 'yesterday\n', 'no y\n']) assert.is(await answered(no), false, no)
})

test.run()
