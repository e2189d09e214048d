/**
 * Beside the traffic: slow and failing stores, crashes, restarts, growth, and the frames that are kept.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createRecorder, type RecorderProblem } from '../../../src/acp/main.js'
import { AsrError, memoryLocation, openStore, type Store, type Stream } from '../../../src/main.js'
import { breakableLog } from '../../support/logs.js'
import { outline, recordAll, recordsOf, startRecording, Talk, talk, textBlock } from '../support.js'

/** A store whose streams do something before they append. */
function withAppends(store: Store, before: (stream: Stream) => Promise<void>): Store {
  const wrap = (stream: Stream): Stream =>
    new Proxy(stream, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target)
        if (key === 'append') {
          return async (...args: Parameters<Stream['append']>) => {
            await before(target)
            return target.append(...args)
          }
        }
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (key === 'stream' || key === 'createStream') {
        return async (arg: never) => wrap(await (value as (arg: never) => Promise<Stream>).call(target, arg))
      }
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

test('A13: a store that fails delays no frame, is told once, and gets everything when it works again', async () => {
  const real = await openStore(memoryLocation())
  let broken = true
  const store = withAppends(real, async () => {
    if (broken) throw new AsrError('ASR_IO', 'no disk')
  })
  const problems: RecorderProblem[] = []
  const recorder = createRecorder(store, { onProblem: (problem) => problems.push(problem) })
  const { frames } = talk().say('a', '1').state('idle').say('b', '2').state('idle').say('c', '3').state('idle')
  for (const frame of frames.slice(0, -1)) recorder.observe(frame)
  await recorder.settled()
  assert.equal(
    problems.map(({ code, sessionId }) => [code, sessionId]),
    [['store_failed', 's']],
  )
  broken = false
  recorder.observe(frames[frames.length - 1])
  await recorder.stop()
  assert.equal(outline(await recordsOf(await real.stream('s'))), [
    'message a',
    'state idle',
    'message b',
    'state idle',
    'message c',
    'state idle',
  ])
})

test('a store that fails to the end is said to have lost the session', async () => {
  const store = withAppends(await openStore(memoryLocation()), async () => {
    throw new AsrError('ASR_IO', 'no disk')
  })
  const problems: string[] = []
  const recorder = createRecorder(store, { onProblem: ({ code }) => problems.push(code) })
  for (const frame of talk().say('a', '1').frames) recorder.observe(frame)
  assert.is((await recorder.stop()).records, 0)
  assert.equal(problems, ['store_failed', 'session_lost'])
})

test('an append in doubt is offered again under the same ids, and stands there once', async () => {
  const { log, index } = memoryLocation()
  const breakable = breakableLog(log)
  const store = await openStore({ log: breakable, index })
  const recorder = createRecorder(store, { keepWire: 'none' })
  for (const frame of talk().say('a', '1').state('idle').frames) recorder.observe(frame)
  await recorder.settled()
  breakable.broken = true
  for (const frame of new Talk().say('b', '2').state('idle').frames) recorder.observe(frame)
  await recorder.settled()
  breakable.broken = false
  for (const frame of new Talk().say('c', '3').state('idle').frames) recorder.observe(frame)
  await recorder.stop()
  const messages = outline(await recordsOf(await store.stream('s'))).filter((line) => line.startsWith('message'))
  assert.equal(messages, ['message a', 'message b', 'message c'])
})

test('records that somebody else appends in between are no trouble', async () => {
  const real = await openStore(memoryLocation())
  let done = false
  const store = withAppends(real, async (stream) => {
    if (stream.length < 2 || done) return
    done = true
    await stream.append({ type: 'checkpoint' })
  })
  const recorder = createRecorder(store)
  for (const frame of talk().say('a', '1').state('idle').frames) recorder.observe(frame)
  await recorder.settled()
  for (const frame of new Talk().say('a', '2').state('idle').frames) recorder.observe(frame)
  const { problems } = await recorder.stop()
  assert.is(problems, 0)
  const records = await recordsOf(await real.stream('s'))
  assert.equal(outline(records), ['message a', 'state idle', 'checkpoint', '~message a', 'state idle'])
  assert.is(records[3].supersedes, records[0].id)
})

test('snapshotEvery writes what is open, and a recorder that goes on from there doubles nothing', async () => {
  const { recorder, store, location } = await startRecording({ snapshotEvery: 1 })
  const { frames } = talk()
    .prompt('u', 'go')
    .say('m', 'Hello ')
    .call('t', { content: [{ type: 'content', content: textBlock('out') }] })
  for (const frame of frames) recorder.observe(frame)
  const stillWaiting = performance.now() + 10_000
  do {
    await new Promise((resolve) => setTimeout(resolve, 5))
    await recorder.settled()
  } while ((await store.stream('s')).length < 4 && performance.now() < stillWaiting)
  assert.equal(outline(await recordsOf(await store.stream('s'))), [
    'message u',
    'message m',
    'tool_call t',
    'tool_result t partial',
  ])
  // The recorder is gone without a word, as in a crash.
  await store.close()
  const rest = new Talk(1).say('m', 'world').call('t', { status: 'completed' }).prompt('u', 'go').state('idle')
  const again = await recordAll(rest.frames, {}, location)
  const stream = await again.store.stream('s')
  const records = await recordsOf(stream)
  assert.equal(outline(records).slice(4), ['~tool_result t completed', '~message m', 'state idle'])
  assert.equal(records[5].content, [textBlock('Hello world')])
  assert.equal((await stream.contextView()).openCalls, [])
})

test('without snapshotEvery nothing is written before the turn pauses', async () => {
  const { recorder, store } = await startRecording()
  for (const frame of talk().say('m', 'Hello ').frames) recorder.observe(frame)
  await new Promise((resolve) => setTimeout(resolve, 20))
  await recorder.settled()
  assert.is((await store.stream('s')).length, 0)
  await recorder.stop()
})

test('growth is linear in the content: what still grows is written again only when it has doubled', async () => {
  const bytesFor = async (turns: number): Promise<number> => {
    const frames = talk()
    for (let turn = 0; turn < turns; turn++) {
      const data = Buffer.from('x'.repeat(300)).toString('base64')
      frames.update({ sessionUpdate: 'terminal_output_chunk', terminalId: 'server', data })
      frames.update({
        sessionUpdate: 'tool_call_content_chunk',
        toolCallId: 'bg',
        content: { type: 'content', content: textBlock('y'.repeat(300)) },
      })
      frames.state('idle')
    }
    const { store } = await recordAll(frames.frames, { keepWire: 'none' })
    const stream = await store.stream('s')
    let bytes = 0
    for (const record of await recordsOf(stream)) bytes += JSON.stringify(record).length
    const [terminal] = await stream.entity('terminal', 'server')
    assert.is(Buffer.from(terminal.inForce?.output.blob, 'base64').length, 300 * turns, 'the last revision is whole')
    return bytes
  }
  const [small, large] = [await bytesFor(50), await bytesFor(200)]
  assert.ok(large < 6 * small, `${small} bytes became ${large}`)
})

test('a message of 10,000 chunks is one record', async () => {
  const frames = talk()
  let whole = ''
  for (let n = 0; n < 10_000; n++) {
    frames.say('m', `${n} `)
    whole += `${n} `
  }
  const records = await recordsOf(await (await recordAll(frames.state('idle').frames)).store.stream('s'))
  assert.equal(outline(records), ['message m', 'state idle'])
  assert.is(records[0].content[0].text, whole)
})

test('memory holds the open turn only: what is written is let go, and found again in the store', async () => {
  const { recorder, store } = await startRecording()
  for (const frame of talk().say('a', '1').state('idle').say('b', '2').state('idle').frames) recorder.observe(frame)
  for (const frame of new Talk().say('a', '!').state('idle').frames) recorder.observe(frame)
  await recorder.stop()
  const records = await recordsOf(await store.stream('s'))
  assert.equal(outline(records).slice(4), ['~message a', 'state idle'])
  assert.equal(records[4].content, [textBlock('1!')])
})

async function nativeLines(location: ReturnType<typeof memoryLocation>, file: string): Promise<string> {
  const size = location.log.size(file) ?? 0
  return new TextDecoder().decode(location.log.read(file, 0, size))
}

test('ASR-723: each record points at the frames that it came from', async () => {
  const frames = talk().say('m', 'a').call('t').say('m', 'b').call('t', { status: 'completed' }).state('idle')
  const { store, location } = await recordAll(frames.frames)
  const records = await recordsOf(await store.stream('s'))
  const pointed = await Promise.all(
    records.map(async ({ native }) => {
      const text = (await nativeLines(location, native.ref.file)).slice(native.ref.from, native.ref.to)
      assert.match(text, /\n$/)
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).frame.params.update)
    }),
  )
  const updates = frames.frames.slice(4).map(({ frame }) => (frame as { params: { update: unknown } }).params.update)
  assert.equal(pointed, [updates.slice(0, 3), updates.slice(1, 4), updates.slice(1, 4), updates.slice(4)])
})

test('ASR-723: the frames of a session are kept in order, with direction, time and connection, across a restart and behind a cut line', async () => {
  const first = await recordAll(talk().say('m', 'é').frames)
  const file = (await recordsOf(await first.store.stream('s')))[0].native.ref.file
  await first.store.close()
  first.location.log.append(file, new TextEncoder().encode('{"at":"cut sho'))
  const second = await recordAll(new Talk('again').say('n', 'x').frames, {}, first.location)
  const lines = (await nativeLines(first.location, file)).trimEnd().split('\n')
  assert.is(lines.length, 5)
  assert.equal(
    [0, 1, 2, 4].map((line) => JSON.parse(lines[line])).map(({ dir, conn, frame }) => [dir, conn, frame.method]),
    [
      ['c2a', 0, 'session/new'],
      ['a2c', 0, undefined],
      ['a2c', 0, 'session/update'],
      ['a2c', 'again', 'session/update'],
    ],
  )
  const record = (await recordsOf(await second.store.stream('s')))[1]
  const { from, to } = record.native.ref
  const bytes = first.location.log.read(file, from, to - from)
  assert.is(JSON.parse(new TextDecoder().decode(bytes)).frame.params.update.messageId, 'n')
})

test('ASR-723: verbatim keeps the text of a frame, none keeps nothing', async () => {
  const odd =
    '{ "jsonrpc":"2.0","method":"session/update", "params":{"sessionId":"s","update":{"sessionUpdate":"_x","n":1.0}}}'
  const frames = talk().raw('a2c', JSON.parse(odd), odd).frames
  const { store, location } = await recordAll(frames, { keepWire: 'verbatim' })
  const [record] = await recordsOf(await store.stream('s'))
  assert.ok((await nativeLines(location, record.native.ref.file)).includes(odd))
  const none = await recordAll(frames, { keepWire: 'none' })
  assert.is((await recordsOf(await none.store.stream('s')))[0].native.ref, undefined)
  assert.equal(none.location.log.list('native'), [])
})

test('ASR-723: frames that can not be kept are said, and the records are written all the same', async () => {
  const wireStorage = {
    append: () => {
      throw new Error('full')
    },
    read: () => new Uint8Array(0),
    size: () => 0,
  }
  const { store, problems } = await recordAll(talk().say('m', 'x').state('idle').frames, { wireStorage })
  assert.is((await store.stream('s')).length, 2)
  assert.ok(problems.some(({ code, sessionId }) => code === 'wire_failed' && sessionId === 's'))
})

test.run()
