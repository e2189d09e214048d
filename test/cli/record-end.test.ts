/**
 * `asr record` ends as the agent ends: with its code or signal, with all that it wrote, and whoever else holds its pipes.
 */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { testWhere } from '../fault/machine.js'
import { file, folder, outcome, run, said, start } from './helper.js'

/** No machine is so busy that this passes while nothing hangs; what is left behind lives longer. */
const DEADLINE_MS = 60_000
const LEFT_BEHIND = `setTimeout(() => {}, 90_000)`

const whereTied = testWhere(
  process.platform === 'linux' && spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0,
  'there is no setpriv of util-linux',
)
const besideProc = testWhere(existsSync('/proc/self'), 'there is no /proc')

/** Leaves a process behind that holds the agent's stdin and stdout, and says its id. */
const LEAVE = `
  const { spawn } = require('node:child_process')
  const leave = (script) => spawn(process.execPath, ['-e', script], { stdio: ['inherit', 'inherit', 'ignore'], detached: true })
  const { writeSync } = require('node:fs')
`

function record(script: string, env: NodeJS.ProcessEnv = {}) {
  return start(['--store', folder(), 'record', '--', process.execPath, '-e', script], env)
}

/** What the process comes to, before the deadline; the ids that it says stand for processes that live then, and are ended. */
async function endOf(child: ReturnType<typeof start>): Promise<{ code: unknown; signal: unknown; stdout: string }> {
  let stdout = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stdin?.on('error', () => {})
  // The pipes of this process are not held by what is left behind, but by the recorder.
  const [code, signal] = await once(child, 'close', { signal: AbortSignal.timeout(DEADLINE_MS) })
  for (const [, pid] of stdout.matchAll(/left (\d+)/g)) process.kill(Number(pid), 'SIGKILL')
  return { code, signal, stdout }
}

test('asr record ends with the agent while a process that it left behind holds its pipes', async () => {
  for (const [end, code, signal] of [
    ['process.exit(7)', 7, null],
    ['process.exit(0)', 0, null],
    ['process.kill(process.pid, "SIGTERM")', null, 'SIGTERM'],
    ['process.kill(process.pid, "SIGKILL")', null, 'SIGKILL'],
  ] as const) {
    const child = record(`${LEAVE} writeSync(1, 'left ' + leave(${JSON.stringify(LEFT_BEHIND)}).pid + '\\n'); ${end}`)
    const ended = await endOf(child)
    assert.equal([ended.code, ended.signal], [code, signal], end)
    assert.match(ended.stdout, /^left \d+\n$/, 'and it lived to the end')
  }
})

test('asr record ends with the agent also when a process that it left behind never stops writing', async () => {
  const writes = `setInterval(() => process.stdout.write('x'.repeat(1000) + '\\n'), 1); process.stdout.on('error', () => process.exit())`
  const { code } = await endOf(
    record(`${LEAVE} writeSync(1, 'left ' + leave(${JSON.stringify(writes)}).pid + '\\n'); process.exit(3)`),
  )
  assert.is(code, 3)
})

test('all that the agent wrote goes on, however slowly it is taken, whoever holds its output', async () => {
  const script = `${LEAVE}
    writeSync(1, 'left ' + leave(${JSON.stringify(LEFT_BEHIND)}).pid + '\\n')
    const chunk = Buffer.from('y'.repeat(99) + '\\n')
    for (let n = 0; n < 8_000; n++) for (let at = 0; at < chunk.length; ) at += writeSync(1, chunk, at)
    process.exit(4)`
  const child = record(script)
  child.stdin?.on('error', () => {})
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(DEADLINE_MS) })
  let stdout = ''
  for await (const chunk of child.stdout!) {
    stdout += String(chunk)
    await setTimeout(60)
  }
  for (const [, pid] of stdout.matchAll(/left (\d+)/g)) process.kill(Number(pid), 'SIGKILL')
  assert.is(stdout.match(/y{99}\n/g)?.length, 8_000)
  assert.equal(await exited, [4, null])
})

test('a client that takes nothing more, and asks for the end, has it', async () => {
  const child = record(`
    const chunk = 'z'.repeat(1_000_000)
    process.stdout.write(chunk)
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 200)`)
  child.stdin?.on('error', () => {})
  child.stdout?.once('readable', () => {}) // it is not taken any further than the pipe's own room
  const ended = once(child, 'exit', { signal: AbortSignal.timeout(DEADLINE_MS) })
  await setTimeout(1_000)
  const asking = setInterval(() => child.kill('SIGTERM'), 100)
  const [code, signal] = await ended
  clearInterval(asking)
  assert.ok(signal === 'SIGKILL' || signal === 'SIGTERM', `${code} ${signal}`)
  child.stdout?.destroy()
})

const SIGNALS = 'HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM XCPU XFSZ VTALRM PROF SYS KILL'

test('asr record ends by whatever signal the agent ends by', async () => {
  for (const name of SIGNALS.split(' ')) {
    const script = `ulimit -c 0; kill -s ${name} $$; sleep 60`
    const child = start(['--store', folder(), 'record', '--', 'sh', '-c', script])
    const { code, signal } = await endOf(child)
    assert.equal([code, signal], [null, `SIG${name}`])
  }
})

test('asr record hands on every signal that asks for the end', async () => {
  for (const name of ['HUP', 'INT', 'QUIT', 'ALRM', 'USR1', 'USR2', 'TERM'] as const) {
    const child = start(['--store', folder(), 'record', '--', 'sh', '-c', 'ulimit -c 0; echo ready; exec sleep 60'])
    await said(child, 'ready')
    child.kill(`SIG${name}`)
    const { code, signal } = await endOf(child)
    assert.equal([code, signal], [null, `SIG${name}`])
  }
})

whereTied('an agent that ignores the end of its input dies with a recorder that is killed', async () => {
  // The agent holds stderr too: it is closed when both are gone.
  const child = record(`process.stdin.resume().on('error', () => {}); ${LEFT_BEHIND}; process.stdout.write('ready\\n')`)
  await said(child, 'ready')
  child.stderr?.resume()
  const gone = once(child, 'close', { signal: AbortSignal.timeout(DEADLINE_MS) })
  child.kill('SIGKILL')
  assert.equal(await gone, [null, 'SIGKILL'])
})

test('an agent is a child of the recorder by its own name, with its arguments and environment, tied or not', async () => {
  for (const PATH of [process.env.PATH, folder()]) {
    const script = `echo "$0 $1 $PPID $WORD"`
    const command = ['record', '--', '/bin/sh', '-c', script, 'my name', '--pdeathsig']
    const child = start(['--store', folder(), ...command], { PATH, WORD: 'said' })
    child.stdin?.end()
    const { stdout, code } = await outcome(child)
    assert.equal([stdout, code], [`my name --pdeathsig ${child.pid} said\n`, 0])
  }
})

test('what can not be run is told as the system tells it, and what ends with its codes is not mistaken for it', async () => {
  const plain = file('plain.txt', 'no program')
  const orphan = file('orphan', '#!/no/such/interpreter -x\n')
  const interpreted = file('interpreted', '#!/bin/sh\necho run; exit 127\n')
  for (const path of [orphan, interpreted]) chmodSync(path, 0o755)
  for (const [command, why] of [
    ['/no/such/agent', 'ENOENT'],
    ['no-such-agent', 'ENOENT'],
    [plain, 'EACCES'],
    [folder(), 'EACCES'],
    [orphan, 'ENOENT'],
  ]) {
    const { code, stderr } = await run(['--store', folder(), 'record', '--', command])
    assert.is(code, 1)
    assert.is(stderr.trim().split('\n').at(-1), `asr: cannot run ${command}: spawn ${command} ${why}`)
  }
  const { code, stdout } = await run(['--store', folder(), 'record', '--', interpreted])
  assert.equal([code, stdout], [127, 'run\n'])
})

besideProc('asr record ends as its agent does under a path where no store can be', async () => {
  for (const path of ['/proc/none', '/proc/self/none/below', '/dev/null/none']) {
    const child = start([
      '--store',
      path,
      'record',
      '--',
      process.execPath,
      '-e',
      'console.log("hello"); process.exitCode = 3',
    ])
    const end = outcome(child)
    const late = setTimeout(DEADLINE_MS, undefined, { ref: false }).then(() => child.kill('SIGKILL'))
    await Promise.race([end, late])
    const { code, stdout, stderr } = await end
    assert.equal([code, stdout], [3, 'hello\n'], path)
    assert.match(stderr, 'nothing is recorded: ASR_')
  }
})

test.run()
