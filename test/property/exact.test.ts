/**
 * CORE-7: what is stored is what came, to the digit, through every door that takes a text or copies what is there.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ObservedFrame } from '../../src/acp/main.js'
import { hashText, hex64 } from '../../src/base/hash.js'
import {
  type AsrRecord,
  ExactNumber,
  exactJson,
  type Header,
  memoryLocation,
  openStore,
  parseExact,
  type Stream,
} from '../../src/main.js'
import { canonicalText } from '../../src/record/canonical.js'
import { memberAt, withMember } from '../../src/record/json-text.js'
import { asked, withClient } from '../acp/agent/support.js'
import { recordAll, Talk, talk } from '../acp/support.js'
import { fails } from '../support/fails.js'
import { settings } from './settings.js'

const LITERALS = [
  ...['9007199254740993', '-9007199254740993', '12345678901234567890', '123456789012345680000', '1e308', '5e-324'],
  ...['1.0', '1e2', '1E+2', '-0', '0', '0.10', '0.30000000000000001', '-1.50', '1e-400', '2.5', '42', '-7'],
]
const literal = fc.oneof(
  fc.constantFrom(...LITERALS),
  fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }).map(String),
  fc.tuple(fc.integer(), fc.nat({ max: 9999 }), fc.integer({ min: -20, max: 20 })).map(([a, b, e]) => `${a}.${b}e${e}`),
)
/** Words that look like what is looked for. */
const word = fc.constantFrom(
  '',
  'a',
  '1.0',
  '"',
  '\\',
  '-0',
  '{"b":1.0}',
  '9007199254740993',
  '\u2028',
  '\ud800',
  ',"frame":1.0',
)
const key = fc.constantFrom('a', 'b', 'frame', 'input', '__proto__', 'toJSON', '', '"', 'x.5')

/** Compact texts without a key twice: of these nothing but numbers can change. */
const { value: jsonText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    literal,
    word.map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'false', 'null', '{}', '[]'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(key, tie('value')), { maxLength: 3, selector: ([name]) => name })
      .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
  ),
}))

async function exported(stream: Stream): Promise<string[]> {
  let text = ''
  for await (const bytes of stream.exportJsonl()) text += Buffer.from(bytes).toString()
  return text.split('\n').slice(0, -1)
}

const valueIn = (line: string, name: string): string => {
  const member = memberAt(line, name)
  return member === undefined ? '' : line.slice(member.from, member.to)
}

test('a text is read and written to the digit, and its doubles are those of JSON.parse', () => {
  const property = fc.property(jsonText, fc.boolean(), (text, spaced) => {
    const given = spaced ? `\t{ "a" : [ ${text} , -0 ]\n} ` : text
    const value = parseExact(given)
    assert.is(exactJson(value), spaced ? `{"a":[${text},-0]}` : text)
    assert.equal(JSON.parse(JSON.stringify(value)), JSON.parse(JSON.stringify(JSON.parse(given))))
  })
  fc.assert(property, settings(1000))
  const deep = `${'['.repeat(5000)}1.0${']'.repeat(5000)}`
  let inner = parseExact(deep)
  while (Array.isArray(inner)) [inner] = inner
  assert.is((inner as ExactNumber).literal, '1.0')
  assert.equal(parseExact('{"a":1.0,"2":1.0,"a":{"b":-0},"1":2}'), {
    1: 2,
    2: new ExactNumber('1.0'),
    a: { b: new ExactNumber('-0') },
  })
  assert.throws(() => parseExact('{"a":1.0'), SyntaxError)
  for (const bad of ['', '01', '1.', 'NaN', '1}', '{"a":1']) assert.throws(() => new ExactNumber(bad), TypeError)
})

test('CORE-7, CORE-8: a record with exact numbers is stored as an import of its text is', async () => {
  const property = fc.asyncProperty(fc.array(jsonText, { minLength: 1, maxLength: 5 }), async (texts) => {
    const lines = texts.map((text, n) => `{"type":"com.example/x","value":${text},"seq":${n + 1},"id":"i${n}"}`)
    const store = await openStore(memoryLocation())
    const appended = await store.createStream({ sessionId: 'appended' })
    const records = lines.map((line) => parseExact(line) as AsrRecord)
    await appended.append(records)
    assert.equal((await appended.append(records)).duplicates, lines.length)
    await store.importJsonl([`{"type":"header","asr":"1","sessionId":"imported"}\n${lines.join('\n')}\n`])
    const imported = await store.stream('imported')
    assert.equal((await exported(appended)).slice(1), lines)
    assert.equal((await exported(imported)).slice(1), lines)
    for (const [n, line] of lines.entries()) {
      assert.is(await appended.hash(`i${n}`), await imported.hash(`i${n}`))
      assert.equal(await appended.get(`i${n}`), JSON.parse(line))
      assert.is(await appended.text(`i${n}`), line)
    }
    assert.ok((await store.verify()).ok)
    await store.close()
  })
  await fc.assert(property, settings(200))
  const store = await openStore(memoryLocation())
  const stream = await store.createStream({ sessionId: 's' })
  await fails('ASR_BAD_VALUE', () => stream.append(parseExact('{"type":"x","v":[1e400]}') as AsrRecord))
  assert.is(await stream.text('nobody'), undefined)
})

test('CORE-3, CORE-7: what a patch leaves alone in a header keeps its digits, by call and by line', async () => {
  const property = fc.asyncProperty(jsonText, jsonText, async (kept, patched) => {
    const store = await openStore(memoryLocation())
    const first = `{"type":"header","asr":"1","sessionId":"s","kept":${kept},"other":${kept}}`
    const stream = (await store.importJsonl([`${first}\n`])) && (await store.stream('s'))
    const revised = await stream.reviseHeader({ title: 'x', other: null })
    assert.equal(revised.kept, JSON.parse(kept))
    assert.is(valueIn((await stream.text()) as string, 'kept'), kept)
    await stream.reviseHeader(parseExact(`{"kept":${patched}}`) as Header)
    if (patched !== 'null' && canonicalText(JSON.parse(patched)) !== canonicalText(JSON.parse(kept))) {
      assert.is(valueIn((await exported(stream))[0], 'kept'), patched)
    }
    const lines = `${first.replace('"s"', '"t"')}\n{"type":"header","title":"x","more":${patched}}\n`
    await store.importJsonl([lines])
    const [line] = await exported(await store.stream('t'))
    assert.is(valueIn(line, 'kept'), kept)
    if (patched !== 'null') assert.is(valueIn(line, 'more'), patched)
  })
  await fc.assert(property, settings(200))
})

/** Frames as they pass: text, with the frame that somebody made of it or without. */
function passing(
  frames: readonly ObservedFrame[],
  texts: ReadonlyMap<string, string>,
  parsed: boolean,
): ObservedFrame[] {
  return frames.map(({ frame, ...rest }) => {
    let text = JSON.stringify(frame)
    for (const [mark, value] of texts) text = text.replaceAll(`"${mark}"`, () => value)
    return { ...rest, text, ...(parsed && { frame: JSON.parse(text) }) }
  })
}

function hostileTalk(): Talk {
  const told = talk()
  const schema = { type: 'object', properties: { n: { type: 'string' }, word: { format: 'password' } } }
  const prompt = told.request('c2a', 'session/prompt', { sessionId: 's', prompt: [], _meta: { v: '@1' } })
  told.respond('a2c', prompt, { messageId: 'u' })
  told.call('t', { title: 'one', rawInput: '@1', _meta: { v: '@2' }, status: 'in_progress' })
  told.call('t', { rawOutput: '@2', _meta: { w: '@1' }, status: 'completed' })
  told.update({ sessionUpdate: '_acme/odd', value: ['@1', { b: '@2' }], _meta: { env: { T: 1 }, v: '@2' } })
  const question = { sessionId: 's', mode: 'form', message: 'Q', requestedSchema: schema }
  told.respond('c2a', told.request('a2c', 'elicitation/create', question), {
    action: 'accept',
    content: { n: '@1', word: 'hunter2' },
  })
  told.state('idle').call('t', { title: 'two' })
  return told.state('idle').resume((again) => again.call('t', { title: 'three', rawInput: '@1' }).state('idle'))
}

test('CORE-7, ASR-704: what passes as text is recorded to the digit, live, revised later, and after a restart', async () => {
  const property = fc.asyncProperty(jsonText, jsonText, fc.boolean(), async (one, two, parsed) => {
    // Null clears a field, and configuration is left out.
    fc.pre(one !== 'null' && two !== 'null')
    const texts = new Map([
      ['@1', one],
      ['@2', two],
    ])
    const { location, problems, store: first } = await recordAll(passing(hostileTalk().frames, texts, parsed))
    await first.close()
    const late = new Talk()
      .initialize()
      .resume(() => {})
      .call('t', { title: 'four', status: 'failed' })
      .state('idle')
    const { store, problems: later } = await recordAll(passing(late.frames, texts, parsed), {}, location)
    assert.equal([...problems, ...later], [])
    const lines = (await exported(await store.stream('s'))).slice(1)
    const of = (type: string): string[] => lines.filter((line) => JSON.parse(line).type === type)
    assert.is(valueIn(valueIn(of('message')[0], '_meta'), 'v'), one)
    assert.is(of('tool_call').length, 4)
    for (const line of of('tool_call')) {
      assert.is(valueIn(line, 'input'), one)
      assert.is(valueIn(valueIn(line, '_meta'), 'v'), two)
    }
    assert.is(of('tool_result').length, 2)
    for (const line of of('tool_result')) assert.is(valueIn(line, 'raw'), two)
    const [odd] = of('org.agent-session.acp/_acme/odd')
    assert.is(valueIn(valueIn(valueIn(odd, 'native'), 'record'), 'value'), `[${one},{"b":${two}}]`)
    assert.is(valueIn(valueIn(of('input_request')[0], 'response'), 'n'), one)
    const [native] = (await location.log.list('native')).filter(({ name }) => !name.includes('connections'))
    const name = native.name.startsWith('native/') ? native.name : `native/${native.name}`
    const kept = Buffer.from(await location.log.read(name, 0, (await location.log.size(name)) ?? 0)).toString()
    assert.ok(kept.includes(`"rawInput":${one}`) && kept.includes(`"rawOutput":${two}`))
    assert.ok(kept.includes(`"content":{"n":${one}}`) && kept.includes(`"value":[${one},{"b":${two}}]`))
  })
  await fc.assert(property, settings(100))
})

test('CORE-7, CORE-27: a fork holds copies: the text of each record with `copiedFrom` in it, and so its hash', async () => {
  const odd = fc.constantFrom(
    '{"10":1,"2":1.0}',
    '{"a":1,"a":[1]}',
    '"\\u0061\\uD83D"',
    ' { "a" : -0 } ',
    '9007199254740993',
  )
  const value = fc.oneof(jsonText, odd)
  const copiedFrom = fc.option(value, { nil: undefined })
  const property = fc.asyncProperty(
    fc.array(fc.tuple(value, copiedFrom), { maxLength: 4 }),
    value,
    async (given, held) => {
      const store = await openStore(memoryLocation())
      const workspace = `{"v":${held},"roots":[{"id":"root0","path":"/w","v":${held}}]}`
      const header = `{"type":"header","lineage":${held},"asr":"1","sessionId":"s","v":${held},"workspace":${workspace}}`
      const lines = given.map(
        ([text, from], n) =>
          `{"type":"message","v":${text},${from === undefined ? '' : `"copiedFrom":${from},`}"id":"i${n}"}`,
      )
      await store.importJsonl([[header, ...lines, ''].join('\n')])
      const parent = await store.stream('s')
      const { sessionId } = await withClient(store, ({ agent }) =>
        agent.request(asked.session.fork, { sessionId: 's', cwd: '/w', additionalDirectories: ['/more'] }),
      )
      const fork = await store.stream(sessionId)
      const [first, ...copies] = await exported(fork)
      const [, ...originals] = await exported(parent)
      for (const [n, original] of originals.entries()) {
        const from = { session: 's', id: `i${n}`, proof: 'native_id' }
        assert.is(copies[n], withMember(original, 'copiedFrom', JSON.stringify(from)))
        assert.is(
          await fork.hash(`i${n}`),
          hex64(hashText(canonicalText({ ...JSON.parse(original), copiedFrom: from }))),
        )
      }
      assert.is(copies.length, originals.length)
      assert.is(valueIn(first, 'v'), held)
      assert.is(valueIn(valueIn(first, 'workspace'), 'v'), held)
      const added = '{"id":"root1","path":"/more"}'
      assert.is(valueIn(valueIn(first, 'workspace'), 'roots'), `[{"id":"root0","path":"/w","v":${held}},${added}]`)
      assert.ok((await store.verify()).ok)
    },
  )
  await fc.assert(property, settings(100))
})

test.run()
