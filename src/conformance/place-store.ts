/**
 * What a store must do over a place: keep what it acknowledged, and say the same as over any other.
 */

import { isAsrError } from '../base/error.js'
import { MemoryIndex } from '../index/memory-index.js'
import { MemoryPlace } from '../log/memory/memory-place.js'
import type { AsrRecord } from '../record/record.js'
import { sideFile } from '../record/side-file.js'
import type { Store, StoreLocation, StoreOptions } from '../store/api.js'
import { memoryLocation, openStore } from '../store/open.js'
import type { Receipt, Stream } from '../stream/api.js'
import { failsWith, holds, same } from './check.js'
import { foundIn, type Given, type PlaceCase, SESSION, scanned, written } from './given.js'
import { diceOf, recordOf } from './random.js'

const HEADER = { type: 'header', asr: '1', sessionId: SESSION } as const

function freshIndex(): MemoryIndex {
  return new MemoryIndex()
}

/** A store over a place, with an index of its own where none is given. */
async function storeOver(
  { again }: Given,
  options: StoreOptions & { index?: ReturnType<typeof freshIndex> } = {},
): Promise<Store> {
  const { index = freshIndex(), ...rest } = options
  return openStore({ place: await again(), index }, rest)
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}

/** All that a stream says, as far as another place must say the same. */
async function answersOf(stream: Stream) {
  const heads = await stream.heads()
  const ids: string[] = []
  for await (const id of (await stream.activePath()).ids()) ids.push(id)
  const view: unknown[] = []
  for await (const record of (await stream.contextView()).entries()) view.push(record)
  return {
    digest: await stream.digest(),
    length: stream.length,
    text: await textOf(stream.exportJsonl()),
    heads,
    ids,
    view,
  }
}

function messages(count: number, from = 1): AsrRecord[] {
  return Array.from({ length: count }, (_, i) => ({ type: 'message', id: `m${from + i}`, content: `text ${from + i}` }))
}

async function appendsComeInOrder(given: Given): Promise<void> {
  const store = await storeOver(given)
  const stream = await store.createStream(HEADER)
  const calls = Array.from({ length: 60 }, (_, i) => stream.append(messages(1 + (i % 3), 10 * i)))
  const refused = stream.append([...messages(1, 5_000), { type: 'message', id: 5 } as unknown as AsrRecord])
  const ends = Promise.all(calls)
  ends.catch(() => undefined) // said below
  await failsWith('ASR_BAD_RECORD', () => refused)
  const receipts = await ends
  let last = 0
  for (const { first, last: end, appended } of receipts) {
    same([first, end - first + 1], [last + 1, appended], 'where an append begins, and its records')
    last = end
  }
  same([last, stream.length, await stream.get('m5000')], [120, 120, undefined], 'the length of the stream')
  same(
    await stream.append(messages(1, 10)),
    { ...receipts[1], last: receipts[1].first, appended: 0, duplicates: 1 },
    'a retry',
  )
  await failsWith('ASR_CONFLICT', () => stream.append(messages(1, 9_000), { expected: 7 }))
  await store.close()
}

async function storesComeBack(given: Given): Promise<void> {
  const index = freshIndex()
  for (const durability of ['process', 'disk'] as const) {
    const sessionId = `${SESSION} ${durability}`
    const store = await storeOver(given, { index, durability })
    const stream = await store.createStream({ ...HEADER, sessionId })
    await stream.append(messages(30))
    await stream.reviseHeader({ title: 'a title' })
    await stream.append(messages(30, 31))
    const before = await answersOf(stream)
    await store.close()
    for (const level of [index, freshIndex()]) {
      const later = await storeOver(given, { index: level })
      const again = await later.stream(sessionId)
      same(await answersOf(again), before, `what a stream says that was opened again, durability ${durability}`)
      same((await again.header()).title, 'a title', 'the title of its header')
      same((await later.verify()).ok, true, 'whether it verifies')
      await later.close()
    }
  }
}

async function othersSayTheSame(given: Given): Promise<void> {
  for (let seed = 1; seed <= 8; seed++) {
    const header = { ...HEADER, sessionId: `${SESSION} ${seed}` }
    const index = freshIndex()
    const references: StoreLocation[] = [memoryLocation(), { place: new MemoryPlace(), index: freshIndex() }]
    const others = await Promise.all(
      references.map(async (location) => (await openStore(location)).createStream(header)),
    )
    let store = await storeOver(given, { index })
    let stream = await store.createStream(header)
    const dice = diceOf(seed)
    const ids: string[] = []
    for (let step = 0; step < 25; step++) {
      const batch = Array.from({ length: 1 + dice(5) }, (_, n) => recordOf(dice, ids, `${seed}-${step}-${n}`))
      const ends = await Promise.all([stream, ...others].map((one) => outcomeOf(one.append(batch))))
      same(ends.slice(1), [ends[0], ends[0]], `what an append of seed ${seed} comes to, elsewhere`)
      if (typeof ends[0] === 'object') ids.push(batch[0].id as string)
      if (dice(8) > 0) continue
      await store.close()
      store = await storeOver(given, { index: dice(2) === 0 ? index : freshIndex() })
      stream = await store.stream(stream.sessionId)
    }
    const answers = await answersOf(stream)
    for (const other of others) same(answers, await answersOf(other), `what the stream of seed ${seed} says`)
    await importsAreTheSame(answers.text, answers.digest)
    await store.close()
  }
}

async function importsAreTheSame(text: string, digest: string): Promise<void> {
  const store = await openStore(memoryLocation())
  const { sessionId } = await store.importJsonl([text])
  const stream = await store.stream(sessionId)
  same([await stream.digest(), await textOf(stream.exportJsonl())], [digest, text], 'the copy that an export makes')
  await store.close()
}

async function outcomeOf(call: Promise<Receipt>): Promise<Receipt | string> {
  try {
    return await call
  } catch (error) {
    if (!isAsrError(error)) throw error
    return error.code
  }
}

async function importsExtend(given: Given): Promise<void> {
  const source = await openStore(memoryLocation())
  const original = await source.createStream(HEADER)
  await original.append(messages(100))
  const beginning = await textOf(original.exportJsonl())
  await original.append(messages(1_900, 101))
  const whole = await textOf(original.exportJsonl())
  const store = await storeOver(given)
  same((await store.importJsonl([beginning])).appended, 100, 'records of the first import')
  same((await store.importJsonl([whole])).appended, 1_900, 'records of the second')
  same((await store.importJsonl([whole])).appended, 0, 'records of the third')
  const stream = await store.stream(SESSION)
  await stream.append(messages(1, 2_001))
  await original.append(messages(1, 2_001))
  const expected = await answersOf(original)
  same(await answersOf(stream), expected, 'what the imported stream says')
  await store.close()
  const later = await storeOver(given)
  same(await answersOf(await later.stream(SESSION)), expected, 'what it says when it is opened again')
  await later.close()
}

async function readersReadBeside(given: Given): Promise<void> {
  const writer = await storeOver(given)
  const stream = await writer.createStream(HEADER)
  await stream.append(messages(5))
  const reader = await storeOver(given, { readOnly: true })
  const read = await reader.stream(SESSION)
  same(await answersOf(read), await answersOf(stream), 'what a reader sees')
  await stream.append(messages(5, 6))
  await writer.createStream({ ...HEADER, sessionId: 'another session' })
  same(await (await reader.stream(SESSION)).digest(), await stream.digest(), 'the digest for a reader, after more')
  same((await read.get('m10'))?.content, 'text 10', 'a record that came since')
  await failsWith('ASR_READ_ONLY', () => read.append(messages(1, 11)))
  const listed: string[] = []
  for await (const { sessionId } of reader.streams()) listed.push(sessionId)
  same(listed, ['another session', SESSION], 'the streams that a reader sees')
  await writer.deleteStream(SESSION)
  await failsWith('ASR_STREAM_NOT_FOUND', () => reader.stream(SESSION))
  await Promise.all([reader.close(), writer.close()])
}

async function deletedStreamsAreGone(given: Given): Promise<void> {
  const index = freshIndex()
  const store = await storeOver(given, { index })
  const stream = await store.createStream(HEADER)
  const kept = await store.createStream({ ...HEADER, sessionId: 'another session' })
  await stream.append(messages(10))
  await kept.append(messages(3))
  const before = await answersOf(kept)
  if (given.sideFiles !== false) await store.sideFiles.append(sideFile(SESSION), Uint8Array.of(1))
  await store.deleteStream(SESSION)
  await failsWith('ASR_CLOSED', () => stream.append(messages(1, 11)))
  await failsWith('ASR_STREAM_NOT_FOUND', () => store.stream(SESSION))
  if (given.sideFiles !== false) same(await store.sideFiles.size(sideFile(SESSION)), undefined, 'its side file')
  const next = await store.createStream(HEADER)
  same([next.length, await next.get('m1')], [0, undefined], 'a stream of the same session, made again')
  await store.close()
  const later = await storeOver(given, { index })
  same(await answersOf(await later.stream('another session')), before, 'what the other stream says')
  same((await later.stream(SESSION)).length, 0, 'the length of the one that was made again')
  await later.close()
}

async function leftoversAreSwept(given: Given): Promise<void> {
  const { log: staged } = await written(given.place, 3, { staged: true })
  await staged.sync()
  const { log: retired } = await written(given.place, 3)
  await given.place.retire(await given.place.makings(retired.identity.name))
  const store = await storeOver(given)
  await failsWith('ASR_STREAM_NOT_FOUND', () => store.stream(SESSION))
  same([...(await given.place.incarnations())], [], 'the logs that are left')
  await store.close()
}

async function losesAreTold(given: Given): Promise<void> {
  const index = freshIndex()
  const store = await storeOver(given, { index })
  const stream = await store.createStream(HEADER)
  for (const record of messages(20)) await stream.append(record)
  await store.close()
  const [found] = await given.place.list()
  const { points } = await scanned(given.place.open(found, SESSION, { isOfAnother: false }))
  await given.place.endAt(found, points[12].location, false)
  const later = await storeOver(given, { index })
  const short = await later.stream(SESSION)
  await failsWith('ASR_LOST_TAIL', () => short.append(messages(1, 50)))
  same((await short.get('m12'))?.content, 'text 12', 'what is still there')
  same((await later.verify()).ok, false, 'whether it verifies')
  await later.close()
  const accepting = await storeOver(given, { index, acceptLoss: true })
  const ended = await accepting.stream(SESSION)
  await ended.append(messages(1, 50))
  same([ended.length, (await accepting.verify()).ok], [13, true], 'the stream that goes on')
  await accepting.close()
}

async function tornTailsAreCut(given: Given): Promise<void> {
  const store = await storeOver(given)
  const stream = await store.createStream(HEADER)
  await stream.append(messages(3))
  const before = await answersOf(stream)
  await stream.append(messages(4, 4))
  await store.close()
  const [found] = await given.place.list()
  const scan = await scanned(given.place.open(found, SESSION, { isOfAnother: false }))
  await given.tear?.(given.place, found, scan.found[6].at)
  const later = await storeOver(given)
  same(await answersOf(await later.stream(SESSION)), before, 'what a stream with a torn tail says')
  same(
    later.notices.map(({ code }) => code),
    ['torn_tail'],
    'what opening it had to say',
  )
  await (await later.stream(SESSION)).append(messages(4, 4))
  same([(await later.stream(SESSION)).length, (await later.verify()).ok], [7, true], 'the stream that goes on')
  await later.close()
}

async function damageIsToldOf(given: Given): Promise<void> {
  const index = freshIndex()
  const store = await storeOver(given, { index })
  const stream = await store.createStream(HEADER)
  for (const record of messages(9)) await stream.append(record)
  await store.close()
  const log = await foundIn(given.place, (await given.place.list())[0])
  const scan = await scanned(given.place.open(log, SESSION, { isOfAnother: false }))
  await given.damage?.(given.place, log, scan.found[4].at)
  for (const level of [index, freshIndex()]) {
    const later = await storeOver(given, { index: level, readOnly: true })
    const { ok, streams } = await later.verify()
    same([ok, streams.length], [false, 1], 'whether a damaged store verifies')
    const damaged = await later.stream(SESSION)
    await failsWith('ASR_CORRUPT', () => textOf(damaged.exportJsonl()))
    const salvaged = await textOf(damaged.exportJsonl({ salvage: true }))
    for (const { id } of messages(9))
      holds(salvaged.includes(`"${id}"`) === (id !== 'm4'), `${id} is salvaged, m4 alone is not`)
    await later.close()
  }
}

export const STORE_CASES: PlaceCase[] = [
  { name: 'store: appends at once are each whole, dense and in order (CORE-4)', run: appendsComeInOrder },
  {
    name: 'store: what was acknowledged is there when it is opened again, with its index or without',
    run: storesComeBack,
  },
  { name: 'store: random appends give the digests, exports and views that they give elsewhere', run: othersSayTheSame },
  { name: 'store: an import extends a stream by many records, all or none', run: importsExtend },
  { name: 'store: readers read beside a writer', needs: 'sharing', run: readersReadBeside },
  { name: 'store: a deleted stream is gone, and its session can begin again', run: deletedStreamsAreGone },
  { name: 'store: opening removes what was left half done', run: leftoversAreSwept },
  { name: 'store: a log that lost its end is told from one that never had it', run: losesAreTold },
  { name: 'store: a torn append is cut off, and said', needs: 'tear', run: tornTailsAreCut },
  { name: 'store: damage is told, and the rest salvaged', needs: 'damage', run: damageIsToldOf },
]
