/**
 * What commands do on a terminal. `script` lends one; where it is not there these tests skip themselves.
 */
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { filledStore, outcome, run, said } from './helper.js'

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const onTerminal = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0 ? test : test.skip

interface Asked {
  code: number | null
  shown: string
}

/** Runs `asr` on a terminal and types the answer once it is asked for. */
async function typed(args: string[], answer?: string): Promise<Asked> {
  const command = [process.execPath, MAIN, ...args].join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm', NO_COLOR: '' },
  })
  const all = outcome(child)
  if (answer !== undefined) {
    await said(child, '[y/N]')
    child.stdin?.write(answer)
  }
  const { code, stdout } = await all
  child.stdin?.end()
  return { code, shown: stdout }
}

onTerminal('asr rm asks on a terminal, and deletes only on a yes', async () => {
  const store = await filledStore()
  const kept = await typed(['rm', 's1', '--store', store], '\r')
  assert.is(kept.code, 0)
  assert.match(kept.shown, 'Delete s1 with its 9 records? [y/N]')
  assert.match(kept.shown, 'nothing deleted')
  assert.is((await run(['digest', 's1', '--store', store])).code, 0)
  const deleted = await typed(['rm', 's1', '--store', store], 'y\r')
  assert.is(deleted.code, 0)
  assert.match(deleted.shown, 'deleted s1')
  assert.is((await run(['digest', 's1', '--store', store])).code, 1)
})

onTerminal('Ctrl-C at the question deletes nothing and ends with 130', async () => {
  const store = await filledStore()
  assert.is((await typed(['rm', 's1', '--store', store], '\u0003')).code, 130)
  assert.is((await run(['digest', 's1', '--store', store])).code, 0)
})

onTerminal('colour is used on a terminal and nowhere else', async () => {
  const store = await filledStore()
  const colour = '\u001b['
  assert.ok((await typed(['log', 's1', '--store', store])).shown.includes(colour))
  assert.not.ok(
    (await run(['log', 's1', '--store', store], { env: { CI: '1', FORCE_COLOR: '1' } })).stdout.includes(colour),
  )
})

onTerminal('JSON is the same on a terminal', async () => {
  const store = await filledStore()
  const { shown } = await typed(['log', 's1', '--json', '--store', store])
  assert.is(shown.replaceAll('\r\n', '\n'), (await run(['log', 's1', '--json', '--store', store])).stdout)
})

test.run()
