import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { decodeHeads, decodeRoot, emptyState, encodeHeads, encodeRoot, type Root } from '../../src/index/root.js'
import { flipped } from '../log/handmade.js'

const ROOT: Root = {
  state: {
    point: { location: 2 ** 40 + 7, last: 2 ** 40, pos: 5, chain: 2n ** 64n - 1n, check: 2 ** 32 - 1 },
    lastSeq: 12,
    updatedAt: '2026-01-01T00:00:00Z',
    defaultIdsTaken: true,
    header: { location: 128, hash: 1n, agent: { name: 'a', version: '' } },
    heads: new Map(),
  },
  reach: { location: 2 ** 41, pos: 6 },
  title: 'words \ud83d\ude00',
  bytes: 2 ** 41,
  durable: 9,
  boot: 'b',
  sessionId: 's',
  headsCheck: 1,
  dictionaryCheck: 2,
  directories: [3, 4],
  runs: [{ level: 1, number: 0, keys: 5, check: 6 }],
}

const LOG = '0123456789abcdef'

test('a root is read as it was written, and small', () => {
  assert.equal(decodeRoot(encodeRoot(ROOT, LOG), LOG), ROOT)
  const empty: Root = { ...ROOT, state: emptyState(), title: null, runs: [], directories: [] }
  assert.equal(decodeRoot(encodeRoot(empty, LOG), LOG), empty)
})

test('CORE-10: a root with any bit turned over, cut short or of another format is not believed', () => {
  const bytes = encodeRoot(ROOT, LOG)
  for (let at = 0; at < bytes.length; at++) {
    // A digit of the check that becomes a capital says the same.
    const read = decodeRoot(flipped(bytes, at, at % 8), LOG)
    if (read !== undefined) assert.equal([at < 8, read], [true, ROOT])
  }
  for (let size = 0; size < bytes.length; size++)
    assert.is(decodeRoot(bytes.subarray(0, size), LOG), undefined, `${size} bytes`)
})

test('CORE-10: a root that stands under a key that a flipped bit made is not believed: no stream is made up', () => {
  const bytes = encodeRoot(ROOT, LOG)
  for (const digit of Array.from(LOG).keys()) {
    for (const other of '0123456789abcdef') {
      const log = LOG.slice(0, digit) + other + LOG.slice(digit + 1)
      if (log !== LOG) assert.is(decodeRoot(bytes, log), undefined, log)
    }
  }
})

test('heads are read as they were written, in the order of their names', () => {
  const heads = new Map([
    ['primary', 3],
    ['', 1],
    ['__proto__', 2],
    ['a\ud800', 4],
    ['\u00e9', 5],
  ])
  assert.equal(decodeHeads(encodeHeads(heads)), heads)
  assert.equal(encodeHeads(heads), encodeHeads(new Map([...heads].reverse())))
  assert.is(decodeHeads(encodeHeads(new Map())).size, 0)
})

test.run()
