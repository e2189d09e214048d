/**
 * Records that are no plain objects, or are changed while they are appended: each is stored as it was at the call, or refused
 * with a code. Never an error of the language, never what it became later.
 */
import { createContext, runInContext } from 'node:vm'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { NESTING_MAX, RECORD_BYTES_MAX } from '../../src/base/limits.js'
import { type AsrRecord, ExactNumber, isAsrError, memoryLocation, openStore, type Stream } from '../../src/main.js'
import { header, message } from '../support/records.js'
import { Tally } from './battery.js'
import { sameWithoutIndex } from './without-index.js'

type Fields = { [field: string]: unknown }

/** A value to be given, what of it is to be stored, and how its owner changes it behind the call. */
interface Given {
  value: object
  /** undefined: it is refused */
  stored?: Fields
  code?: string
  change?: () => void
}

const realm = createContext({})
const elsewhere = (code: string) => runInContext(`(${code})`, realm) as Fields & { list: unknown[]; inner: Fields }

const BASE = { type: 'x', list: [1, { a: 2 }], inner: { b: [3] } }
const base = () => structuredClone(BASE) as Fields & { list: unknown[]; inner: Fields }

function spoil(value: Fields & { list: unknown[]; inner: Fields }): () => void {
  return () => {
    ;(value.list[1] as Fields).a = () => 'changed'
    value.list.push(Symbol('changed'))
    ;(value.inner.b as unknown[]).push(undefined)
    value.inner.c = 'changed'
    Object.setPrototypeOf(value.inner, null)
    value.type = 5
    value.head = null
  }
}

/** A value that is read by a proxy which answers otherwise from the second time on. */
function fickle<T extends object>(target: T, later: unknown): T {
  const asked = new Set<PropertyKey>()
  return new Proxy(target, {
    get(object, key) {
      const isFirst = !asked.has(key)
      asked.add(key)
      return isFirst || key === 'length' ? Reflect.get(object, key) : later
    },
  })
}

function throwing(what: unknown, times = Number.POSITIVE_INFINITY): object {
  let left = times
  return {
    type: 'x',
    get a() {
      if (left-- > 0) throw what
      return 1
    },
  }
}

/** Levels of one container in another, and the innermost. */
function deep(levels: number, isList: boolean): { outer: object; innermost: Fields } {
  const innermost: Fields = { a: 1 }
  let outer: object = innermost
  for (let level = 1; level < levels; level++) outer = isList ? [outer] : { v: outer }
  return { outer, innermost }
}

/** Each further step of it is another proxy. */
function endless(target: object): object {
  return new Proxy(target, {
    get: (_, key, proxy) => (key === 'a' || key === '0' ? endless(target) : Reflect.get(target, key, proxy)),
  })
}

class Point {
  type = 'x'
  x = 1
}

class Pointed extends Point {
  toJSON() {
    return { type: 'x', told: 'otherwise' }
  }
}

class Bare extends (null as unknown as ObjectConstructor) {
  static made(): object {
    return Object.assign(Object.create(Bare.prototype) as object, { type: 'x' })
  }
}

class List extends Array<unknown> {}

const withCode = (code: string, value: object): Given => ({ value, code })
const refused = (value: object, change?: () => void): Given => ({ value, code: 'ASR_BAD_VALUE', change })

const KINDS: { [name: string]: () => Given } = {
  'plain, and changed': () => {
    const value = base()
    return { value, stored: BASE, change: spoil(value) }
  },
  'of another realm, and changed': () => {
    const value = elsewhere(JSON.stringify(BASE))
    return { value, stored: BASE, change: spoil(value) }
  },
  'an inner object of another realm, changed': () => {
    const inner = elsewhere('{ b: [3] }')
    return { value: { ...base(), inner }, stored: BASE, change: () => Object.assign(inner, { b: null, c: 1 }) }
  },
  'a list of another realm, changed': () => {
    const list = elsewhere('[1, { a: 2 }]') as unknown as unknown[]
    return { value: { ...base(), list }, stored: BASE, change: () => list.splice(0) }
  },
  'without a prototype, and changed': () => {
    const value = Object.assign(Object.create(null), base())
    return { value, stored: BASE, change: spoil(value) }
  },
  'without a prototype, of another realm': () => ({
    value: elsewhere(`Object.assign(Object.create(null), ${JSON.stringify(BASE)})`),
    stored: BASE,
  }),
  frozen: () => ({
    value: Object.freeze({ ...base(), inner: Object.freeze({ b: Object.freeze([3]) }) }),
    stored: BASE,
  }),
  'a proxy, its target changed': () => {
    const value = base()
    return { value: new Proxy(value, {}), stored: BASE, change: spoil(value) }
  },
  'a proxy that answers otherwise later': () => ({ value: fickle(base(), 'later'), stored: BASE }),
  'an inner proxy that answers otherwise later': () => ({
    value: { ...base(), inner: fickle(base().inner, 'later') },
    stored: BASE,
  }),
  'a proxy of a list that answers otherwise later': () => ({
    value: { ...base(), list: fickle(base().list, 'later') },
    stored: BASE,
  }),
  'a proxy that is revoked behind the call': () => {
    const { proxy, revoke } = Proxy.revocable(base(), {})
    return { value: proxy, stored: BASE, change: revoke }
  },
  'a proxy that was revoked': () => {
    const { proxy, revoke } = Proxy.revocable(base(), {})
    revoke()
    return refused(proxy)
  },
  'an inner proxy that was revoked': () => {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    return refused({ type: 'x', list: proxy })
  },
  'a proxy without end': () => withCode('ASR_TOO_DEEP', { type: 'x', value: endless({ a: 1 }) }),
  'a proxy of a list without end': () => withCode('ASR_TOO_DEEP', { type: 'x', value: endless([1]) }),
  'a proxy that hides `__proto__`': () => {
    const value = JSON.parse('{"type":"x","__proto__":{"a":1}}') as object
    const has = Object.getOwnPropertyDescriptor
    let asked = 0
    return refused(
      new Proxy(value, {
        getOwnPropertyDescriptor: (target, key) =>
          key === '__proto__' && asked++ === 0 ? undefined : has(target, key),
      }),
    )
  },
  'a getter that counts': () => {
    let count = 0
    const value = {
      type: 'x',
      get count() {
        return ++count
      },
    }
    return { value, stored: { type: 'x', count: 1 } }
  },
  'a getter that gives what is changed later': () => {
    const inner: Fields = { a: 1 }
    const value = {
      type: 'x',
      get inner() {
        return inner
      },
    }
    return { value, stored: { type: 'x', inner: { a: 1 } }, change: () => Object.assign(inner, { a: null, b: 1 }) }
  },
  'a getter that throws': () => refused(throwing(new Error('no'))),
  'a getter that throws once': () => refused(throwing(new Error('no'), 1)),
  'a getter that throws nothing': () => refused(throwing(undefined, 1)),
  'a getter that throws a RangeError once': () => refused(throwing(new RangeError('no'), 1)),
  'a getter that throws what looks like ours, once': () =>
    refused(throwing(Object.assign(new Error('no'), { name: 'AsrError', code: 'ASR_IO' }), 1)),
  'a class’s': () => refused(new Point()),
  'a class’s that becomes plain behind the call': () => {
    const value = new Point()
    return refused(value, () => Object.setPrototypeOf(value, Object.prototype))
  },
  'a class’s inside that becomes plain behind the call': () => {
    const value = new Point()
    return refused({ type: 'x', value }, () => Object.setPrototypeOf(value, Object.prototype))
  },
  'a class’s of another realm': () => refused(elsewhere('new (class { type = "x" })')),
  'a class’s that extends nothing': () => refused(Bare.made()),
  'one that inherits data': () => refused(Object.assign(Object.create({ a: 1 }) as object, { type: 'x' })),
  'one that inherits data from what has no prototype': () =>
    refused(Object.assign(Object.create(Object.assign(Object.create(null), { a: 1 })) as object, { type: 'x' })),
  'with a method toJSON': () => refused({ type: 'x', toJSON: () => 1 }),
  'with an inherited toJSON': () => refused(new Pointed()),
  'with toJSON that is data': () => ({ value: { type: 'x', toJSON: 'data' }, stored: { type: 'x', toJSON: 'data' } }),
  'an exact number': () => ({ value: { type: 'x', n: new ExactNumber('1.50') }, stored: { type: 'x', n: 1.5 } }),
  'an exact number beyond the doubles': () => refused({ type: 'x', n: new ExactNumber('1e400') }),
  'an exact number behind a proxy that answers otherwise later': () => ({
    value: { type: 'x', n: fickle(Object.create(new ExactNumber('2.0')), '[') },
  }),
  'a date': () => refused({ type: 'x', value: new Date(0) }),
  'a date of another realm': () => refused({ type: 'x', value: elsewhere('new Date(0)') }),
  'a map of another realm': () => refused({ type: 'x', value: elsewhere('new Map()') }),
  'a symbol as key': () => refused({ type: 'x', [Symbol('k')]: 1 }),
  'a symbol as a key inside': () => refused({ type: 'x', inner: { [Symbol('k')]: 1 } }),
  'what is not enumerable': () => ({
    value: Object.defineProperty({ type: 'x' }, 'hidden', { value: () => 1, enumerable: false }),
    stored: { type: 'x' },
  }),
  'a list of a class of lists': () => ({
    value: { type: 'x', list: List.from([1, 2]) },
    stored: { type: 'x', list: [1, 2] },
  }),
  'a match, whose items are its value': () => ({
    value: { type: 'x', list: 'abc'.match(/b/) },
    stored: { type: 'x', list: ['b'] },
  }),
  'a list with holes': () => refused({ type: 'x', list: Object.assign(new Array(3), { 0: 1, 2: 2 }) }),
  'a list of nothing but holes': () => refused({ type: 'x', list: new Array(1_000_000) }),
  'the longest list, of holes': () => withCode('ASR_TOO_LARGE', { type: 'x', list: new Array(2 ** 32 - 1) }),
  ...Object.fromEntries(
    [-1, 1.5, Number.NaN, '3', 'x', {}, null, Symbol('x'), 2n].map((length) => [
      `a list that says ${String(length)} is its length`,
      () => ({
        value: {
          type: 'x',
          list: new Proxy([1, 2, 3], { get: (o, k) => (k === 'length' ? length : Reflect.get(o, k)) }),
        },
      }),
    ]),
  ),
  ...Object.fromEntries(
    [2, 3, 100, 101, 102, NESTING_MAX - 1, NESTING_MAX].flatMap((levels) =>
      [true, false].map((isList) => [
        `${levels} levels of ${isList ? 'lists' : 'objects'}, the innermost changed`,
        () => {
          const { outer, innermost } = deep(levels, isList)
          const stored = { type: 'x', value: structuredClone(outer) }
          return {
            value: { type: 'x', value: outer },
            stored,
            change: () => Object.assign(innermost, { a: null, b: 1 }),
          }
        },
      ]),
    ),
  ),
  'more levels than there may be': () =>
    withCode('ASR_TOO_DEEP', { type: 'x', value: deep(NESTING_MAX + 1, true).outer }),
}

const tally = new Tally('records of every kind, as they were at the call')

/** As the record itself, one of a list, a list itself, and inside of a record: what is to be stored of each. */
const PLACES: { [name: string]: (value: object) => [given: unknown, stored: (stored: Fields) => Fields[]] } = {
  'as the record': (value) => [value, (stored) => [stored]],
  'among records': (value) => [[message('before'), value], (stored) => [message('before'), stored]],
  'in a record': (value) => [{ type: 'y', field: value }, (stored) => [{ type: 'y', field: stored }]],
  'in a list in a record': (value) => [
    { type: 'y', field: [0, value] },
    (stored) => [{ type: 'y', field: [0, stored] }],
  ],
}

function withoutAssigned(record: Fields): Fields {
  const isAssigned = (key: string, value: unknown) => key === 'seq' || (key === 'id' && String(value).startsWith('r'))
  return Object.fromEntries(Object.entries(record).filter(([key, value]) => !isAssigned(key, value)))
}

/** A stream whose appends are looked at later than they are made: what it is given can have changed by then. */
async function busy() {
  const location = memoryLocation()
  const store = await openStore(location, { durability: 'disk' })
  const stream = await store.createStream(header())
  await stream.append(message('m'))
  return { location, store, stream }
}

async function tried(stream: Stream, name: string, place: string): Promise<void> {
  tally.add('cases')
  const { value, stored, code, change } = KINDS[name]()
  const [given, expected] = PLACES[place](value)
  const { length } = stream
  const appending = stream.append(given as AsrRecord)
  change?.()
  const error: unknown = await appending.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  // One level more than the value has on its own.
  if (error !== undefined) {
    assert.ok(isAsrError(error), `${name}, ${place}: ${String(error)}`)
    const isDeeper = place.startsWith('in a') && error.code === 'ASR_TOO_DEEP'
    if (!isDeeper)
      assert.ok(stored === undefined && (code ?? error.code) === error.code, `${name}, ${place}: ${error.message}`)
    assert.is(stream.length, length)
    tally.add('refused')
    return
  }
  assert.is(code, undefined, `${name}, ${place}: it is acknowledged`)
  tally.add('stored')
  if (stored === undefined) return
  const found: Fields[] = []
  for await (const record of stream.records({ from: length + 1 })) found.push(withoutAssigned(record))
  assert.equal(JSON.stringify(found), JSON.stringify(expected(stored)), `${name}, ${place}`)
}

for (const place of Object.keys(PLACES)) {
  test(`CORE-7: a value of every kind, ${place}, is stored as it was at the call, or refused`, async () => {
    for (const name of Object.keys(KINDS)) {
      const { stream, store, location } = await busy()
      await tried(stream, name, place)
      await stream.append(message('last'))
      await (await sameWithoutIndex(location, store)).close()
    }
  })
}

test('CORE-3, CORE-7: headers and their patches, of every kind, are stored as they were at the call, or refused', async () => {
  for (const [name, make] of Object.entries(KINDS)) {
    const { stream, store, location } = await busy()
    for (const call of [
      (field: object) => stream.reviseHeader({ field }),
      async (field: object) => (await store.createStream(header('other', { field }))).header(),
    ]) {
      tally.add('cases')
      const { value, stored, code, change } = make()
      const revising = call(value)
      change?.()
      const outcome: unknown = await revising.catch((error: unknown) => error)
      if (outcome instanceof Error) {
        if (!isAsrError(outcome)) throw outcome
        const isDeeper = outcome.code === 'ASR_TOO_DEEP'
        assert.ok(isDeeper || (stored === undefined && (code ?? outcome.code) === outcome.code), `${name}: ${outcome}`)
        tally.add('refused')
      } else {
        assert.is(code, undefined, `${name}: it is acknowledged`)
        if (stored !== undefined) assert.equal((outcome as Fields).field, stored, name)
        tally.add('stored')
      }
    }
    await (await sameWithoutIndex(location, store)).close()
  }
})

test('CORE-7: the digits of exact numbers count: no record is stored that is too large to be read', async () => {
  const { stream, store, location } = await busy()
  const n = new ExactNumber(`0.${'1'.repeat(RECORD_BYTES_MAX)}`)
  const error: unknown = await stream.append({ type: 'x', n } as AsrRecord).catch((reason: unknown) => reason)
  assert.ok(isAsrError(error, 'ASR_TOO_LARGE'), String(error))
  await stream.append({ type: 'x', n: new ExactNumber(`0.${'1'.repeat(1_000)}`) } as AsrRecord)
  await (await sameWithoutIndex(location, store)).close()
})

/** Lists of records that are no plain lists: how many of them are stored, or the code. */
const LISTS: [string, () => unknown, number | string][] = [
  ['of nothing but holes', () => new Array(2 ** 32 - 1), 'ASR_BAD_RECORD'],
  ['with a hole', () => Object.assign([message('a')], { 2: message('b') }), 'ASR_BAD_RECORD'],
  ['of a class of lists', () => List.from([message('a'), message('b')]), 2],
  ['of another realm', () => elsewhere('[{ type: "x" }, { type: "y" }]'), 2],
  ['that throws', () => Object.defineProperty([message('a')], 1, { get: () => assert.unreachable() }), 'ASR_BAD_VALUE'],
  ['whose length throws', () => new Proxy([message('a')], { get: () => assert.unreachable() }), 'ASR_BAD_VALUE'],
  ['without a length', () => new Proxy([message('a')], { get: () => undefined }), 0],
  ['behind a proxy', () => new Proxy([message('a'), message('b')], {}), 2],
  ['with one that can not be read behind one that is none', () => [{ type: 5 }, new Point()], 'ASR_BAD_RECORD'],
  ['with one that is none behind one that can not be read', () => [new Point(), { type: 5 }], 'ASR_BAD_VALUE'],
]

test('CORE-4, CORE-7: a list of records is taken as it was at the call, and the first that is refused says why', async () => {
  for (const [name, make, expected] of LISTS) {
    tally.add('cases')
    const { stream, store, location } = await busy()
    const list = make()
    const appending = stream.append(list as AsrRecord[])
    if (typeof expected === 'number' && !name.includes('length')) Object.assign(list as object, { 0: null, 5: 'later' })
    const outcome: unknown = await appending.catch((error: unknown) => error)
    if (outcome instanceof Error) {
      assert.ok(isAsrError(outcome), `${name}: ${outcome}`)
      assert.is(outcome.code, expected, name)
    } else {
      assert.is((outcome as { appended: number }).appended, expected, name)
    }
    assert.is(stream.length, 1 + (typeof expected === 'number' ? expected : 0))
    await (await sameWithoutIndex(location, store)).close()
  }
})

test('CORE-4, CORE-7: a getter that appends while it is read appends, and is stored', async () => {
  const { stream, store, location } = await busy()
  let inner: Promise<unknown> | undefined
  const value = {
    type: 'outer',
    get seen() {
      inner ??= stream.append({ type: 'inner' })
      return 1
    },
  }
  await stream.append(value as AsrRecord)
  await inner
  const types: string[] = []
  for await (const { type } of stream.records()) types.push(type)
  assert.equal(types, ['message', 'inner', 'outer'])
  await (await sameWithoutIndex(location, store)).close()
})

test.after(() => tally.print())
test.run()
