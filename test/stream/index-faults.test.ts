/**
 * An index that is lost, damaged or can't be written changes no answer (CORE-10): it is built again from the log.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { logRows } from '../../src/index/rows.js'
import { memoryLocation, openStore as open, type Store } from '../../src/main.js'
import { flipped } from '../log/handmade.js'
import { collect } from '../support/collect.js'
import { onlyLogFile } from '../support/logs.js'
import { call, compaction, header, message, result } from '../support/records.js'
import type { MemoryLocation } from '../support/stores.js'
import { tempFolder } from '../support/temp.js'
import { answersOf, codesOf } from './sample-stream.js'

const opened: Store[] = []

/** A store that is closed at the end of its test, however that ends. */
async function openStore(...given: Parameters<typeof open>): Promise<Store> {
  const store = await open(...given)
  opened.push(store)
  return store
}

test.after.each(async () => {
  for (const store of opened.splice(0)) await store.close().catch(() => undefined)
})

const ENCODINGS = { keyEncoding: 'utf8', valueEncoding: 'view' } as const
const RECORDS = 4_300

async function fill(store: Store, records = RECORDS): Promise<void> {
  const stream = await store.createStream(header())
  for (let from = 0; from < records; from += 100) {
    const batch = Array.from({ length: 100 }, (_, i) => ({ type: 'state', n: from + i }))
    await stream.append([message(`m${from}`), call(`c${from}`, `k${from}`), ...batch, result(`t${from}`, `k${from}`)])
  }
  await stream.append([compaction('p', 'm4000'), message('rev', { supersedes: 'm0' }), message('end')])
  await stream.setHead('side', 'm100')
}

async function filledMemory(): Promise<MemoryLocation> {
  const location = memoryLocation()
  const store = await openStore(location)
  await fill(store)
  await store.close()
  return location
}

/** Answers that touch every row, without reading each record. */
async function answers(store: Store): Promise<unknown> {
  const stream = await store.stream('s')
  const path = await stream.activePath()
  const { entries, ...view } = await stream.contextView()
  const ids = ['m0', 'c100', 't4200', 'r1', 'r77', 'r4301', 'r4302', 'nobody', 'end', 'rev', 'p']
  return {
    info: await collect(store.streams()),
    digest: await stream.digest(),
    heads: await stream.heads(),
    leaves: await stream.leaves(),
    path: [path.length, path.cut, (await collect(path.ids())).length, (await collect(path.resolved())).length],
    view: [view, await collect(entries())],
    side: (await stream.activePath({ head: 'side' })).length,
    gets: await Promise.all(ids.map((id) => stream.get(id))),
    entities: [
      await stream.entity('message', 'm0'),
      await stream.entity('tool_call', 'k4100'),
      await stream.entity('tool_result', 'k0'),
    ],
    range: await collect(stream.records({ from: 4_090, to: 4_100 })),
  }
}

async function rowsOf({ log, index }: MemoryLocation): Promise<[string, Uint8Array][]> {
  const { name } = await onlyLogFile(log)
  const incarnation = /-([0-9a-f]{16})-/.exec(name)![1]
  const rows: [string, Uint8Array][] = []
  for await (const [key, bytes] of logRows(index, incarnation)) rows.push([key, new Uint8Array(bytes)])
  return rows
}

const sound = await filledMemory()
const soundStore = await openStore(sound)
const expected = await answers(soundStore)
await soundStore.close()
const rows = await rowsOf(sound)

/** The same store again, without writing each record. */
async function copyOfSound(): Promise<MemoryLocation> {
  const location = memoryLocation()
  const { name, bytes } = await onlyLogFile(sound.log)
  location.log.append(name, bytes)
  await location.index.open()
  for (const [key, row] of rows) await location.index.put(key, row, ENCODINGS)
  return location
}

test('a store of this size has a root, heads, a dictionary, a directory, and pages with their keys', () => {
  assert.equal(
    rows.map(([key]) => key.split('/')[1]),
    ['a', 'b', 'c', 'd', 'e', 'e', 'f', 'f'],
  )
})

for (const [name, change] of [
  ['deleted', undefined],
  ['with a bit turned over', (bytes: Uint8Array) => flipped(bytes, bytes.length >> 1, 3)],
  ['cut short', (bytes: Uint8Array) => bytes.subarray(0, bytes.length >> 1)],
] as const) {
  test(`CORE-10, CORE-26: with any row ${name} before opening, all answers are the same`, async () => {
    for (const [key, bytes] of rows) {
      await sound.index.open()
      if (change === undefined) await sound.index.del(key, ENCODINGS)
      else await sound.index.put(key, change(bytes), ENCODINGS)
      const store = await openStore(sound)
      assert.equal(await answers(store), expected, key)
      // Without its root row a log is as if no index had seen it yet.
      if (change !== undefined) assert.ok(codesOf(store.notices).includes('index_rebuilt'), `${key} is told of`)
      await store.close()
      assert.equal(new Map(await rowsOf(sound)).get(key), bytes, `${key} is as it was`)
    }
  })
}

test('CORE-10, CORE-26: a row that is damaged behind an open stream is noticed at the question that needs it', async () => {
  for (const [key, bytes] of rows.slice(3)) {
    const store = await openStore(sound)
    const stream = await store.stream('s')
    await sound.index.put(key, flipped(bytes, 9), ENCODINGS)
    assert.equal(await answers(store), expected, key)
    assert.ok(codesOf(store.notices).includes('index_rebuilt'), key)
    assert.is(stream.length, (await store.stream('s')).length)
    await store.close()
    assert.equal(new Map(await rowsOf(sound)).get(key), bytes)
  }
})

test('CORE-10: an append that needs a damaged row succeeds, once', async () => {
  for (const [key, bytes] of rows.slice(3)) {
    const location = await copyOfSound()
    const store = await openStore(location)
    const stream = await store.stream('s')
    await location.index.put(key, flipped(bytes, 9), ENCODINGS)
    const { length } = stream
    const receipt = await stream.append([message('new'), message('m0', { role: 'user' })])
    assert.equal([receipt.first, receipt.last, receipt.duplicates], [1, length + 1, 1])
    assert.is((await stream.get('new'))?.type, 'message')
    assert.is(stream.length, length + 1)
    await store.close()
  }
})

test('CORE-10: with records that the index has not seen yet, a damaged row does not keep the stream from opening', async () => {
  for (const readOnly of [false, true]) {
    for (const [key, bytes] of rows) {
      const location = await copyOfSound()
      const writer = await openStore(location)
      await (await writer.stream('s')).append([message('late', { supersedes: 'm100' }), message('later')])
      await location.index.put(key, flipped(bytes, bytes.length >> 1), ENCODINGS)
      const store = await openStore({ log: location.log, index: location.index }, { readOnly })
      const stream = await store.stream('s')
      assert.is((await stream.get('late'))?.supersedes, 'm100', key)
      assert.equal(
        (await stream.entity('message', 'm100')).map(({ revisions }) => revisions.length),
        [2],
        key,
      )
      assert.is((await stream.get('m0'))?.id, 'm0', key)
    }
  }
})

test('CORE-10: a reader to whom a row is lost while it follows a writer goes on', async () => {
  for (const [key, bytes] of rows.slice(3)) {
    const location = await copyOfSound()
    const writer = await (await openStore(location)).stream('s')
    const index = (await copyOfSound()).index
    const reader = await openStore({ log: location.log, index }, { readOnly: true })
    const stream = await reader.stream('s')
    await index.put(key, flipped(bytes, bytes.length >> 1), ENCODINGS)
    await writer.append(message('late', { supersedes: 'm100' }))
    assert.is((await stream.get('late'))?.supersedes, 'm100', key)
    assert.is((await stream.get('m0'))?.id, 'm0', key)
  }
})

test('CORE-10: two questions that meet the same damage are both answered', async () => {
  const location = await copyOfSound()
  const store = await openStore(location)
  const stream = await store.stream('s')
  for (const [key, bytes] of await rowsOf(location))
    if (/\/[ef]\//.test(key)) await location.index.put(key, flipped(bytes, 9), ENCODINGS)
  const asked = [
    stream.get('m0'),
    stream.leaves(),
    stream.get('nobody'),
    stream.append(message('new')),
    stream.get('c4200'),
  ]
  const [m0, leaves, nobody, receipt, c4200] = await Promise.all(asked)
  assert.equal([(m0 as { id: string }).id, nobody, (c4200 as { id: string }).id], ['m0', undefined, 'c4200'])
  assert.ok((leaves as unknown[]).length > 0 && receipt !== undefined)
  await store.close()
})

const ENDLESS = 3_000

/** Makes a call of a level fail, until what it returns is called; after very many tries it does not answer any more. */
function broken({ index }: MemoryLocation, method: 'get' | 'batch'): () => void {
  const original = index[method]
  let calls = 0
  const fail = () =>
    new Promise((_, reject) => {
      if (++calls < ENDLESS) setImmediate(() => reject(new Error('the disk is gone')))
    })
  Object.assign(index, { [method]: fail })
  return () => {
    Object.assign(index, { [method]: original })
  }
}

/** The answer, unless it takes for ever. */
async function inTime<T>(asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it never ends')), 10_000)
  })
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

test('CORE-10: an index that can not be written fails no append and no answer, and is told', async () => {
  const location = memoryLocation()
  const store = await openStore(location)
  const mend = broken(location, 'batch')
  await fill(store)
  assert.equal(withoutBytes(await answers(store)), withoutBytes(expected))
  await store.close()
  assert.ok(codesOf(store.notices).includes('index_not_written'))
  mend()
  const again = await openStore(location)
  assert.equal(withoutBytes(await answers(again)), withoutBytes(expected))
  assert.is((await again.verify()).ok, true)
})

test('CORE-10: an index that can not be read is made in memory, and the answers are the same', async () => {
  const location = await copyOfSound()
  const store = await openStore(location)
  const stream = await store.stream('s')
  const mend = broken(location, 'get')
  assert.equal(withoutBytes(await inTime(answers(store))), withoutBytes(expected))
  await stream.append(message('new'))
  assert.is((await stream.get('new'))?.id, 'new')
  await store.close()
  mend()
  const again = await openStore(location)
  assert.is((await (await again.stream('s')).get('new'))?.id, 'new')
  assert.is((await again.verify()).ok, true)
})

/** The size of a log is not told here: it depends on what its appends had to say of shapes. */
function withoutBytes(all: unknown): unknown {
  const { info, ...rest } = all as { info: { bytes: number }[] }
  return { info: info.map(({ bytes: _, ...one }) => one), ...rest }
}

async function filledFolder(): Promise<{ folder: string; answers: unknown }> {
  const folder = tempFolder()
  const store = await openStore(folder)
  await fill(store, 300)
  await store.close()
  const reopened = await openStore(folder)
  const all = await answersOf(reopened)
  await reopened.close()
  return { folder, answers: all }
}

test('CORE-10, CORE-26: a folder without its index, or with an empty one, gives the same answers', async () => {
  const { folder, answers: all } = await filledFolder()
  const index = join(folder, 'index')
  for (const lose of [
    () => rmSync(index, { recursive: true, force: true }),
    () => {
      rmSync(index, { recursive: true, force: true })
      mkdirSync(index)
    },
  ]) {
    lose()
    for (let opening = 0; opening < 2; opening++) {
      const store = await openStore(folder)
      assert.equal(await answersOf(store), all)
      assert.is((await store.verify()).ok, true)
      await store.close()
    }
  }
})

test('CORE-10, CORE-26: with any file of the index gone, empty, cut or changed the answers are the same', async () => {
  const { folder, answers: all } = await filledFolder()
  const index = join(folder, 'index')
  const spare = join(tempFolder(), 'index')
  cpSync(index, spare, { recursive: true })
  for (const file of readdirSync(spare).filter((name) => !/^LO/.test(name))) {
    const path = join(index, file)
    const { size } = statSync(join(spare, file))
    const changes = [
      () => rmSync(path),
      () => truncateSync(path, 0),
      () => truncateSync(path, size >> 1),
      ...(size === 0 ? [] : [0.1, 0.5, 0.9]).map(
        (at) => () => writeFileSync(path, flipped(new Uint8Array(readFileSync(path)), Math.floor(size * at))),
      ),
    ]
    for (const [n, change] of changes.entries()) {
      rmSync(index, { recursive: true, force: true })
      cpSync(spare, index, { recursive: true })
      change()
      const store = await openStore(folder)
      assert.equal(await answersOf(store), all, `${file}, change ${n}`)
      assert.equal(
        (await store.verify()).streams[0].problems.filter(({ severity }) => severity === 'damage'),
        [],
      )
      await store.close()
    }
  }
})

test('an index of another store, or of an earlier time, is not believed', async () => {
  const { folder, answers: all } = await filledFolder()
  const other = await filledFolder()
  const early = join(tempFolder(), 'index')
  rmSync(join(folder, 'index'), { recursive: true, force: true })
  cpSync(join(other.folder, 'index'), join(folder, 'index'), { recursive: true })
  const store = await openStore(folder)
  assert.equal(await answersOf(store), all)
  await store.close()
  cpSync(join(folder, 'index'), early, { recursive: true })
  const writing = await openStore(folder)
  const stream = await writing.stream('s')
  await stream.append([message('later'), message('m0', { role: 'user' })])
  await writing.close()
  const reading = await openStore(folder)
  const now = await answersOf(reading)
  await reading.close()
  rmSync(join(folder, 'index'), { recursive: true, force: true })
  cpSync(early, join(folder, 'index'), { recursive: true })
  const stale = await openStore(folder)
  assert.equal(await answersOf(stale), now)
  await stale.close()
})

test('a stream without records is asked everything, and nobody takes that for damage', async () => {
  const store = await openStore(memoryLocation())
  const stream = await store.createStream(header())
  assert.equal([await stream.leaves(), await stream.heads(), (await stream.activePath()).length], [[], [], 0])
  assert.equal(
    [await stream.get('m1'), await stream.get('r1'), await stream.entity('message', 'm1')],
    [undefined, undefined, []],
  )
  assert.equal([await collect((await stream.contextView()).entries()), await collect(stream.records())], [[], []])
  assert.equal(store.notices, [])
})

test('CORE-26: rebuilding on request changes no answer and no row', async () => {
  const store = await openStore(sound)
  const before = await rowsOf(sound)
  await store.rebuildIndex()
  assert.equal(await answers(store), expected)
  await store.close()
  const after = new Map(await rowsOf(sound))
  for (const [key, bytes] of before) assert.equal(after.get(key), bytes, key)
  assert.is(after.size, before.length)
})

test.run()
