/**
 * Battery 35: texts that differ and have the same XXH64, made by hand. A hash is a hint, never an identity: ids are told apart
 * by themselves, and a retry by its content.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hashText } from '../../src/base/hash.js'
import { idKey } from '../../src/index/keys/key-run.js'
import { collect } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { header } from '../support/records.js'
import { openMemory, reopened } from '../support/stores.js'
import { cases, figure, type Random } from './battery.js'
import { coreOf } from './place.js'
import { holdsPromises } from './promises.js'

const PRIME_1 = 0x9e3779b185ebca87n
const PRIME_2 = 0xc2b2ae3d27d4eb4fn
const PLAIN = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 !#$%&()*+,-./:;<=>?@[]^_`{|}~']

const wrapped = (value: bigint): bigint => BigInt.asUintN(64, value)

/** The inverse of an odd number modulo 2^64. */
function inverse(odd: bigint): bigint {
  let found = odd
  for (let i = 0; i < 6; i++) found = wrapped(found * (2n - odd * found))
  return found
}

const UNDO_2 = inverse(PRIME_2)

/** What the second of XXH64's four lanes, which begins as PRIME_2, makes of its first eight bytes. */
function lane(bytes: bigint): bigint {
  const sum = wrapped(PRIME_2 + bytes * PRIME_2)
  return wrapped(((sum << 31n) | (sum >> 33n)) * PRIME_1)
}

const numberOf = (text: string): bigint => new DataView(new TextEncoder().encode(text).buffer).getBigUint64(0, true)

function textOf(number: bigint): string {
  return String.fromCharCode(...Array.from({ length: 8 }, (_, i) => Number((number >> BigInt(8 * i)) & 0xffn)))
}

/** Two texts of one hash, 64 bytes with what stands before them: they differ in bytes 8 to 15, and 40 to 47 make up for it. */
function pair(before: string, random: Random): [string, string] {
  const eight = (): string => Array.from({ length: 8 }, () => random.pick(PLAIN)).join('')
  const [start, first, middle, second, end] = [
    '-'.repeat(8 - before.length),
    eight(),
    eight() + eight() + eight(),
    eight(),
    eight() + eight(),
  ]
  for (;;) {
    const other = eight()
    const amends = textOf(wrapped(numberOf(second) + (lane(numberOf(first)) - lane(numberOf(other))) * UNDO_2))
    if (other === first || [...amends].some((letter) => !PLAIN.includes(letter))) continue
    return [start + first + middle + second + end, start + other + middle + amends + end]
  }
}

test('CORE-4: two ids of one hash are two ids, before and after the index is written, reopened and built anew', async () => {
  await cases('ids of one hash', figure(10, 200), async (n, random) => {
    const [one, other] = pair('i', random)
    assert.is(idKey(one), idKey(other))
    const memory = await openMemory()
    const stream = await memory.store.createStream(header('s'))
    await stream.append({ type: 'state', id: one })
    assert.is(await stream.position(other), undefined, 'only one of them is there')
    if (n % 2 === 0) await coreOf(stream).flush()
    await fails('ASR_PARENT_UNKNOWN', () => stream.append({ type: 'x', parentId: other }))
    const records = [
      { type: 'state', id: other, parentId: one },
      { type: 'state', id: 'revised', parentId: other, supersedes: other },
    ]
    assert.is((await stream.append(records)).appended, 2)
    assert.is((await stream.append([{ type: 'state', id: one }, ...records])).duplicates, 3)
    for (const open of [() => ({ ...memory, stream }), () => reopened(memory)]) {
      const { stream: again, store } = await open()
      assert.equal(await Promise.all([one, other].map((id) => again.position(id))), [1, 2])
      const [entity] = await again.entity('state', other)
      assert.equal(
        entity.revisions.map(({ id }) => id),
        [other, 'revised'],
      )
      await store.rebuildIndex()
      await holdsPromises(store, [
        { sessionId: 's', appends: [{ records: [{ type: 'state', id: one }, ...records], promised: 'committed' }] },
      ])
    }
  })
})

test('CORE-8: other content of the same hash under the same id is a conflict, not a repetition', async () => {
  await cases('contents of one hash', figure(10, 200), async (_, random) => {
    const [one, other] = pair('{"aaa":"', random)
    const line = (aaa: string): string => `{"aaa":"${aaa}","id":"m","seq":1,"type":"x"}`
    assert.is(hashText(line(one)), hashText(line(other)))
    const { store } = await openMemory()
    const stream = await store.createStream(header('s'))
    await stream.append({ type: 'x', id: 'm', aaa: one })
    assert.is((await stream.append({ type: 'x', id: 'm', aaa: one })).duplicates, 1)
    await fails('ASR_ID_CONFLICT', () => stream.append({ type: 'x', id: 'm', aaa: other }))
    assert.equal(
      (await collect(stream.records())).map(({ aaa }) => aaa),
      [one],
    )
  })
})

test.run()
