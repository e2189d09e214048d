/** The index in memory against a level in memory: whatever is done to both, both give the same rows. */
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { IndexLevel, RowWrite } from '../../src/index/level.js'
import { MemoryIndex } from '../../src/index/memory-index.js'
import { collect } from '../support/collect.js'

const KEYS = { keyEncoding: 'utf8' } as const
const ENCODINGS = { ...KEYS, valueEncoding: 'view' } as const

/** Numbers below a bound, the same in each run. */
function numbers(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * bound)
  }
}

const key = (n: number): string => `k${String(n).padStart(5, '0')}`

async function rowsOf(level: IndexLevel, range = {}): Promise<[string, number[]][]> {
  const rows = await collect(level.iterator({ ...range, ...ENCODINGS }))
  return rows.map(([name, value]) => [name, [...value]])
}

test('random writes, deletions and ranges, over many pieces: the same rows as a level holds', async () => {
  const below = numbers(7)
  const index: IndexLevel = new MemoryIndex()
  const level: IndexLevel = new MemoryLevel<string, Uint8Array>({ valueEncoding: 'view' })
  const range = () => {
    const [low, high] = [below(5_000), below(5_000)].sort((a, b) => a - b)
    return { [below(2) ? 'gt' : 'gte']: key(low), lt: key(high) }
  }
  for (let round = 0; round < 60; round++) {
    const writes = Array.from({ length: 1 + below(400) }, (): RowWrite => {
      const name = key(below(5_000))
      return below(4) === 0
        ? { type: 'del', key: name }
        : { type: 'put', key: name, value: Uint8Array.of(below(256), round) }
    })
    const cleared = round % 7 === 6 ? range() : undefined
    for (const one of [index, level]) {
      await one.batch(writes, ENCODINGS)
      if (cleared) await one.clear({ ...cleared, ...KEYS })
    }
    const asked = { ...range(), limit: 1 + below(2_000) }
    assert.equal(await rowsOf(index, asked), await rowsOf(level, asked))
    assert.equal(await index.keys({ ...asked, ...KEYS }).all(), await level.keys({ ...asked, ...KEYS }).all())
    const name = key(below(5_000))
    assert.equal(index.getSync(name, ENCODINGS)?.join(), (await level.get(name, ENCODINGS))?.join())
  }
  assert.equal(await rowsOf(index), await rowsOf(level))
  for (const one of [index, level]) await one.clear()
  assert.equal([await rowsOf(index), await rowsOf(level)], [[], []])
})

test('what is being read is as it was when the reading began', async () => {
  const index = new MemoryIndex()
  for (let n = 0; n < 2_000; n++) await index.put(key(n), Uint8Array.of(1))
  const read = index.iterator({})
  await index.clear()
  assert.is((await collect(read)).length, 2_000)
  assert.equal(await collect(index.keys({})), [])
})

test('closed, it answers nothing; opened again, it holds what it held', async () => {
  const index = new MemoryIndex()
  await index.put('a', Uint8Array.of(1))
  await index.close()
  assert.throws(() => index.getSync('a'), /closed/)
  await index.open()
  assert.equal(index.getSync('a'), Uint8Array.of(1))
})

test.run()
