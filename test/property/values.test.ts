/** CORE-7: a value comes back as it went in, or is refused; nothing is altered in silence. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AsrRecord, type Header, memoryLocation, openStore } from '../../src/main.js'
import type { Stream } from '../../src/stream/api.js'
import { json } from './arbitraries.js'
import { isObject, type Json, type Rec, same } from './json.js'
import { RUNS, settings } from './settings.js'
import { bytesOf, collect, exportText, outcomeOf } from './subject.js'

const HEADER: Header = { sessionId: 'values' }

async function withStream(check: (stream: Stream) => Promise<void>): Promise<void> {
  const store = await openStore(memoryLocation())
  try {
    await check(await store.createStream(HEADER))
  } finally {
    await store.close()
  }
}

async function withCopy(stream: Stream, check: (copy: Stream) => Promise<void>): Promise<void> {
  const store = await openStore(memoryLocation())
  try {
    const report = await store.importJsonl([await bytesOf(stream.exportJsonl())])
    assert.equal(report.diagnostics, [])
    await check(await store.stream('values'))
  } finally {
    await store.close()
  }
}

/** A record whose own fields are hostile as well; `type`, `id` and the like stay what they must be. */
const recordOf = (value: Json, id: string): Rec =>
  isObject(value) ? { ...value, type: 'com.example/any', id } : { type: 'com.example/any', id, value }

async function expectStored(stream: Stream, records: Rec[]): Promise<void> {
  const read = await collect(stream.records())
  records.forEach((record, i) => {
    assert.ok(same({ ...record, seq: i + 1 }, read[i] as Rec), `record ${i + 1} of ${JSON.stringify(records)}`)
  })
  const last = records[records.length - 1]
  const got = await stream.get(last.id as string)
  assert.ok(same({ ...last, seq: records.length }, got as Rec), 'the last record by its id')
}

test('CORE-7: any JSON value comes back exactly, also through export and import, and through a reopened store', () =>
  fc.assert(
    fc.asyncProperty(fc.array(json(4), { minLength: 1, maxLength: 8 }), async (values) => {
      const records = values.map((value, i) => recordOf(value, `id${i}`))
      const location = memoryLocation()
      const store = await openStore(location)
      const stream = await store.createStream(HEADER)
      await stream.append(records as AsrRecord[])
      await expectStored(stream, records)
      await withCopy(stream, async (copy) => {
        await expectStored(copy, records)
        assert.is(await copy.digest(), await stream.digest())
        assert.is(await exportText(copy), await exportText(stream))
      })
      await store.close()
      const reopened = await openStore(location)
      await expectStored(await reopened.stream('values'), records)
      await reopened.close()
    }),
    settings(RUNS),
  ))

const NOT_JSON: [string, () => unknown][] = [
  ['undefined', () => undefined],
  ['a function', () => () => 1],
  ['a symbol', () => Symbol('x')],
  ['a bigint', () => 2n ** 63n],
  ['NaN', () => Number.NaN],
  ['infinity', () => Number.NEGATIVE_INFINITY],
  ['a date', () => new Date(0)],
  ['a map', () => new Map([['a', 1]])],
  ['a set', () => new Set([1])],
  ['a regular expression', () => /x/],
  ['bytes', () => new Uint8Array(2)],
  ['a shared buffer', () => new SharedArrayBuffer(2)],
  ['an error', () => new Error('x')],
  ['a promise', () => Promise.resolve(1)],
  ['a boxed string', () => Object('x')],
  ['an object of a class', () => new (class Thing {})()],
  ['an array with a hole', () => Object.assign(new Array(3), { 0: 1 })],
  ['an object with toJSON', () => ({ toJSON: () => 1 })],
  ['an object with a symbol for a key', () => ({ [Symbol('x')]: 1 })],
  [
    'a property that throws',
    () => ({
      get x() {
        throw new Error('no')
      },
    }),
  ],
  [
    'a cycle',
    () => {
      const cycle: unknown[] = []
      cycle.push({ cycle })
      return cycle
    },
  ],
]

test('CORE-7: what is not JSON is refused wherever it stands, with ASR_BAD_VALUE, and nothing is written', () =>
  withStream((stream) =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...NOT_JSON),
        json(2),
        fc.nat(3),
        fc.nat(2),
        async ([what, make], value, depth, at) => {
          let bad = make()
          for (let i = 0; i < depth; i++) bad = i % 2 === 0 ? { before: value, bad } : [value, bad, value]
          const batch: unknown[] = [{ type: 'x' }, { type: 'x' }]
          batch.splice(at, 0, { type: 'x', bad })
          assert.equal(await outcomeOf(() => stream.append(batch as AsrRecord[])), { code: 'ASR_BAD_VALUE' }, what)
          assert.is(stream.length, 0)
        },
      ),
      settings(RUNS),
    ),
  ))

test('CORE-7: what a caller does to a record after the call, or to one that was read, changes nothing that is stored', () =>
  fc.assert(
    fc.asyncProperty(json(3), fc.nat(20), fc.boolean(), (value, ticks, behindAnother) =>
      withStream(async (stream) => {
        const record = { type: 'x', id: 'a', nested: { value }, list: [1] }
        const given = structuredClone(record)
        const others = behindAnother ? [stream.append({ type: 'x' })] : []
        const appended = stream.append(given)
        for (let i = 0; i < ticks; i++) await null
        given.nested.value = 'changed'
        given.list.push(2)
        await Promise.all([...others, appended])
        const stored = { ...record, seq: others.length + 1 }
        const read = await stream.get('a')
        assert.ok(same(read as Rec, stored), 'changed after the call')
        if (read) {
          read.nested.value = 'changed'
          read.list.push(3)
        }
        assert.ok(same((await stream.get('a')) as Rec, stored), 'changed after it was read')
      }),
    ),
    settings(Math.ceil(RUNS / 4)),
  ))

const nested = (containers: number) => {
  let value: Json = 1
  for (let i = 0; i < containers; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

test('CORE-7: 512 containers nested in a record survive, one more is refused, and so are 100,000', () =>
  withStream(async (stream) => {
    const record: Rec = { type: 'x', id: 'a', value: nested(512) }
    await stream.append(record as AsrRecord)
    await expectStored(stream, [record])
    await withCopy(stream, (copy) => expectStored(copy, [record]))
    for (const depth of [513, 1_000, 5_000, 100_000]) {
      const tooDeep = { type: 'x', value: nested(depth) }
      assert.equal(await outcomeOf(() => stream.append(tooDeep)), { code: 'ASR_TOO_DEEP' }, `${depth}`)
    }
    assert.is(stream.length, 1)
  }))

test('CORE-7: a string of 16 MB survives, one beyond the limit of a record is refused', () =>
  withStream(async (stream) => {
    const record: Rec = { type: 'x', id: 'a', text: 'ab\ud83d\ude00c\u2028'.repeat(2 ** 21) }
    await stream.append(record as AsrRecord)
    await expectStored(stream, [record])
    await withCopy(stream, (copy) => expectStored(copy, [record]))
    const tooLarge = { type: 'x', text: 'x'.repeat(64 * 2 ** 20) }
    assert.equal(await outcomeOf(() => stream.append(tooLarge)), { code: 'ASR_TOO_LARGE' })
    assert.is(stream.length, 1)
  }))

test('CORE-7: no key pollutes a prototype, and reading a hostile record gives its own keys only', () =>
  withStream(async (stream) => {
    const hostile = JSON.parse(
      '{"type":"x","id":"a","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    )
    await stream.append(hostile)
    const read = await stream.get('a')
    assert.ok(same(read as Rec, { ...hostile, seq: 1 }))
    assert.is(read?.polluted, undefined)
    assert.is(Object.getPrototypeOf(read), Object.prototype)
    assert.is(({} as Rec).polluted, undefined)
  }))

test.run()
