/**
 * A16: keys and values that a codec alters.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AsrRecord } from '../../src/main.js'
import { fails } from '../support/fails.js'
import { copied, reopened, streamOf } from '../support/stores.js'

const INPUT = '{"__proto__":{"x":1},"constructor":1,"toString":2,"":3,"hasOwnProperty":null}'
const NUMBERS = [1e308, 5e-324, 0.1, 4294967296, -1.5, 2 ** 53 - 1]

test('A16, CORE-7: keys that have a meaning in JavaScript are keys like others', async () => {
  const memory = await streamOf({ type: 'tool_call', id: 't1', input: JSON.parse(INPUT) })
  const { stream } = await reopened(memory)
  const stored = await stream.get('t1')
  assert.is(JSON.stringify(stored?.input), INPUT)
  assert.is(Object.hasOwn(stored?.input, '__proto__'), true)
  assert.is(Object.getPrototypeOf(stored?.input), Object.prototype)
  assert.is(({} as { x?: number }).x, undefined, 'no prototype was changed')
  const copy = await copied(stream)
  assert.is(JSON.stringify((await copy.stream.get('t1'))?.input), INPUT)
})

test('A16, CORE-7: keys that look like numbers come back in the order that the value has', async () => {
  const input = JSON.parse('{"b":1,"10":"a","2":"b"}')
  const { stream } = await streamOf({ type: 'tool_call', id: 't1', input })
  assert.is(JSON.stringify((await stream.get('t1'))?.input), JSON.stringify(input))
})

test('A16, CORE-7: numbers come back exactly, the sign of zero included', async () => {
  const memory = await streamOf({ type: 'tool_call', id: 't1', input: [...NUMBERS, -0] })
  const { stream } = await reopened(memory)
  const stored: number[] = (await stream.get('t1'))?.input
  assert.is(
    [...NUMBERS, -0].every((number, index) => Object.is(number, stored[index])),
    true,
    JSON.stringify(stored),
  )
})

test('A16, CORE-8: the hash does not depend on the order of keys, and survives export and import', async () => {
  const one = await streamOf({ type: 'tool_call', seq: 1, id: 't1', input: { a: 1, b: 2 } })
  const other = await streamOf({ id: 't1', input: { b: 2, a: 1 }, seq: 1, type: 'tool_call' })
  const hash = await one.stream.hash('t1')
  assert.is(await other.stream.hash('t1'), hash)
  assert.is(await one.stream.digest(), await other.stream.digest())
  assert.is(await (await copied(one.stream)).stream.hash('t1'), hash)
})

const notJson: [string, () => unknown][] = [
  ['undefined', () => undefined],
  ['NaN', () => Number.NaN],
  ['infinity', () => Number.POSITIVE_INFINITY],
  ['a bigint', () => 1n],
  ['a symbol', () => Symbol('s')],
  ['a function', () => () => 1],
  ['a Map', () => new Map([[1, 2]])],
  ['a Set', () => new Set([1])],
  ['a date', () => new Date(Number.NaN)],
  ['bytes', () => new Uint8Array(2)],
  ['a regular expression', () => /x/],
  ['a hole', () => new Array(1)],
  ['an object with toJSON', () => ({ toJSON: () => 1 })],
  ['an object of a class', () => new (class Point {})()],
  ['a wrapped string', () => Object('text')],
  ['a cycle', () => cycle()],
]

function cycle(): unknown {
  const loop: { self?: unknown } = {}
  loop.self = loop
  return loop
}

for (const [name, make] of notJson) {
  test(`A16, CORE-7: ${name} is no JSON and is refused, with the place where it stands`, async () => {
    const { stream } = await streamOf()
    const record: AsrRecord = { type: 'tool_call', id: 't1', input: { deep: [0, make()] } }
    const error = await fails('ASR_BAD_VALUE', () => stream.append(record))
    assert.match(error.message, 'deep')
    assert.is(stream.length, 0)
    assert.is(await stream.get('t1'), undefined)
  })
}

test('A16, CORE-8: a value that the caller changes too early is stored with the hash of what is stored', async () => {
  const { store, stream } = await streamOf()
  const input = { list: [1] }
  const appends = [
    stream.append({ type: 'x', id: 't0' }),
    stream.append({ type: 'tool_call', id: 't1', seq: 2, input }),
  ]
  input.list.push(2)
  await Promise.all(appends)
  const stored = await stream.get('t1')
  const { stream: twin } = await streamOf(stored!)
  assert.is(await stream.hash('t1'), await twin.hash('t1'))
  assert.is((await store.verify()).ok, true)
})

test.run()
