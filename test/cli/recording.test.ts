import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startRecording } from '../../src/cli/recording.js'
import { openStore } from '../../src/main.js'
import { outline, recordsOf, talk } from '../acp/support.js'
import { folder } from './helper.js'

const encoder = new TextEncoder()

/** What is said on stderr meanwhile. */
async function saying(work: () => Promise<void>): Promise<string> {
  const { write } = process.stderr
  let said = ''
  process.stderr.write = ((text: string) => {
    said += text
    return true
  }) as typeof write
  try {
    await work()
  } finally {
    process.stderr.write = write
  }
  return said
}

test('both sides are recorded in the order in which they passed, wherever their bytes were parted', async () => {
  const frames = talk().prompt('u', 'words \u00e9 \ud83d\ude00').say('m', 'more \u00e9').state('idle').frames
  for (const size of [1, 2, 3, 7, 64, 10_000]) {
    const location = folder()
    const recording = startRecording({ location, recorder: {} })
    for (const { dir, frame } of frames) {
      const bytes = encoder.encode(`${JSON.stringify(frame)}\n`)
      for (let at = 0; at < bytes.length; at += size) recording.passed(dir, bytes.subarray(at, at + size))
    }
    recording.ended('c2a')
    recording.ended('a2c')
    const summary = await recording.stop()
    assert.equal([summary?.frames, summary?.notJsonRpc], [frames.length, 0], `parts of ${size}`)
    const store = await openStore(location, { readOnly: true })
    assert.equal(outline(await recordsOf(await store.stream('s'))), ['message u', 'message m', 'state idle'])
    await store.close()
  }
})

test('a last line without its end is a line when its side has ended', async () => {
  const location = folder()
  const recording = startRecording({ location, recorder: {} })
  recording.passed('a2c', encoder.encode('{"jsonrpc":"2.0"'))
  recording.ended('a2c')
  assert.equal(await recording.stop(), { sessions: [], records: 0, frames: 1, notJsonRpc: 1, problems: 0 })
})

test('a recorder that fails is said, and hinders nothing that passes', async () => {
  const said = await saying(async () => {
    const recording = startRecording({ location: folder(), recorder: { secretFields: 7 as never } })
    recording.passed('a2c', encoder.encode('{}\n'))
    recording.ended('a2c')
    assert.is(await recording.stop(), undefined)
    recording.passed('c2a', encoder.encode('{}\n'))
  })
  assert.match(said, 'the recorder has failed, and nothing more is recorded')
})

test.run()
