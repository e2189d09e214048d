/**
 * Battery 30, 34 and 36: stored bytes that no append makes, with sound checks: bodies that are no record, dictionaries that are
 * none, parents that make rings. They are damage like any other: named, of bounded cost, of no effect on other streams.
 */

import { deflateRawSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FRAME_HEAD_BYTES, KIND } from '../../src/log/format/frame.js'
import { isAsrError, type Store } from '../../src/main.js'
import { collect, linesOf } from '../support/collect.js'
import { cases, figure, type Random } from './battery.js'
import { flippedAt, framesIn } from './damage.js'
import { type Forged, forged, setText } from './forge.js'
import { freshLevel, keptStore, levelOf, OTHER, openAt, storageOf } from './place.js'
import { holdsDespiteDamage, matchAppends } from './promises.js'
import { evenRecords } from './written.js'

const RECORDS = 6
const SLOWEST_MS = 20_000
const kept = await keptStore(evenRecords(RECORDS))

type Change = (frame: Forged) => void

const third =
  (change: Change): Change =>
  (frame) => {
    if (frame.kind === KIND.record && frame.pos === 3) change(frame)
  }
const dictionary =
  (body: string): Change =>
  (frame) => {
    if (frame.kind === KIND.dictionary) frame.body = new TextEncoder().encode(body)
  }
const raw = (...bytes: number[]): Change =>
  third((frame) => Object.assign(frame, { encoding: 0, body: Uint8Array.from(bytes) }))
const text = (body: unknown): Change => third((frame) => setText(frame, body))
const record = { type: 'message', id: 'm00003', seq: 3 }

function deflated(size: number, body: Uint8Array): Change {
  const sized = new Uint8Array(4 + body.length)
  new DataView(sized.buffer).setUint32(0, size)
  sized.set(body, 4)
  return third((frame) => Object.assign(frame, { encoding: 0x11, body: sized }))
}

const BOMB = new Uint8Array(deflateRawSync(Buffer.alloc(100 * 1024 * 1024, 0x20)))

/** Each makes record 3 one that the log cannot hold; records 1 and 2 are as they were. */
const RECORD_3: { [name: string]: Change } = {
  'its own parent': third((frame) => Object.assign(frame, { parent: 3 })),
  'a later parent': third((frame) => Object.assign(frame, { parent: 5 })),
  'a parent beyond the end': third((frame) => Object.assign(frame, { parent: 500_000 })),
  'a parent of 48 bits': third((frame) => Object.assign(frame, { parent: 2 ** 48 - 1 })),
  'a list': text([1]),
  null: text('null'),
  'a number': text('7'),
  'no JSON': text('{"type":'),
  'bytes that are no UTF-8': third((frame) =>
    Object.assign(frame, { encoding: 1, body: Uint8Array.of(0x7b, 0xff, 0x7d) }),
  ),
  'no type': text({ id: 'm00003', seq: 3 }),
  'no id': text({ type: 'message', seq: 3 }),
  'an id that is a number': text({ ...record, id: 7 }),
  'no seq': text({ type: 'message', id: 'm00003' }),
  'the id of an earlier record': text({ ...record, id: 'm00002' }),
  'a head record without a target': text({ ...record, type: 'head', name: 'x' }),
  'supersedes that is a number': text({ ...record, supersedes: 4 }),
  'the type of a header': text({ ...record, type: 'header' }),
  'an encoding that is unknown': third((frame) => Object.assign(frame, { encoding: 7 })),
  'more shapes than there are': third((frame) => Object.assign(frame, { shapes: 800 })),
  'a kind that is unknown': third((frame) => Object.assign(frame, { kind: 9 })),
  'nested 100,000 deep, as text': text(
    `{"type":"x","id":"m00003","seq":3,"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  ),
  'nested 100,000 deep': raw(...new Array(100_000).fill(0x91), 0),
  'nested 513 deep': text(`{"type":"x","id":"m00003","seq":3,"a":${'['.repeat(513)}${']'.repeat(513)}}`),
  'a list of 4 billion': raw(0xdd, 0xff, 0xff, 0xff, 0xff),
  'a map of 4 billion': raw(0xdf, 0xff, 0xff, 0xff, 0xff),
  'a text of 4 GiB': raw(0xdb, 0xff, 0xff, 0xff, 0xff),
  'bytes of 4 GiB': raw(0xc6, 0xff, 0xff, 0xff, 0xff),
  'a date': raw(0xd6, 0xff, 1, 2, 3, 4),
  'an unknown extension': raw(0xd4, 0x63, 1),
  'bytes behind its end': third((frame) => Object.assign(frame, { body: Uint8Array.from([...frame.body, 0xc0]) })),
  nothing: raw(),
  'deflated, of 4 GiB as it says': deflated(0xffff_ffff, Uint8Array.of(1, 2, 3)),
  'deflated, 100 MiB where it says 10 bytes': deflated(10, BOMB),
  'deflated, of no bytes': deflated(0, new Uint8Array(0)),
  'deflated, shorter than its size': third((frame) =>
    Object.assign(frame, { encoding: 0x11, body: Uint8Array.of(0, 0) }),
  ),
  'another content than its hash': third((frame) => Object.assign(frame, { hash: 5n })),
}

/** Each makes a frame that is no record one that the log cannot hold. */
const OTHER_FRAMES: { [name: string]: Change } = {
  'a dictionary that is no JSON': dictionary('{{'),
  'a dictionary that is null': dictionary('null'),
  'a dictionary that is no list of lists': dictionary('{"from":0,"shapes":[[1,2],{"a":1},null]}'),
  'a dictionary from below 0': dictionary('{"from":-5,"shapes":[["a"],["b"]]}'),
  'a dictionary of 5,000 shapes': dictionary(
    JSON.stringify({ from: 0, shapes: Array.from({ length: 5_000 }, (_, i) => [`k${i}`]) }),
  ),
  'a dictionary with __proto__': dictionary(
    '{"from":0,"shapes":[["__proto__","constructor","type","id","role","content","seq"]]}',
  ),
  'a header that is null': (frame) => frame.kind === KIND.header && setText(frame, 'null'),
  'a header of another session': (frame) =>
    frame.kind === KIND.header && setText(frame, { type: 'header', asr: '1', sessionId: OTHER.sessionId }),
  'a segment that is no JSON': (frame) => frame.kind === KIND.segment && setText(frame, 'nope'),
  'a segment of another session': (frame) =>
    frame.kind === KIND.segment && setText(frame, { sessionId: OTHER.sessionId }),
}

async function withForged(bytes: Uint8Array, index: 'index' | 'no index'): Promise<Store> {
  const storage = storageOf(new Map(kept.files).set(kept.file, bytes))
  return openAt(storage, index === 'index' ? await levelOf(kept.rows) : freshLevel())
}

/** Whatever it is, it fails with a code of ours, in bounded time, and the rest of the store goes on. */
async function contained(store: Store): Promise<boolean> {
  const started = performance.now()
  const other = await store.stream(OTHER.sessionId)
  matchAppends(await collect(other.records()), OTHER, 'nothing')
  const calls: (() => Promise<unknown>)[] = [
    () => store.stream('s'),
    async () => (await store.stream('s')).get('m00003'),
    async () => (await store.stream('s')).activePath().then((path) => collect(path.ids())),
    async () => (await store.stream('s')).contextView(),
    async () => (await store.stream('s')).leaves(),
    async () => collect((await store.stream('s')).records()),
    async () => linesOf((await store.stream('s')).exportJsonl({ salvage: true })),
    async () => (await store.stream('s')).append({ type: 'message', id: 'more' }),
  ]
  for (const call of calls) {
    await call().catch((error: unknown) => {
      if (!isAsrError(error)) throw error
    })
  }
  const listed = (await collect(store.streams())).map(({ sessionId }) => sessionId)
  assert.ok(listed.includes(OTHER.sessionId), 'the list of streams comes')
  const report = await store.verify()
  assert.is(report.streams.find(({ sessionId }) => sessionId === OTHER.sessionId)?.ok, true)
  assert.ok(performance.now() - started < SLOWEST_MS, `took ${performance.now() - started} ms`)
  return report.ok
}

for (const [name, change] of Object.entries(RECORD_3)) {
  test(`CORE-10: stored bytes of a record with ${name} are damage at its position`, async () => {
    const bytes = forged(kept.file, kept.bytes, change)
    for (const index of bytes.length === kept.bytes.length
      ? (['no index', 'index'] as const)
      : (['no index'] as const)) {
      const store = await withForged(bytes, index)
      assert.is(await contained(store), false, `${index}: verify says so`)
      const report = await store.verify({ sessionId: 's' })
      assert.match(report.streams[0].problems.map(({ message }) => message).join(), /position 3\b/)
      await store.close()
    }
    assert.is(({} as { type?: unknown }).type, undefined, 'no prototype is touched')
  })
}

for (const [name, change] of Object.entries(OTHER_FRAMES)) {
  test(`CORE-10: stored bytes that are ${name} do no harm beyond their stream`, async () => {
    const store = await withForged(forged(kept.file, kept.bytes, change), 'no index')
    assert.is(await contained(store), false, 'verify says so')
    await store.close()
  })
}

test('a log of a newer format is refused by its code, and left as it is', async () => {
  const bytes = forged(kept.file, kept.bytes, (frame) => {
    if (frame.kind === KIND.segment) setText(frame, { ...JSON.parse(new TextDecoder().decode(frame.body)), format: 9 })
  })
  const storage = storageOf(new Map(kept.files).set(kept.file, bytes))
  const store = await openAt(storage, freshLevel())
  const error = await store.stream('s').catch((reason: unknown) => reason)
  assert.ok(isAsrError(error, 'ASR_FORMAT'), String(error))
  assert.is(await contained(store), false)
  assert.equal(storage.read(kept.file, 0, 1e6), bytes)
})

test('a head that claims 4 GiB: what stands behind it is not thrown away', async () => {
  const bytes = forged(
    kept.file,
    kept.bytes,
    third((frame) => Object.assign(frame, { claimed: 0xffff_fff0 })),
  )
  const storage = storageOf(new Map(kept.files).set(kept.file, bytes))
  const store = await openAt(storage, freshLevel())
  assert.is(await contained(store), false, 'sound frames stand behind it')
  assert.equal(storage.read(kept.file, 0, 1e6), bytes)
})

test('msgpack of every kind, cut at every byte: a record or an error, never another value', async () => {
  const body = framesIn(kept.file, kept.bytes).find(({ kind, pos }) => kind === KIND.record && pos === 3)!.body
  await cases('bodies cut', body.length, async (n) => {
    const bytes = forged(
      kept.file,
      kept.bytes,
      third((frame) => Object.assign(frame, { body: body.slice(0, n) })),
    )
    const store = await withForged(bytes, 'no index')
    const report = await store.verify({ sessionId: 's' })
    assert.match(report.streams[0].problems.map(({ message }) => message).join(), /position 3\b/)
    await store.close()
  })
})

/** Bytes in place of a body at random: changed, cut, doubled, or of no sense at all. */
function fuzzed(body: Uint8Array, random: Random): Uint8Array {
  if (random.chance(0.2)) return Uint8Array.from({ length: random.below(200) }, () => random.below(256))
  const changed = body.slice()
  for (let i = 0; i <= random.below(4); i++) changed[random.below(changed.length)] = random.below(256)
  return random.chance(0.3) ? changed.slice(0, random.below(changed.length)) : changed
}

test('bodies of random bytes with sound checks: a record or damage, in bounded time, and the rest of the store goes on', async () => {
  await cases('random bodies', figure(500, 200_000), async (_, random, tally) => {
    const encoding = random.pick([0, 0, 0, 1, 0x10, 0x11, random.below(256)])
    const isDictionary = random.chance(0.2)
    const change: Change = (frame) => {
      if (isDictionary ? frame.kind !== KIND.dictionary : frame.kind !== KIND.record || frame.pos !== 3) return
      frame.body = fuzzed(frame.body, random)
      if (!isDictionary) frame.encoding = encoding
    }
    const store = await withForged(forged(kept.file, kept.bytes, change), 'no index')
    tally.add((await contained(store)) ? 'taken as a record' : 'damage')
    await store.close()
  })
})

test('frames of another log, planted in a body whose head is damaged, do not pass for the log’s own', async () => {
  const foreign = await keptStore(evenRecords(8, 'p'))
  const bytes = forged(
    kept.file,
    kept.bytes,
    third((frame) => Object.assign(frame, { body: foreign.bytes })),
  )
  const { at } = framesIn(kept.file, bytes).find(({ kind, pos }) => kind === KIND.record && pos === 3)!
  await cases('planted frames', FRAME_HEAD_BYTES * 8, async (n) => {
    const storage = storageOf(new Map(kept.files).set(kept.file, flippedAt(bytes, at + (n >> 3), n & 7)))
    const store = await openAt(storage, freshLevel())
    const { unsalvaged, report } = await holdsDespiteDamage(store, kept.expected, [OTHER])
    assert.equal(unsalvaged, [3])
    assert.match(report[0], 'at position 3,')
    await store.close()
  })
})

test.run()
