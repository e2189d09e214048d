import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  bucketCount,
  bucketOf,
  collectPositions,
  cutBuckets,
  decodeRun,
  encodeRun,
  entityKey,
  idKey,
  type KeyRun,
  mergeRuns as mergeRunsInTurns,
  revisionKey,
  tombstoneKey,
} from '../../src/index/keys/key-run.js'
import { PageKeys } from '../../src/index/keys/page-keys.js'
import { RUNS, settings } from '../property/settings.js'

/** Without letting the event loop go round in between. */
function mergeRuns(runs: readonly KeyRun[]): KeyRun {
  const merging = mergeRunsInTurns(runs)
  for (;;) {
    const step = merging.next()
    if (step.done) return step.value
  }
}

function positionsOf(run: KeyRun, key: number): number[] {
  const found: number[] = []
  collectPositions(run, key, found)
  return found
}

const KEY_MAX = 2 ** 53 - 1
/** Few different keys, so that they meet; at both ends of what a key can be. */
const key = fc.oneof(
  fc.nat(20),
  fc.nat(20).map((n) => KEY_MAX - n),
  fc.nat(KEY_MAX),
)
/** Keys of positions that rise; a record may have several. */
const keysOfRecords = fc.array(fc.uniqueArray(key, { maxLength: 3 }), { maxLength: 60 })

function runOf(records: readonly number[][], first: number): KeyRun {
  const keys = new PageKeys()
  records.forEach((own, i) => {
    for (const one of own) keys.add(one, first + i)
  })
  return keys.toRun()
}

function naive(records: readonly number[][], first = 1): Map<number, number[]> {
  const byKey = new Map<number, number[]>()
  records.forEach((own, i) => {
    for (const one of own) byKey.set(one, [...(byKey.get(one) ?? []), first + i])
  })
  return byKey
}

function expectRun(run: KeyRun, byKey: Map<number, number[]>): void {
  for (const [one, positions] of byKey) assert.equal(positionsOf(run, one), positions)
  for (const one of [0, 1, 7, KEY_MAX, 12_345]) if (!byKey.has(one)) assert.equal(positionsOf(run, one), [])
  assert.equal(
    [...run.keys],
    [...run.keys].sort((a, b) => a - b),
  )
  assert.is(run.keys.length, [...byKey.values()].flat().length)
}

test('a run leads from each key to its positions, in rising order', () =>
  fc.assert(
    fc.property(keysOfRecords, (records) => {
      expectRun(runOf(records, 1), naive(records))
      const again = PageKeys.from(runOf(records, 1))
      for (const [one, positions] of naive(records)) {
        const found: number[] = []
        again.collect(one, found)
        assert.equal(found, positions)
      }
      assert.equal(again.toRun(), runOf(records, 1))
    }),
    settings(RUNS),
  ))

test('merged runs say what all of them say', () =>
  fc.assert(
    fc.property(fc.array(keysOfRecords, { maxLength: 16 }), (parts) => {
      let first = 1
      const runs = parts.map((records) => {
        const run = runOf(records, first)
        first += records.length
        return run
      })
      expectRun(mergeRuns(runs), naive(parts.flat()))
    }),
    settings(Math.ceil(RUNS / 4)),
  ))

test('a run is read as it was written, also at positions beyond 32 bits', () =>
  fc.assert(
    fc.property(keysOfRecords, fc.constantFrom(1, 2 ** 31, 2 ** 40), fc.nat(7), (records, first, shift) => {
      const run = runOf(records, first)
      const shifted = new Uint8Array(encodeRun(run).length + shift)
      shifted.set(encodeRun(run), shift)
      assert.equal(decodeRun(shifted.subarray(shift)), run, 'wherever the bytes lie')
    }),
    settings(RUNS),
  ))

test('the buckets of a run hold each key once, where a look-up goes', () => {
  for (const count of [0, 1, 1_023, 1_024, 1_025, 5_000, 70_000]) {
    const keys = Float64Array.from({ length: count }, (_, i) => Math.floor(((i + 0.5) / count) * 2 ** 53))
    const spread = { keys, offsets: Uint32Array.from(keys, (_, i) => i), base: count === 0 ? 0 : 1 }
    const heaped = { ...spread, keys: Float64Array.from(keys, (_, i) => i) }
    for (const run of [spread, heaped]) {
      const buckets = cutBuckets(run)
      assert.is(buckets.length, bucketCount(count))
      assert.equal(mergeRuns(buckets), run)
      buckets.forEach((bucket, i) => {
        for (const one of bucket.keys) assert.is(bucketOf(one, buckets.length), i)
      })
    }
  }
  assert.is(bucketOf(KEY_MAX, 7), 6)
  assert.is(bucketOf(0, 7), 0)
})

test('keys of ids, entities, revisions and tombstones are apart, and each text has its own', () => {
  const keys = [
    idKey('1'),
    idKey('2'),
    entityKey('a', '1'),
    entityKey('a1', ''),
    entityKey('', 'a1'),
    revisionKey(1),
    tombstoneKey(1),
  ]
  keys.push(revisionKey(2), idKey('v1'), idKey('e"a"1'), entityKey('"a"', '1'))
  assert.is(new Set(keys).size, keys.length)
  for (const one of keys) assert.ok(Number.isSafeInteger(one) && one >= 0)
  assert.is(idKey('x'), idKey('x'))
})

test.run()
