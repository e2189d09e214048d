import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openStore } from '../../src/main.js'
import { outline, recordsOf, type Talk, talk } from '../acp/support.js'
import { file, folder, outcome, run, said, start } from './helper.js'

const captured = (frames: Talk): string =>
  file('capture.jsonl', frames.frames.map((frame) => `${JSON.stringify(frame)}\n`).join(''))

/** An agent in a line of JavaScript. */
function agent(script: string, ...args: string[]): string[] {
  return ['--', process.execPath, '-e', script, ...args]
}

async function outlineOf(store: string, sessionId = 's'): Promise<string[]> {
  const opened = await openStore(store, { readOnly: true })
  const records = await recordsOf(await opened.stream(sessionId))
  await opened.close()
  return outline(records)
}

test('asr record --frames records a capture, and says what it was in one line', async () => {
  const store = folder()
  const capture = captured(talk().say('m', 'x').state('idle'))
  const { code, stdout, stderr } = await run(['--store', store, 'record', '--frames', capture])
  assert.equal([code, stdout], [0, ''])
  assert.is(stderr, 'asr: recorded 2 records of 1 session from 6 frames\n')
  assert.equal(await outlineOf(store), ['message m', 'state idle'])
})

test('CORE-7: asr record keeps numbers in their own digits, from a capture and from an agent', async () => {
  const told = talk()
    .call('t', { rawInput: { n: '@', said: '"n":1.0' }, status: 'completed' })
    .state('idle')
  const exact = (text: string): string => text.replaceAll('"@"', '[9007199254740993,1.0,-0]')
  const lines = told.frames.map((frame) => exact(JSON.stringify(frame)))
  const frames = told.frames.filter(({ dir }) => dir === 'a2c').map(({ frame }) => exact(JSON.stringify(frame)))
  const asked = told.frames.filter(({ dir }) => dir === 'c2a').map(({ frame }) => exact(JSON.stringify(frame)))
  const script = `process.stdin.on('end', () => console.log(${JSON.stringify(frames.join('\n'))})).resume()`
  for (const [options, input] of [
    [['--frames', file('capture.jsonl', `${lines.join('\n')}\n`)], ''],
    [agent(script), `${asked.join('\n')}\n`],
  ] as const) {
    const store = folder()
    assert.is((await run(['--store', store, 'record', ...options], { input })).code, 0)
    const { stdout } = await run(['--store', store, 'export', 's'])
    assert.ok(stdout.includes('"input":{"n":[9007199254740993,1.0,-0],"said":"\\"n\\":1.0"}'), stdout)
  }
})

test('asr record --frames leaves alone a session that was recorded, with the children it told of', async () => {
  const store = folder()
  const frames = talk()
    .update({ sessionUpdate: 'subagent_update', sessionId: 'kid' })
    .say('k', 'x', 'kid')
    .state('idle')
  const capture = captured(frames)
  await run(['--store', store, 'record', '--frames', capture])
  const { code, stderr } = await run(['--store', store, 'record', '--frames', capture])
  assert.is(code, 0)
  assert.match(stderr, 'session "s" is in the store already')
  assert.equal(await outlineOf(store), ['subagent kid', 'state idle'])
  assert.equal(await outlineOf(store, 'kid'), ['message k'])
})

test('asr record --frames names the lines that are no frames, and ends with 1', async () => {
  const lines = [
    '{"dir":"a2c"',
    '',
    '{"dir":"up","frame":{}}',
    '{"dir":"a2c","frame":{"x":1}}',
    '{"dir":"a2c"}',
    'null',
  ]
  const timed = '{"dir":"a2c","frame":{"jsonrpc":"2.0","method":"_x"},"at":"later"}'
  const capture = file('bad.jsonl', `${[...lines, timed, timed].join('\n')}\n`)
  const { code, stderr } = await run(['--store', folder(), 'record', '--frames', capture])
  assert.is(code, 1)
  const named = [...stderr.matchAll(/bad\.jsonl:(\d+) is no frame\n/g)].map(([, line]) => Number(line))
  assert.equal(named, [1, 3, 5, 6])
  assert.match(stderr, 'bad.jsonl:7 has a time that can not be read; others like it are not named')
  assert.not.match(stderr, 'bad.jsonl:8')
  assert.match(stderr, '3 frames, 1 of them no JSON-RPC')
})

test('asr record --frames reads times as what they are, and says so once a kind', async () => {
  const store = folder()
  const { frames } = talk().say('a', 'x').say('b', 'x').say('c', 'x').say('d', 'x')
  const times = [1_793_025_000, '1793025000.25', '2026-10-26T14:30:00', 1_793_025_000_500]
  const timed = frames.map((frame, index) => ({ ...frame, at: times[index % times.length] }))
  const capture = file('capture.jsonl', timed.map((frame) => `${JSON.stringify(frame)}\n`).join(''))
  const { code, stderr } = await run(['--store', store, 'record', '--frames', capture])
  assert.is(code, 0)
  assert.equal(
    [...stderr.matchAll(/capture\.jsonl:(\d+) has a time that is read as (.*), and so are those like it\n/g)].map(
      ([, line, kind]) => `${line} ${kind}`,
    ),
    ['1 seconds of the epoch', '3 UTC, as they name no offset'],
  )
  const opened = await openStore(store, { readOnly: true })
  const records = await recordsOf(await opened.stream('s'))
  await opened.close()
  assert.equal(
    records.map(({ ts }) => ts),
    ['00.000Z', '00.250Z', '00Z', '00.500Z'].map((rest) => `2026-10-26T14:30:${rest}`),
  )
})

test('asr record needs either an agent or --frames', async () => {
  assert.is((await run(['record'])).code, 2)
  assert.is((await run(['record', '--frames', 'x', '--', 'agent'])).code, 2)
  assert.is((await run(['record', '--keep-wire', 'some', '--', 'agent'])).code, 2)
  assert.is((await run(['record', '--snapshot-every', '0', '--', 'agent'])).code, 2)
})

test('asr record passes bytes unchanged, whatever they are, and ends as the agent ends', async () => {
  const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7) & 0xff)
  const child = start([
    '--store',
    folder(),
    'record',
    ...agent('process.stdin.pipe(process.stdout); process.exitCode = 7'),
  ])
  const out: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk))
  child.stdin?.end(bytes)
  const [code] = await once(child, 'close')
  assert.is(code, 7)
  assert.is(Buffer.compare(Buffer.concat(out), bytes), 0)
})

test('asr record ends by the signal that the agent ends by, and keeps what was said', async () => {
  const store = folder()
  const lines = talk()
    .say('m', 'x')
    .frames.map(({ frame }) => JSON.stringify(frame))
  const script = 'process.stdout.write(process.argv[1] + "\\n", () => process.kill(process.pid, "SIGKILL"))'
  const child = start(['--store', store, 'record', ...agent(script, lines[4])])
  child.stdin?.on('error', () => {})
  child.stdin?.write(`${lines.join('\n')}\n`)
  const [code, signal] = await once(child, 'close')
  assert.equal([code, signal], [null, 'SIGKILL'])
  assert.equal(await outlineOf(store), ['message m', 'gap m'])
})

test('asr record that is killed itself keeps the turns before, with nobody having ended anything', async () => {
  const store = folder()
  const lines = talk()
    .say('m', 'x')
    .state('idle')
    .frames.map(({ frame }) => JSON.stringify(frame))
  const child = start(['--store', store, 'record', ...agent('process.stdin.pipe(process.stdout)')])
  child.stdin?.write(`${lines.join('\n')}\n`)
  await said(child, lines.at(-1)!)
  const isWritten = async (): Promise<boolean> => {
    const { stdout } = await run(['--store', store, 'log', 's', '--json'])
    return stdout.includes('"idle"')
  }
  while (!(await isWritten())) assert.is(child.exitCode, null)
  child.kill('SIGKILL')
  await once(child, 'close')
  const opened = await openStore(store)
  assert.ok((await opened.verify()).ok)
  await opened.close()
  assert.equal((await outlineOf(store))[0], 'message m')
})

test('asr record hands signals on to the agent', async () => {
  const script = `process.on('SIGTERM', () => { process.stdout.write('asked\\n'); setTimeout(() => process.exit(5), 50) }); process.stdout.write('ready\\n'); setInterval(() => {}, 1000)`
  const child = start(['--store', folder(), 'record', ...agent(script)])
  const end = outcome(child)
  await said(child, 'ready')
  child.kill('SIGTERM')
  const { code, stdout } = await end
  assert.equal([code, stdout], [5, 'ready\nasked\n'])
})

test('asr record ends when the client is gone', async () => {
  const child = start(['--store', folder(), 'record', ...agent('process.stdin.resume()')])
  child.stdin?.end()
  assert.is((await outcome(child)).code, 0)
})

test('asr record says when the agent can not be run', async () => {
  const { code, stderr } = await run(['--store', folder(), 'record', '--', '/no/such/agent', '-x'])
  assert.is(code, 1)
  assert.match(stderr, /asr: cannot run \/no\/such\/agent/)
})

test('asr record runs the agent also when the store is held, and says that nothing is recorded', async () => {
  const location = folder()
  const store = await openStore(location)
  const { code, stdout, stderr } = await run([
    '--store',
    location,
    'record',
    ...agent('console.log("hello"); process.exitCode = 3'),
  ])
  await store.close()
  assert.equal([code, stdout], [3, 'hello\n'])
  assert.match(stderr, 'nothing is recorded: ASR_LOCKED')
})

test('asr record keeps frames as it is told to', async () => {
  for (const [how, kept] of [
    ['none', false],
    ['redacted', true],
  ] as const) {
    const store = folder()
    await run(['--store', store, 'record', '--keep-wire', how, '--frames', captured(talk().say('m', 'x'))])
    assert.is(existsSync(join(store, 'native')), kept)
  }
})

test('asr record gives the agent its name, prompts their author, and keeps secrets out', async () => {
  const store = folder()
  const frames = talk().prompt('u', 'x')
  const params = { sessionId: 's', mode: 'form', message: 'Q', requestedSchema: {} }
  frames.respond('c2a', frames.request('a2c', 'elicitation/create', params), {
    action: 'accept',
    content: { pin: 1, b: 2 },
  })
  const options = ['--agent-name', 'com.example.bot', '--person', '--secret-field', 'pin', '--secret-field', 'code']
  await run(['--store', store, 'record', ...options, '--frames', captured(frames)])
  const opened = await openStore(store, { readOnly: true })
  const stream = await opened.stream('s')
  assert.is((await stream.header()).agent?.name, 'com.example.bot')
  const [prompt, request] = await recordsOf(stream)
  assert.equal([prompt.author, request.response], ['human', { b: 2 }])
  await opened.close()
})

test.run()
