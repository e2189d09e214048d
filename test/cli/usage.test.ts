import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { filledStore, folder, run } from './helper.js'

const COMMANDS = [
  'import',
  'ls',
  'log',
  'heads',
  'leaves',
  'path',
  'context',
  'entity',
  'get',
  'set-head',
  'export',
  'digest',
  'verify',
  'reindex',
  'stats',
  'rm',
]

const READERS = [
  ['ls'],
  ['log', 's1'],
  ['heads', 's1'],
  ['leaves', 's1'],
  ['path', 's1'],
  ['context', 's1'],
  ['entity', 's1', 'message', 'm1'],
  ['get', 's1', 'r1'],
  ['export', 's1'],
  ['digest', 's1'],
  ['verify'],
  ['stats'],
]

test('asr --help lists every command, and the help of each has an example', async () => {
  const { code, stdout } = await run(['--help'])
  assert.is(code, 0)
  const helps = await Promise.all(COMMANDS.map((command) => run([command, '--help'])))
  for (const [i, help] of helps.entries()) {
    const command = COMMANDS[i]
    assert.match(stdout, new RegExp(`^  ${command} `, 'm'))
    assert.is(help.code, 0)
    assert.match(help.stdout, new RegExp(`Example:\n  \\$ asr ${command}`))
    assert.match(help.stdout, '--store <dir>')
  }
})

test('wrong usage ends with 2, says what is wrong on stderr and prints nothing', async () => {
  const wrong = [
    [],
    ['nope'],
    ['log'],
    ['ls', 'extra'],
    ['ls', '--nope'],
    ['ls', '--json', '--jsonl'],
    ['ls', '--store', ''],
    ['ls', '--store'],
    ['import'],
    ['log', 's1', '--from', '0'],
    ['log', 's1', '--from', '1.5'],
    ['log', 's1', '--from', 'x'],
    ['path', 's1', '--head', 'a', '--at', 'b'],
    ['context', 's1', '--head', 'a', '--at', 'b'],
    ['entity', 's1', 'message', 'm', '--at', 'r1', '--anywhere'],
    ['set-head', 's1', 'x'],
    ['set-head', 's1', 'x', 'r1', '--drop'],
    ['export', 's1', '--json'],
    ['rm', 's1'],
  ]
  const outcomes = await Promise.all(wrong.map((args) => run(args)))
  for (const [i, { code, stdout, stderr }] of outcomes.entries()) {
    assert.is(code, 2, wrong[i].join(' '))
    assert.is(stdout, '', wrong[i].join(' '))
    assert.ok(stderr.length > 0, wrong[i].join(' '))
  }
})

test('a command is what stands first without an option, whatever else has the name of one', async () => {
  const store = join(folder(), 'context')
  const { code, stderr } = await run(['--store', store, 'ls', '--json'])
  assert.equal([code, stderr.includes(`there is no store at ${store}`)], [1, true])
  const asked = await run(['--json', '--store', store, 'get', 'ls', 'context'])
  assert.ok(asked.stderr.includes(`there is no store at ${store}`))
  assert.match((await run(['--help', 'context'])).stdout, /^ {2}verify /m)
  assert.match((await run(['contxt'])).stderr, 'Did you mean context?')
  assert.match((await run(['help', 'path'])).stdout, 'asr path')
})

test('a store that is not there is an error of every reading command, and none makes one', async () => {
  const store = join(folder(), 'none')
  for (const args of [...READERS, ['set-head', 's1', 'x', 'r1'], ['reindex'], ['rm', 's1', '--yes']]) {
    const { code, stdout, stderr } = await run([...args, '--store', store, ...(args[0] === 'export' ? [] : ['--json'])])
    assert.is(code, 1, args.join(' '))
    assert.is(stdout, '', args.join(' '))
    assert.match(stderr, /^asr: ASR_FORMAT: there is no store at .*\n$/)
    assert.not.ok(existsSync(store), args.join(' '))
  }
})

test('--store is taken before and after the command, among its arguments, and with =', async () => {
  const store = await filledStore()
  const placed = [
    ['--store', store, 'log', 's1', '--from', '9'],
    ['log', '--store', store, 's1', '--from', '9'],
    ['log', 's1', '--from', '9', '--store', store],
    ['log', `--store=${store}`, '--from', '9', 's1'],
    ['log', '--from', '9', '--store', store, '--', 's1'],
  ]
  for (const args of placed) {
    const { code, stdout } = await run([...args])
    assert.is(code, 0, args.join(' '))
    assert.match(stdout, /^9 {2}r9 /)
  }
})

test('behind -- everything is an argument, also what looks like an option', async () => {
  const store = await filledStore()
  const { code, stderr } = await run(['get', '--store', store, '--', 's1', '--store'])
  assert.is(code, 1)
  assert.match(stderr, 'ASR_NOT_FOUND: stream "s1" has no record "--store"')
})

test('$ASR_STORE names the store, --store comes before it, and the XDG data directory is the last resort', async () => {
  const store = await filledStore()
  const named = await run(['ls', '--json'], { env: { ASR_STORE: store } })
  assert.is(JSON.parse(named.stdout).length, 1)
  const given = await run(['ls', '--json', '--store', store], { env: { ASR_STORE: join(folder(), 'none') } })
  assert.is(given.stdout, named.stdout)
  const data = join(folder(), 'not', 'there', 'yet')
  await run(['import', '-'], { env: { XDG_DATA_HOME: data }, input: '{"type":"header","sessionId":"x"}\n' })
  const found = await run(['ls', '--json', '--store', join(data, 'asr')])
  assert.is(JSON.parse(found.stdout)[0].sessionId, 'x')
})

test('a stack is shown only when ASR_DEBUG asks for one', async () => {
  const args = ['ls', '--store', join(folder(), 'none')]
  assert.not.match((await run(args)).stderr, /\n +at /)
  assert.match((await run(args, { env: { ASR_DEBUG: '1' } })).stderr, /\n +at /)
})

test.run()
