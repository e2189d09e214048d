/**
 * What is deleted is gone: nothing of a session stands anywhere but with its stream, and a recorder that goes on does not bring it
 * back.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createRecorder, type RecorderOptions, type RecorderProblem } from '../../../src/acp/main.js'
import { openStore, type Store } from '../../../src/main.js'
import { collect } from '../../support/collect.js'
import { tempFolder } from '../../support/temp.js'
import { wordsIn } from '../../support/words.js'
import { outline, recordsOf, Talk, talk, textBlock } from '../support.js'

const WORDS = {
  id: 'Qzjvkwpxhgbfyd',
  title: 'Wkxqjzvtmplrnc',
  cwd: 'Hbgyxwqkzjfvdm',
  text: 'Jxqwzkvbghfmyt',
  other: 'Vtrqzjxkwhpnsd',
}
const SESSION = WORDS.id

/** All kinds of frames that can hold words of the session, those that name it and those that do not. */
function secretTalk(version = 2): Talk {
  const told = new Talk().initialize({ name: 'Demo', version: '1' }, version)
  told.refuse('a2c', told.request('c2a', 'session/new', { cwd: `/${WORDS.cwd}` }))
  told.newSession(SESSION, { cwd: `/${WORDS.cwd}` }, { _meta: { words: WORDS.other } })
  const sessions = [{ sessionId: SESSION, title: WORDS.title, cwd: `/${WORDS.cwd}` }]
  told.respond('a2c', told.request('c2a', 'session/list', { cwd: `/${WORDS.cwd}` }), { sessions })
  told.prompt('u', WORDS.text, SESSION).say('m', WORDS.text, SESSION)
  told.update({ sessionUpdate: 'session_info_update', title: WORDS.title }, SESSION)
  told.notify('a2c', '_vendor/note', { about: SESSION, text: WORDS.text })
  told.respond('a2c', told.request('c2a', '_vendor/ask', { about: SESSION }), { text: WORDS.text })
  told.respond('a2c', 'nobody asked', { text: WORDS.text })
  told.raw('a2c', { jsonrpc: '2.0', id: 7, error: { code: 1, message: WORDS.text } })
  told.raw('a2c', undefined, `debug: ${SESSION} ${WORDS.text}`).raw('a2c', { stray: WORDS.text })
  told.raw('c2a', [{ jsonrpc: '2.0', method: '_vendor/batch', params: { text: WORDS.text } }, { odd: WORDS.title }])
  told.refuse('a2c', told.request('c2a', 'session/resume', { sessionId: SESSION, cwd: `/${WORDS.cwd}` }))
  return told.state('idle', {}, SESSION)
}

function rest(): Talk {
  return new Talk()
    .say('n', WORDS.other, SESSION)
    .call('t', { status: 'completed' }, SESSION)
    .state('idle', {}, SESSION)
}

interface Started {
  folder: string
  store: Store
  problems: RecorderProblem[]
  recorder: ReturnType<typeof createRecorder>
}

async function recording(options: RecorderOptions = {}): Promise<Started> {
  const folder = tempFolder()
  const store = await openStore(folder)
  const problems: RecorderProblem[] = []
  const recorder = createRecorder(store, { onProblem: (problem) => problems.push(problem), ...options })
  return { folder, store, problems, recorder }
}

function tell({ recorder }: Started, { frames }: Talk): void {
  for (const frame of frames) recorder.observe(frame)
}

const deletions = (problems: readonly RecorderProblem[]): string[] =>
  problems.filter(({ code, message }) => code === 'session_lost' && /was deleted/.test(message)).map(({ code }) => code)

test('ASR-723: frames of a session lie with it, and no word of it lies anywhere once it is deleted', async () => {
  for (const keepWire of ['redacted', 'none'] as const) {
    const started = await recording({ keepWire })
    tell(started, secretTalk())
    tell(started, talk().say('m', 'another session').state('idle'))
    await started.recorder.stop()
    const before = wordsIn(started.folder, WORDS)
    assert.ok(before.some((place) => place.startsWith('streams/')))
    assert.not(
      before.some((place) => place.startsWith('native/connections.jsonl')),
      before.join(),
    )
    assert.is(
      before.some((place) => place.startsWith('native/')),
      keepWire === 'redacted',
    )
    await started.store.deleteStream(SESSION)
    assert.equal(
      wordsIn(started.folder, WORDS).filter((place) => !place.startsWith('index/')),
      [],
    )
    assert.equal(outline(await recordsOf(await started.store.stream('s'))), ['message m', 'state idle'])
    await started.store.close()
  }
})

test('ASR-700, ASR-723: of a connection whose protocol is not recorded no frames are kept, unless all are', async () => {
  for (const [keepWire, kept] of [
    ['redacted', false],
    ['verbatim', true],
  ] as const) {
    const started = await recording({ keepWire })
    tell(started, secretTalk(1))
    await started.recorder.stop()
    const places = wordsIn(started.folder, WORDS)
    assert.is(places.length > 0, kept, places.join())
    assert.ok(started.problems.some(({ code }) => code === 'protocol_version'))
    assert.equal(await collect(started.store.streams()), [])
    await started.store.close()
  }
})

test('a recorder does not make a deleted stream again without its beginning: it says so, and keeps nothing more', async () => {
  for (const keepWire of ['redacted', 'verbatim', 'none'] as const) {
    for (const settles of [true, false]) {
      const started = await recording({ keepWire })
      const { recorder, store, problems, folder } = started
      tell(started, secretTalk())
      await recorder.settled()
      const deleting = store.deleteStream(SESSION)
      if (settles) await deleting
      tell(started, rest())
      await deleting
      await recorder.settled()
      tell(started, rest())
      tell(started, talk().say('m', 'another session').state('idle'))
      const { sessions } = await recorder.stop()
      assert.equal(deletions(problems), ['session_lost'])
      assert.equal(sessions, ['s'])
      assert.equal(
        (await collect(store.streams())).map(({ sessionId }) => sessionId),
        ['s'],
      )
      const aside = keepWire === 'verbatim' ? /^(?:index\/|native\/connections)/ : /^index\//
      assert.equal(
        wordsIn(folder, WORDS).filter((place) => !aside.test(place)),
        [],
      )
      await store.close()
    }
  }
})

test('whenever a stream is deleted, nothing of it is left, and it is said at most once', async () => {
  const frames = [...secretTalk().frames, ...rest().frames, ...rest().frames]
  for (let at = 0; at <= frames.length; at += 2) {
    const started = await recording({ snapshotEvery: 1 })
    const { recorder, store, problems, folder } = started
    for (const frame of frames.slice(0, at)) recorder.observe(frame)
    for (let turns = at % 5; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
    const wasThere = await store.deleteStream(SESSION).then(
      () => true,
      () => false,
    )
    for (const frame of frames.slice(at)) recorder.observe(frame)
    await recorder.stop()
    if (wasThere) {
      assert.equal(
        wordsIn(folder, WORDS).filter((place) => !place.startsWith('index/')),
        [],
        `deleted behind frame ${at}`,
      )
      assert.ok(deletions(problems).length <= 1)
    }
    await store.close()
  }
})

test('a recorder adds nothing to another stream that was put in the place of its own', async () => {
  const { recorder, store, problems, ...started } = await recording()
  tell({ recorder, store, problems, ...started }, secretTalk())
  await recorder.settled()
  const { length } = await store.stream(SESSION)
  await store.deleteStream(SESSION)
  const other = await store.createStream({ sessionId: SESSION })
  for (let n = 0; n < length + 3; n++) await other.append({ type: 'checkpoint' })
  tell({ recorder, store, problems, ...started }, rest())
  await recorder.stop()
  assert.is((await store.stream(SESSION)).length, length + 3)
  assert.ok(problems.some(({ code }) => code === 'session_lost'))
  await store.close()
})

test('a stream that is deleted before anything of its session is seen is made as any other', async () => {
  const started = await recording()
  await started.store.createStream({ sessionId: SESSION })
  await started.store.deleteStream(SESSION)
  tell(
    started,
    new Talk()
      .initialize()
      .newSession(SESSION)
      .update({ sessionUpdate: 'agent_message', messageId: 'm', content: [textBlock('x')] }, SESSION),
  )
  await started.recorder.stop()
  assert.equal(outline(await recordsOf(await started.store.stream(SESSION))), ['message m'])
  assert.equal(started.problems, [])
  await started.store.close()
})

test.run()
