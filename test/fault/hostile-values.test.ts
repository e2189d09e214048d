/**
 * Battery 29 to 33: values that callers give and that do not fit: refused with a code before anything is written, or given back
 * exactly. Nothing in between.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { NESTING_MAX, RECORD_BYTES_MAX } from '../../src/base/limits.js'
import { type AsrRecord, isAsrError } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { header } from '../support/records.js'
import { openMemory, reopened } from '../support/stores.js'
import { cases, figure, type Random } from './battery.js'

/** The value's text, minus zero told apart from zero. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (Object.is(part, -0) ? 'minus zero' : part))
}

async function streamAlone() {
  const memory = await openMemory()
  return { ...memory, stream: await memory.store.createStream(header('s')) }
}

/** Taken and given back exactly, open and reopened; or refused, with the stream as it was. */
async function exactOrRefused(value: unknown, field = 'value'): Promise<'exact' | string> {
  const memory = await streamAlone()
  const record = { type: 'x', id: 'r', [field]: value } as AsrRecord
  let before: string
  try {
    before = JSON.stringify(record)
  } catch {
    before = 'no JSON'
  }
  const error = await memory.stream.append(record).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error === undefined) {
    for (const open of [() => memory, () => reopened(memory)]) {
      const found = await (await open()).stream.get('r')
      assert.is(JSON.stringify({ ...found, seq: undefined }), before)
      if (typeof value !== 'object') assert.ok(Object.is(found![field], value), String(value))
    }
    return 'exact'
  }
  if (!isAsrError(error)) throw error
  assert.is(memory.stream.length, 0)
  assert.is((await reopened(memory)).stream.length, 0)
  return error.code
}

const shared = new SharedArrayBuffer(8)
const cyclic: { self?: unknown } = {}
cyclic.self = cyclic
const revoked = Proxy.revocable({}, {})
revoked.revoke()

/** Not JSON, or not the same once it was JSON. */
const NO_JSON: [string, unknown][] = [
  ['undefined', undefined],
  ['undefined in a list', [1, undefined]],
  ['a hole', Object.assign(new Array(3), { 0: 1, 2: 2 })],
  ['NaN', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['minus infinity', Number.NEGATIVE_INFINITY],
  ['a bigint', 2n ** 63n],
  ['a larger bigint', 2n ** 70n],
  ['a symbol', Symbol('x')],
  ['a function', () => 1],
  ['an object with a method', { f: () => 1 }],
  ['a date', new Date(0)],
  ['a map', new Map([['a', 1]])],
  ['a set', new Set([1])],
  ['a regular expression', /x/],
  ['an error', new Error('x')],
  ['bytes', Uint8Array.of(1)],
  ['a buffer', Buffer.from('x')],
  ['shared bytes', new Uint8Array(shared)],
  ['a boxed number', Object(1)],
  ['a boxed text', Object('x')],
  ['a promise', Promise.resolve(1)],
  [
    'a class’s object',
    new (class Point {
      x = 1
    })(),
  ],
  ['a cycle', cyclic],
  ['a revoked proxy', revoked.proxy],
  [
    'a getter that throws',
    {
      get x() {
        throw new Error('no')
      },
    },
  ],
  ['a symbol as key', { [Symbol('k')]: 1 }],
]

for (const [name, value] of NO_JSON) {
  test(`CORE-7: ${name} is refused, and nothing is written`, async () => {
    const outcome = await exactOrRefused(value).catch((error: unknown) => error as Error)
    if (outcome instanceof Error) throw outcome
    const isIgnored = name === 'a symbol as key' && outcome === 'exact' // it is no part of the JSON value
    assert.ok(isIgnored || outcome === 'ASR_BAD_VALUE', `${name}: ${outcome}`)
  })
}

const EXACT: [string, unknown][] = [
  ['minus zero', -0],
  ['the least double', Number.MIN_VALUE],
  ['the largest double', Number.MAX_VALUE],
  ['2^53 - 1', 2 ** 53 - 1],
  ['2^53', 2 ** 53],
  ['2^53 + 2', 2 ** 53 + 2],
  ['0.1', 0.1],
  ['1e21', 1e21],
  ['-2^31', -(2 ** 31)],
  ['2^32', 2 ** 32],
  ['2^63', 2 ** 63],
  ['a lone high surrogate', 'a\ud83d'],
  ['a lone low surrogate', '\udc00b'],
  ['a reversed pair', '\udc00\ud83d'],
  ['the replacement character', '\ufffd'],
  ['U+2028', '\u2028\u2029'],
  ['NUL', 'a\0b'],
  ['all control characters', Array.from({ length: 32 }, (_, i) => String.fromCharCode(i)).join('')],
  ['astral characters', '𝒳😀'],
  ['a byte order mark', '\ufeffx'],
  ['an empty text', ''],
  ['null', null],
  ['true', true],
  ['an empty list', []],
  ['an empty object', {}],
  ['a list of all', [1, 'a', null, true, [], {}, -0.5]],
]

for (const [name, value] of EXACT) {
  test(`CORE-7: ${name} comes back as it went in`, async () => assert.is(await exactOrRefused(value), 'exact'))
}

test('CORE-7: keys that mean something to the language are keys like others, and touch no prototype', async () => {
  const keys = [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'valueOf',
    'toJSON',
    'then',
    '',
    '0',
    '10',
    '01',
    '-1',
    '\0',
    'a\0b',
    'x'.repeat(65_536),
    '\ud800',
    'é',
    'é'.normalize('NFD'),
  ]
  await cases('keys', keys.length * 3, async (n) => {
    const key = keys[Math.floor(n / 3)]
    const inner = JSON.parse(`{${JSON.stringify(key)}:{"polluted":1}}`) as object
    const value = [inner, [inner, inner], JSON.parse(`{"z":1,${JSON.stringify(key)}:2,"a":3}`)][n % 3]
    const outcome = await exactOrRefused(value)
    assert.is(outcome, 'exact', JSON.stringify(key).slice(0, 40))
    assert.is(({} as { polluted?: unknown }).polluted, undefined)
  })
})

test('CORE-1, CORE-4: ids that look alike are different ids; ill-formed ones are refused', async () => {
  const ids = [
    'é',
    'é'.normalize('NFD'),
    'a',
    'a\0',
    'a\0b',
    'ab',
    'A',
    ' a',
    'a ',
    '\ufffd',
    '😀',
    '__proto__',
    'constructor',
    '/',
    '..',
    'r1',
    'r01',
    '1',
  ]
  const memory = await streamAlone()
  for (const id of ids) await memory.stream.append({ type: 'x', id, own: id })
  for (const open of [() => memory, () => reopened(memory)]) {
    const { stream } = await open()
    for (const id of ids) assert.is((await stream.get(id))?.own, id)
    assert.equal(
      (await collect(stream.records())).map(({ id }) => id),
      ids,
    )
  }
  for (const id of ['\ud800', 'a\udc00', '\udc00\ud800'])
    await fails('ASR_BAD_VALUE', async () => (await streamAlone()).stream.append({ type: 'x', id }))
})

test('CORE-1: session ids that look alike are different streams', async () => {
  const ids = [
    'a',
    'ab',
    'a\0b',
    'A',
    'é',
    'é'.normalize('NFD'),
    '..',
    '/',
    'CON',
    'a/b',
    ' ',
    '\ufffd',
    'x'.repeat(4096),
    '__proto__',
  ]
  const { location, store } = await openMemory()
  for (const id of ids) await (await store.createStream(header(id))).append({ type: 'x', own: id })
  await store.close()
  const again = (await openMemory(location)).store
  for (const id of ids) assert.is((await (await again.stream(id)).get('r1'))?.own, id)
  assert.is((await collect(again.streams())).length, ids.length)
})

test('CORE-7: nesting up to the limit comes back, beyond it is refused, at any depth without a stack overflow', async () => {
  const nested = (depth: number, open: string, close: string, core: string): unknown =>
    JSON.parse(open.repeat(depth) + core + close.repeat(depth))
  const { stream } = await streamAlone()
  for (const [open, close, core] of [
    ['[', ']', '1'],
    ['{"a":', '}', '1'],
  ]) {
    const at = nested(NESTING_MAX, open, close, core)
    const { first } = await stream.append({ type: 'x', at })
    assert.equal((await stream.get(`r${first}`))?.at, at)
    for (const depth of [NESTING_MAX + 1, 1_000, 5_000, 7_000])
      await fails('ASR_TOO_DEEP', () => stream.append({ type: 'x', at: nested(depth, open, close, core) }))
  }
  let deep: unknown = 1
  for (let i = 0; i < 100_000; i++) deep = [deep]
  await fails('ASR_TOO_DEEP', () => stream.append({ type: 'x', deep }))
  assert.is(stream.length, 2)
})

test('CORE-7: a record up to the limit is taken, one byte more is refused before anything is written', async () => {
  const memory = await streamAlone()
  const rest = '{"id":"r","seq":1,"text":"","type":"x"}'.length
  const largest = 'a'.repeat(RECORD_BYTES_MAX - rest)
  for (const more of ['a', ...[1, 3].map((times) => 'a'.repeat(times * RECORD_BYTES_MAX))])
    await fails('ASR_TOO_LARGE', () => memory.stream.append({ type: 'x', id: 'r', text: largest + more }))
  assert.is(memory.stream.length, 0)
  await memory.stream.append({ type: 'x', id: 'r', text: largest })
  await memory.stream.append({ type: 'x', id: 'empty', text: '' })
  const { stream } = await reopened(memory)
  assert.is((await stream.get('empty'))?.text, '')
  assert.is((await stream.get('r'))?.text.length, largest.length)
  const size = memory.location.log.list('streams').reduce((sum, file) => sum + file.size, 0)
  assert.ok(size < RECORD_BYTES_MAX, 'what repeats is deflated')
})

test('what the caller changes after its append was acknowledged changes nothing that is stored', async () => {
  const memory = await streamAlone()
  const given = { type: 'x', id: 'r', list: [1, 2], inner: { a: 1 } }
  await memory.stream.append(given)
  given.list.push(3)
  given.inner.a = 2
  const found = (await memory.stream.get('r'))!
  assert.equal([found.list, found.inner], [[1, 2], { a: 1 }])
  found.list.push(4)
  assert.equal((await memory.stream.get('r'))?.list, [1, 2])
  assert.equal((await (await reopened(memory)).stream.get('r'))?.list, [1, 2])
})

/** Any JSON value, with a liking for what breaks. */
function anyValue(random: Random, depth: number): unknown {
  switch (random.below(depth > 0 ? 9 : 6)) {
    case 0:
      return random.pick([0, -0, 1, -1, 0.1, 1e300, 5e-324, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53), random.next()])
    case 1:
      return random.pick([null, true, false])
    case 2:
      return String.fromCharCode(...Array.from({ length: random.below(5) }, () => random.below(65_536)))
    case 3:
      return random.pick(['', '__proto__', '\ufffd', 'a'.repeat(random.below(300)), '\u2028'])
    case 4:
    case 5:
      return 'text'
    case 6:
      return Array.from({ length: random.below(6) }, () => anyValue(random, depth - 1))
    default: {
      const value = Object.create(random.chance(0.1) ? null : Object.prototype) as { [key: string]: unknown }
      for (let i = random.below(6); i > 0; i--) {
        const key = random.pick(['a', 'b', '__proto__', 'constructor', '', '1', `k${random.below(9)}`, '\ud800'])
        Object.defineProperty(value, key, {
          value: anyValue(random, depth - 1),
          enumerable: true,
          writable: true,
          configurable: true,
        })
      }
      return value
    }
  }
}

test('CORE-7: any JSON value comes back byte for byte, open and reopened', async () => {
  const memory = await streamAlone()
  const sent: string[] = []
  await cases('values', figure(5_000, 500_000), async (_, random) => {
    const record = { type: 'x', value: anyValue(random, 4) }
    const text = textOf(record.value)
    const { first } = await memory.stream.append(record)
    sent.push(text)
    assert.is(textOf((await memory.stream.get(`r${first}`))?.value), text)
  })
  const { stream } = await reopened(memory)
  assert.is(stream.length, sent.length)
  let at = 0
  for await (const { value } of stream.records()) assert.is(textOf(value), sent[at++])
})

test.run()
