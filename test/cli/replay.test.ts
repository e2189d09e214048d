import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { replay, updateFrame } from '../../src/acp/replay/main.js'
import { openStore } from '../../src/main.js'
import { talk, textBlock } from '../acp/support.js'
import { collect } from '../support/collect.js'
import { indexOfText } from '../support/logs.js'
import { file, filledStore, folder, HEADER, jsonl, outcome, run, said, start, text } from './helper.js'

function parsed(stdout: string): unknown[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

async function library(store: string, options: object = {}): Promise<unknown[]> {
  const opened = await openStore(store, { readOnly: true })
  const updates = await collect(replay(await opened.stream('s1'), options))
  await opened.close()
  return updates
}

test('asr replay prints the updates that the library gives, a line each, and says on stderr what is left out', async () => {
  const store = await filledStore()
  for (const [args, options] of [
    [[], {}],
    [['--head', 'side'], { head: 'side' }],
    [['--at', 'r4'], { at: 'r4' }],
  ] as const) {
    const { code, stdout, stderr } = await run(['replay', 's1', '--store', store, ...args])
    assert.is(code, 0)
    assert.equal(parsed(stdout), await library(store, options))
    assert.match(stderr, /asr: not replayed: timestamps \(\d+, first at r1\)\n/)
    assert.match(stderr, /asr: not replayed: off_path \(\d+\)\n/)
  }
})

test('asr replay --frames prints notifications, --json one list', async () => {
  const store = await filledStore()
  const updates = await library(store)
  const frames = updates.map((params) => updateFrame(params as never))
  assert.equal(parsed((await run(['replay', 's1', '--frames', '--store', store])).stdout), frames)
  assert.equal(JSON.parse((await run(['replay', 's1', '--json', '--store', store])).stdout), updates)
  assert.equal(JSON.parse((await run(['replay', 's1', '--json', '--frames', '--store', store])).stdout), frames)
})

test('ASR-733: asr replay --wire prints what the agent told token for token, where it was kept', async () => {
  const store = folder()
  const frames = talk().prompt('m0', 'hi')
  const spaced = (words: string): string => {
    const update = { sessionUpdate: 'agent_message_chunk', messageId: 'm1', content: textBlock(words) }
    const params = { sessionId: 's', update }
    return `{ "jsonrpc":"2.0",  "method" : "session\\/update", "params": ${JSON.stringify(params)} }`
  }
  const texts = [spaced('a "frame":'), spaced('ü\u2028')]
  for (const wire of texts) frames.raw('a2c', JSON.parse(wire), wire)
  const lines = frames.frames.map((frame) => `${JSON.stringify(frame)}\n`).join('')
  const capture = file('capture.jsonl', lines)
  await run(['--store', store, 'record', '--keep-wire', 'verbatim', '--frames', capture])
  const { code, stdout } = await run(['replay', 's', '--wire', '--store', store])
  assert.is(code, 0)
  assert.is(stdout, texts.map((wire) => `${wire.replace('\u2028', '\\u2028')}\n`).join(''))
})

test('asr replay --wire says when no frames were kept, and ends with 1', async () => {
  const { code, stdout, stderr } = await run(['replay', 's1', '--wire', '--store', await filledStore()])
  assert.equal([code, stdout], [1, ''])
  assert.match(stderr, 'no frames of session "s1" were kept')
})

test('asr replay --wire says what was not kept, and ends with 1', async () => {
  const store = folder()
  const frames = JSON.stringify({ dir: 'a2c', frame: talk().say('m', 'x').frames.at(-1)?.frame })
  await run(['--store', store, 'record', '--frames', '-'], {
    input: talk()
      .say('m', 'x')
      .frames.map((frame) => `${JSON.stringify(frame)}\n`)
      .join(''),
  })
  const [kept] = readdirSync(join(store, 'native'))
  const gap = { at: '2026-10-26T14:30:00Z', gap: { frames: 3, until: '2026-10-26T14:31:00Z' } }
  appendFileSync(join(store, 'native', kept), `${JSON.stringify(gap)}\n${frames}\n{"dir":"a2c","fr`)
  const { code, stdout, stderr } = await run(['replay', 's', '--wire', '--store', store])
  assert.is(code, 1)
  assert.is(stdout.trim().split('\n').length, 2)
  assert.match(stderr, 'not kept: 3 frames from 2026-10-26T14:30:00Z to 2026-10-26T14:31:00Z')
})

test('asr replay: wrong usage ends with 2, what is not there with 1', async () => {
  const store = await filledStore()
  const code = async (...args: string[]): Promise<number | null> =>
    (await run(['replay', ...args, '--store', store])).code
  assert.is(await code('s1', '--wire', '--frames'), 2)
  assert.is(await code('s1', '--head', 'x', '--at', 'r1'), 2)
  assert.is(await code('s1', '--wire', '--json'), 2)
  assert.is(await code(), 2)
  assert.is(await code('none'), 1)
  assert.is(await code('none', '--wire'), 1)
  assert.is(await code('s1', '--head', 'none'), 1)
})

test('asr replay of a damaged stream tells what it can, says what is missing, and ends with 1', async () => {
  const store = await filledStore()
  const [log] = logFiles(store)
  const bytes = readFileSync(log)
  bytes[indexOfText(bytes, 'second try')] ^= 1
  writeFileSync(log, bytes)
  const { code, stdout, stderr } = await run(['replay', 's1', '--store', store])
  assert.is(code, 1)
  assert.ok(parsed(stdout).length > 1)
  assert.match(stderr, /damage|loss_accepted/)
})

function logFiles(store: string): string[] {
  const files = readdirSync(join(store, 'streams'))
  return files.filter((name) => name.endsWith('.log')).map((name) => join(store, 'streams', name))
}

test('asr replay into a pipe that closes ends well', async () => {
  const many = Array.from({ length: 20_000 }, (_, n) => ({
    type: 'message',
    role: 'user',
    content: text(`words ${n}`),
  }))
  const store = await filledStore(jsonl([HEADER, ...many]))
  const child = start(['replay', 's1', '--store', store])
  const ended = outcome(child)
  await said(child, 'words 3')
  child.stdout?.destroy()
  const { code, stderr } = await ended
  assert.equal([code, stderr], [0, ''])
})

test.run()
