/**
 * Arguments and options of every wrong kind, for every public call: a TypeError that names them, or a code. The stream goes
 * on, and what was acknowledged is there, whatever becomes of its index.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isAsrError, memoryLocation, openStore, type Store, type Stream } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { header, jsonl, message } from '../support/records.js'
import { streamOf } from '../support/stores.js'
import { Tally } from './battery.js'
import { sameWithoutIndex } from './without-index.js'

const revoked = Proxy.revocable({}, {})
revoked.revoke()

/** A value of each kind, by its name. */
const VALUES: { [name: string]: unknown } = {
  null: null,
  true: true,
  false: false,
  zero: 0,
  'minus zero': -0,
  one: 1,
  'minus one': -1,
  'a fraction': 1.5,
  NaN: Number.NaN,
  infinity: Number.POSITIVE_INFINITY,
  'minus infinity': Number.NEGATIVE_INFINITY,
  '2^53': 2 ** 53,
  'a bigint': 1n,
  'an empty string': '',
  'a string': 'x',
  'a head’s name': 'primary',
  'a number as a string': '1',
  'a lone surrogate': '\ud800',
  'a key of prototypes': '__proto__',
  'an empty list': [],
  'a list of strings': ['x'],
  'a list of numbers': [1],
  'an object': {},
  'an object of strings': { head: 'x' },
  'a function': () => 1,
  'a symbol': Symbol('x'),
  'a date': new Date(0),
  'a map': new Map(),
  'a boxed string': Object('x'),
  'a boxed number': Object(1),
  bytes: Uint8Array.of(1),
  'a promise': Promise.resolve('x'),
  'a proxy': new Proxy({}, {}),
  'a revoked proxy': revoked.proxy,
  'an object that is no signal': { aborted: false },
  'an error': new Error('x'),
}

/** Whether a value is of a right kind: then what the call does with it is its own affair. */
type Right = (value: unknown) => boolean

const text: Right = (value) => typeof value === 'string'
const flag: Right = (value) => typeof value === 'boolean'
const callback: Right = (value) => typeof value === 'function'
const count: Right = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const bound: Right = (value) => typeof value === 'number' && Math.trunc(value) === value
const texts: Right = (value) => value === VALUES['an empty list'] || value === VALUES['a list of strings']
const object: Right = (value) =>
  value !== null && typeof value === 'object' && value !== revoked.proxy && !Array.isArray(value)
const chunks: Right = (value) =>
  text(value) || texts(value) || value === VALUES['a map'] || value === VALUES['a boxed string']
const nothing: Right = () => false
/** Data: a code says what is wrong with it. */
const data: Right = () => true

// biome-ignore lint/suspicious/noExplicitAny: what is tried is of every type but the right one
type Call = (stream: Stream, given: any, store: Store) => unknown

interface Tried {
  call: Call
  options: { [name: string]: Right }
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item
  return undefined
}

async function openAnew(options: object): Promise<void> {
  await (await openStore(memoryLocation(), options)).close()
}

const file = jsonl(header('imported'), message('m'))
const at = { head: text, at: text }
const long = { sessionId: text, onProgress: callback, signal: nothing }

const OPTIONS: { [name: string]: Tried } = {
  openStore: {
    call: (_, options) => openAnew(options),
    options: { create: flag, readOnly: flag, acceptLoss: flag, durability: nothing },
  },
  importJsonl: {
    call: (_, options, store) => store.importJsonl([file], options),
    options: { ...long, strict: flag },
  },
  verify: { call: (_, options, store) => store.verify(options), options: long },
  rebuildIndex: { call: (_, options, store) => store.rebuildIndex(options), options: long },
  append: {
    call: (stream, options) => stream.append(message(`m${stream.length}`), options),
    options: { expected: count, head: text },
  },
  records: {
    call: (stream, options) => collect(stream.records(options)),
    options: { from: bound, to: bound, reverse: flag, types: texts },
  },
  follow: {
    call: (stream, options) => firstOf(stream.follow(options)),
    options: { after: data, signal: nothing },
  },
  entity: {
    call: (stream, options) => stream.entity('message', 'm', options),
    options: { ...at, anywhere: flag },
  },
  activePath: { call: (stream, options) => stream.activePath(options), options: at },
  contextView: { call: (stream, options) => stream.contextView(options), options: at },
  exportJsonl: { call: (stream, options) => collect(stream.exportJsonl(options)), options: { salvage: flag } },
}

let made = 0

const ARGUMENTS: { [name: string]: [Right, Call] } = {
  'openStore: location': [text, (_, value) => (text(value) ? undefined : openStore(value))],
  'createStream: header': [data, (_, value, store) => store.createStream(value)],
  'createStream: sessionId': [data, (_, value, store) => store.createStream({ sessionId: value })],
  ...Object.fromEntries(
    ['type', 'asr', 'agent', 'title'].map((field): [string, [Right, Call]] => [
      `createStream: ${field}`,
      [data, (_, value, store) => store.createStream({ sessionId: `of a ${field} ${made++}`, [field]: value })],
    ]),
  ),
  'stream: sessionId': [text, (_, value, store) => store.stream(value)],
  'deleteStream: sessionId': [text, (_, value, store) => store.deleteStream(value)],
  'importJsonl: chunks': [chunks, (_, value, store) => store.importJsonl(value, { sessionId: 'of chunks' })],
  'append: records': [data, (stream, value) => stream.append(value)],
  'append: one of its records': [data, (stream, value) => stream.append([message(`n${stream.length}`), value])],
  ...Object.fromEntries(
    ['type', 'seq', 'id', 'parentId', 'supersedes', 'head', 'recordId', 'targetId', 'ts', 'name'].flatMap((field) =>
      ['x', 'head', 'tombstone', 'plan'].map((type): [string, [Right, Call]] => [
        `append: ${field} of a ${type}`,
        [data, (stream, value) => stream.append({ type, name: 'x', recordId: 'm0', targetId: 'm0', [field]: value })],
      ]),
    ),
  ),
  'get: recordId': [text, (stream, value) => stream.get(value)],
  'text: recordId': [text, (stream, value) => stream.text(value)],
  'position: recordId': [text, (stream, value) => stream.position(value)],
  'hash: recordId': [text, (stream, value) => stream.hash(value)],
  'entity: type': [text, (stream, value) => stream.entity(value, 'm')],
  'entity: entityId': [text, (stream, value) => stream.entity('message', value)],
  'setHead: name': [text, (stream, value) => stream.setHead(value, 'm0')],
  'setHead: recordId': [(value) => text(value) || value === null, (stream, value) => stream.setHead('x', value)],
  'reviseHeader: patch': [object, (stream, value) => stream.reviseHeader(value)],
  'reviseHeader: a field of it': [data, (stream, value) => stream.reviseHeader({ title: value })],
}

const tally = new Tally('arguments and options of every kind')

/** The call answers, or says with a code or by the argument's name what is wrong. */
async function judged(name: string, value: unknown, right: boolean, call: () => unknown): Promise<void> {
  tally.add('calls')
  let error: unknown
  try {
    await call()
  } catch (thrown) {
    error = thrown
  }
  const told = `${name}: ${Object.keys(VALUES).find((key) => VALUES[key] === value)}: ${String(error)}`
  if (!right) {
    tally.add('TypeErrors')
    assert.ok(error instanceof TypeError && error.message.includes(`\`${name}\``), told)
    const [, wanted, given] = /has to be (.+), not (.+)$/.exec(error.message) ?? []
    assert.ok(wanted === undefined || wanted !== given, told)
  } else if (error !== undefined) {
    tally.add('codes')
    assert.ok(isAsrError(error), told)
  } else {
    tally.add('answers')
  }
}

/** Goes on after the calls, and finds all that was acknowledged without the index. */
async function allTried(call: (stream: Stream, store: Store) => Promise<void>): Promise<void> {
  const { stream, store, location } = await streamOf(message('m0'), message('m1'))
  await call(stream, store)
  const { last } = await stream.append(message('after all'))
  assert.is(last, stream.length)
  const again = await sameWithoutIndex(location, store)
  assert.is((await (await again.stream('s')).get('after all'))?.id, 'after all')
  await again.close()
}

for (const [name, { call, options }] of Object.entries(OPTIONS)) {
  test(`CORE-4, CORE-10: ${name} with options of every kind`, () =>
    allTried(async (stream, store) => {
      for (const value of Object.values(VALUES)) {
        const hasMethods = value === VALUES['a boxed string'] || value === VALUES.bytes // `at` is one
        if (!hasMethods) await judged('options', value, object(value), () => call(stream, value, store))
        for (const [option, right] of Object.entries(options))
          await judged(option, value, right(value), () => call(stream, { [option]: value }, store))
      }
      const thrower = Object.defineProperty({}, Object.keys(options)[0], {
        get: () => {
          throw new Error('no')
        },
      })
      await judged(Object.keys(options)[0], thrower, false, () => call(stream, thrower, store))
    }))
}

for (const [name, [right, call]] of Object.entries(ARGUMENTS)) {
  test(`CORE-4, CORE-10: ${name}, of every kind`, () =>
    allTried(async (stream, store) => {
      for (const value of Object.values(VALUES)) {
        const argument = name.slice(name.indexOf(': ') + 2)
        await judged(argument, value, right(value), () => call(stream, value, store))
      }
    }))
}

test('CORE-21: options are those of the call, whatever their owner makes of them later', async () => {
  const location = memoryLocation()
  const store = await openStore(location, { durability: 'disk' }) // an append is looked at later than it is made
  const stream = await store.createStream(header())
  const options: { head?: unknown; expected?: unknown } = { head: 'x', expected: 0 }
  const appended = stream.append(message('a'), options as never)
  Object.assign(options, { head: null, expected: 7 })
  assert.is((await appended).appended, 1)
  assert.is((await stream.get('a'))?.head, 'x')
  await (await sameWithoutIndex(location, store)).close()
})

test.after(() => tally.print())
test.run()
