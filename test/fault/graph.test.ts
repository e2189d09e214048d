/**
 * Battery 36 and 37: long chains, wide fans, many heads, diamonds of superseding: no recursion, no step that costs more the
 * more there is, the same answers after a rebuild.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AsrRecord, Stream } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { header, tombstone } from '../support/records.js'
import { type MemoryStream, openMemory, reopened } from '../support/stores.js'
import { figure } from './battery.js'

const CHAIN = figure(100_000, 1_000_000)
const FAN = 10_000
const HEADS = 1_000
const BATCH = 1_000

async function filled(count: number, record: (n: number) => AsrRecord): Promise<MemoryStream> {
  const memory = await openMemory()
  const stream = await memory.store.createStream(header('s'))
  for (let from = 1; from <= count; from += BATCH) {
    await stream.append(Array.from({ length: Math.min(BATCH, count - from + 1) }, (_, i) => record(from + i)))
  }
  return { ...memory, stream }
}

/** The largest and the least of a few takes differ by less than a factor: of the best of three, machines being what they are. */
async function took(call: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 3; i++) {
    const started = performance.now()
    await call()
    best = Math.min(best, performance.now() - started)
  }
  return best
}

async function count(items: AsyncIterable<unknown>): Promise<number> {
  let sum = 0
  for await (const _ of items) sum++
  return sum
}

test(`a chain of ${CHAIN} records is walked to its root without recursion, and a step costs the same anywhere`, async () => {
  const memory = await filled(CHAIN, (n) => ({ type: 'message', id: `m${n}`, ...(n > 1 && { parentId: `m${n - 1}` }) }))
  for (const open of [() => memory, () => reopened(memory)]) {
    const { stream, store } = await open()
    const path = await stream.activePath()
    assert.is(path.length, CHAIN)
    assert.is(await count(path.ids()), CHAIN)
    assert.equal(await stream.leaves(), [{ recordId: `m${CHAIN}`, pos: CHAIN, heads: ['primary'] }])
    assert.is((await stream.contextView()).length, CHAIN)
    const near = await took(() => stream.activePath({ at: 'm100' }))
    const far = await took(() => stream.activePath({ at: `m${CHAIN - 100}` }))
    assert.ok(far < near * 20 + 20, `${near.toFixed(2)} ms near the root, ${far.toFixed(2)} ms at the end`)
    assert.is((await store.verify()).ok, true)
  }
})

test(`a chain that leaves its run at each step, ${figure(20_000, 100_000)} times, is walked without recursion`, async () => {
  const links = figure(20_000, 100_000)
  // Two branches that grow in turn: no record's parent is the one before it.
  const memory = await filled(links, (n) => ({
    type: 'state',
    id: `s${n}`,
    head: n % 2 ? 'odd' : 'even',
    parentId: n > 2 ? `s${n - 2}` : null,
  }))
  for (const open of [() => memory, () => reopened(memory)]) {
    const { stream } = await open()
    assert.is((await stream.activePath({ at: `s${links}` })).length, links / 2)
    assert.is(await count((await stream.activePath({ at: `s${links - 1}` })).ids()), links / 2)
    assert.is((await stream.leaves()).length, 2)
  }
})

test(`a fan of ${FAN} children of one record: leaves and paths are right`, async () => {
  const memory = await filled(FAN + 1, (n) =>
    n === 1 ? { type: 'message', id: 'root' } : { type: 'message', id: `c${n}`, parentId: 'root' },
  )
  for (const open of [() => memory, () => reopened(memory)]) {
    const { stream, store } = await open()
    const leaves = await stream.leaves()
    assert.is(leaves.length, FAN)
    assert.is(leaves.at(-1)?.recordId, `c${FAN + 1}`)
    assert.is((await stream.activePath({ at: 'c77' })).length, 2)
    assert.is((await store.verify()).ok, true)
  }
})

test(`${HEADS} heads, each moved again and again: all are where they were put`, async () => {
  const memory = await filled(100, (n) => ({ type: 'message', id: `m${n}` }))
  for (let round = 0; round < 3; round++) {
    await memory.stream.append(
      Array.from({ length: HEADS }, (_, n) => ({
        type: 'head',
        name: `h${n}`,
        recordId: `m${((n * 7 + round) % 100) + 1}`,
      })),
    )
  }
  for (const open of [() => memory, () => reopened(memory)]) {
    const { stream } = await open()
    const heads = new Map((await stream.heads()).map(({ name, recordId }) => [name, recordId]))
    assert.is(heads.size, HEADS + 1)
    for (let n = 0; n < HEADS; n++) assert.is(heads.get(`h${n}`), `m${((n * 7 + 2) % 100) + 1}`)
    assert.is((await stream.activePath({ head: 'h5' })).length, ((5 * 7 + 2) % 100) + 1)
  }
})

test(`an entity of 10,000 revisions, and 1,000 tombstones: the last is in force, look-ups end`, async () => {
  const memory = await filled(10_000, (n) => ({
    type: 'state',
    id: `s${n}`,
    ...(n > 1 && { supersedes: `s${n - 1}` }),
  }))
  await memory.stream.append(Array.from({ length: 1_000 }, (_, n) => tombstone(`t${n}`, `s${n * 10 + 1}`)))
  for (const open of [() => memory, () => reopened(memory)]) {
    const { stream } = await open()
    const [entity, ...others] = await stream.entity('state', 's1')
    assert.equal(others, [])
    assert.is(entity.revisions.length, 10_000)
    assert.is(entity.inForce, null)
    const [alive] = await stream.entity('state', 's1', { at: 's9999' })
    assert.is(alive.inForce?.id, 's9999')
  }
})

test('CORE-12: append makes no ring: a parent is an earlier record, also inside one call', async () => {
  const { stream } = await filled(2, (n) => ({ type: 'message', id: `m${n}` }))
  const rings: AsrRecord[][] = [
    [{ type: 'x', id: 'a', parentId: 'a' }],
    [
      { type: 'x', id: 'a', parentId: 'b' },
      { type: 'x', id: 'b', parentId: 'a' },
    ],
    [
      { type: 'x', id: 'a', parentId: 'c' },
      { type: 'x', id: 'b', parentId: 'a' },
      { type: 'x', id: 'c', parentId: 'b' },
    ],
    [{ type: 'x', parentId: 'r3' }],
  ]
  for (const ring of rings) assert.is(await outcome(stream, ring), 'ASR_PARENT_UNKNOWN')
  assert.is(stream.length, 2)
  assert.equal((await collect((await stream.activePath()).ids())).length, 2)
})

async function outcome(stream: Stream, records: AsrRecord[]): Promise<unknown> {
  return stream.append(records).then(
    () => 'taken',
    (error: { code: unknown }) => error.code,
  )
}

test.run()
