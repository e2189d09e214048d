/**
 * Battery 19 to 22: many writers of one stream, appends under way when the store closes, followers that are slow or cut off,
 * readers beside a writer.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type AsrError,
  type AsrRecord,
  type Followed,
  isAsrError,
  openStore,
  type Receipt,
  type Store,
  type Stream,
} from '../../src/main.js'
import { collect } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { waitingLocation } from '../support/levels.js'
import { header } from '../support/records.js'
import { openMemory } from '../support/stores.js'
import { tempFolder } from '../support/temp.js'
import { cases, figure, type Random } from './battery.js'
import { holdsPromises } from './promises.js'
import { type Append, anyRecord, type Written } from './written.js'

const pause = (ms = 0) => new Promise<void>((resolve) => (ms === 0 ? setImmediate(resolve) : setTimeout(resolve, ms)))

test('16 writers of one stream, each with the length it expects: what is accepted is stored, and each conflict says how far it is', async () => {
  await cases('16 writers', figure(1, 20), async (n, _, tally) => {
    const { store, location } = await openMemory(waitingLocation())
    const stream = await store.createStream(header('s'))
    const accepted: string[] = []
    const end = performance.now() + 2_000
    const writer = async (w: number): Promise<void> => {
      let expected = 0
      for (let i = 0; performance.now() < end; i++) {
        const id = `${w}.${i}`
        try {
          const { first } = await stream.append({ type: 'message', id }, { expected })
          assert.is(first, expected + 1)
          accepted[first - 1] = id
          expected = first
        } catch (error) {
          if (!isAsrError(error, 'ASR_CONFLICT')) throw error
          assert.ok((error.actual as number) > expected, 'a conflict is with what came since')
          expected = error.actual as number
          tally.add('conflicts')
        }
        await pause()
      }
    }
    await Promise.all(Array.from({ length: 16 }, (_, w) => writer(w)))
    tally.add('accepted', accepted.length)
    assert.equal(
      (await collect(stream.records())).map(({ id }) => id),
      accepted,
      String(n),
    )
    await store.close()
    const again = (await openMemory(location)).store
    await holdsPromises(again, [
      {
        sessionId: 's',
        appends: accepted.map((id): Append => ({ records: [{ type: 'message', id }], promised: 'committed' })),
      },
    ])
  })
})

/** What became of an append: exactly one of both. */
type Settled = { receipt: Receipt } | { error: AsrError }

function settle(append: Promise<Receipt>): Promise<Settled> {
  return append.then(
    (receipt) => ({ receipt }),
    (error: AsrError) => ({ error }),
  )
}

async function closeAmidst(
  place: { open(): Promise<Store> },
  random: Random,
  tally: { add(what: string): void },
): Promise<void> {
  const store = await place.open()
  const streams = await Promise.all(['a', 'b', 'c'].map((session) => store.createStream(header(session))))
  const calls: { session: string; records: AsrRecord[]; outcome: Promise<Settled> }[] = []
  const at = random.below(65)
  let closing: Promise<void> | undefined
  for (let n = 0; n < 64; n++) {
    if (n === at) closing = store.close()
    if (random.chance(0.1)) await pause()
    const stream = random.pick(streams)
    const records = Array.from({ length: 1 + random.below(3) }, (_, i) => anyRecord(random, `${n}.${i}`))
    const outcome = settle(stream.append(records))
    calls.push({ session: stream.sessionId, records, outcome })
    if (closing !== undefined) assert.ok('error' in (await outcome), 'a call after close() is refused')
  }
  closing ??= store.close()
  await Promise.all([closing, store.close()])
  const expected = new Map<string, Written>(streams.map(({ sessionId }) => [sessionId, { sessionId, appends: [] }]))
  for (const { session, records, outcome } of calls) {
    const settled = await outcome
    if ('error' in settled) {
      assert.is(settled.error.code, 'ASR_CLOSED', settled.error.message)
      tally.add('refused as closed')
      continue
    }
    tally.add('acknowledged')
    expected.get(session)!.appends.push({ records, promised: 'committed' })
  }
  for (const stream of streams) await fails('ASR_CLOSED', () => stream.append({ type: 'message' }))
  await fails('ASR_CLOSED', () => store.stream('a'))
  const again = await place.open()
  await holdsPromises(again, [...expected.values()])
  assert.equal(again.notices, [])
  await again.close()
}

test('64 appends under way and close() in the middle: each settles once, what is acknowledged is there, later calls are refused', async () => {
  await cases('close amidst appends, in memory', figure(200, 3_000), async (_, random, tally) => {
    const { location, store } = await openMemory(waitingLocation())
    await store.close()
    await closeAmidst({ open: async () => (await openMemory(location)).store }, random, tally)
  })
  await cases('close amidst appends, in a folder', figure(50, 1_000), async (_, random, tally) => {
    const folder = join(tempFolder(), 'store')
    await closeAmidst({ open: () => openStore(folder) }, random, tally)
  })
})

test('close() beside every other call of a store: nothing is done by halves, and nothing fails but as closed', async () => {
  const calls: { [name: string]: (store: Store, stream: Stream) => Promise<unknown> } = {
    createStream: (store) => store.createStream(header('new')),
    deleteStream: (store) => store.deleteStream('s'),
    stream: (store) => store.stream('other'),
    streams: (store) => collect(store.streams()),
    import: (store) => store.importJsonl([`${JSON.stringify(header('imported'))}\n{"type":"message"}\n`]),
    extend: (store) =>
      store.importJsonl([`${JSON.stringify(header('s'))}\n{"type":"message","id":"m1","seq":1}\n{"type":"message"}\n`]),
    verify: (store) => store.verify(),
    rebuildIndex: (store) => store.rebuildIndex(),
    get: (_, stream) => stream.get('m1'),
    revise: (_, stream) => stream.reviseHeader({ title: 'x' }),
    setHead: (_, stream) => stream.setHead('h', 'm1'),
    records: (_, stream) => collect(stream.records()),
    contextView: (_, stream) => stream.contextView(),
  }
  const names = Object.keys(calls)
  await cases('close beside a call', names.length * figure(12, 200), async (n, random, tally) => {
    const name = names[n % names.length]
    const folder = join(tempFolder(), 'store')
    const store = await openStore(folder)
    const stream = await store.createStream(header('s'))
    await stream.append({ type: 'message', id: 'm1' })
    await store.createStream(header('other'))
    const outcome = calls[name](store, stream).then(
      () => 'done',
      (error: AsrError) => (isAsrError(error) ? error.code : String(error)),
    )
    for (let i = random.below(6); i > 0; i--) await Promise.resolve()
    for (let i = random.below(4); i > 0; i--) await pause()
    await store.close()
    const what = await outcome
    assert.ok(what === 'done' || what === 'ASR_CLOSED', `${name}: ${what}`)
    tally.add(what)
    const again = await openStore(folder)
    assert.is((await again.verify()).ok, true)
    assert.equal(again.notices, [])
    const sessions = (await collect(again.streams())).map(({ sessionId }) => sessionId)
    if (name === 'deleteStream') assert.is(sessions.includes('s'), what !== 'done', 'deleted or not')
    if (name === 'createStream' && what === 'done') assert.ok(sessions.includes('new'))
    if (name === 'import') assert.is(sessions.includes('imported'), what === 'done')
    if (name === 'extend') assert.is((await again.stream('s')).length, what === 'done' ? 2 : 1)
    await again.close()
  })
})

/** Takes what is followed until so many were seen, at its own speed; ends in the middle when `cutOff` says so. */
async function takeSome(items: AsyncIterable<Followed>, until: number, random: Random): Promise<number[]> {
  const seen: number[] = []
  let isCaughtUp = false
  for await (const item of items) {
    if ('caughtUp' in item) {
      assert.not(isCaughtUp, 'it is caught up once')
      isCaughtUp = true
      if (until === seen.length) break
      continue
    }
    assert.is(item.record.mark, item.pos)
    seen.push(item.pos)
    if (seen.length >= until) break
    if (random.chance(0.05)) await pause(random.below(3))
  }
  return seen
}

test('followers from anywhere, slow, cut off and come again, while others append: no gap, no repeat, no other order', async () => {
  await cases('followers', figure(20, 200), async (_, random, tally) => {
    const { store } = await openMemory(waitingLocation())
    const stream = await store.createStream(header('s'))
    const total = 300
    let written = 0
    const write = async (): Promise<void> => {
      while (written < total) {
        const records = Array.from({ length: Math.min(1 + random.below(7), total - written) }, () => ({
          type: 'message',
          mark: ++written,
        }))
        await stream.append(records)
        if (random.chance(0.3)) await pause(random.below(2))
      }
    }
    const follower = async (): Promise<void> => {
      let after = random.below(Math.max(1, stream.length))
      while (after < total) {
        const seen = await takeSome(stream.follow({ after }), Math.min(1 + random.below(120), total - after), random)
        assert.equal(
          seen,
          Array.from({ length: seen.length }, (_, i) => after + i + 1),
        )
        after += seen.length
        tally.add('cut off')
      }
    }
    await Promise.all([write(), ...Array.from({ length: 5 }, follower)])
    await store.close()
  })
})

test('followers end at once: with their signal without an error, with the store closed', async () => {
  await cases('followers that end', figure(40, 400), async (n, random) => {
    const { store } = await openMemory(waitingLocation())
    const stream = await store.createStream(header('s'))
    for (let i = 1; i <= 10; i++) await stream.append({ type: 'message', mark: i })
    const abort = new AbortController()
    const following = takeSome(stream.follow({ signal: abort.signal }), 1_000, random)
    for (let i = random.below(20); i > 0; i--) await pause()
    if (n % 2 === 0) abort.abort()
    else await store.close()
    const seen = await following.catch(({ code }: AsrError) => {
      assert.is(code, n % 2 === 0 ? 'none' : 'ASR_CLOSED')
      return []
    })
    assert.equal(
      seen,
      Array.from({ length: seen.length }, (_, i) => i + 1),
    )
    await store.close()
  })
})

test('readers beside a writer of the same folder see a prefix each time, never less than before, never half an append', async () => {
  await cases('readers beside a writer', figure(3, 30), async (_, random, tally) => {
    const folder = join(tempFolder(), 'store')
    const writer = await openStore(folder)
    const stream = await writer.createStream(header('s'))
    let isDone = false
    const total = figure(1_500, 6_000)
    const write = async (): Promise<void> => {
      for (let n = 0; n < total; n += 5) {
        await stream.append(Array.from({ length: 5 }, (_, i) => ({ type: 'message', mark: n + i + 1 })))
        if (n % 100 === 0) await pause(1)
      }
      isDone = true
    }
    const read = async (): Promise<void> => {
      const reader = await openStore(folder, { readOnly: true })
      const seen = await reader.stream('s')
      let before = 0
      do {
        const records = await collect(seen.records())
        assert.is(records.length % 5, 0, 'whole appends')
        assert.ok(records.length >= before)
        assert.ok(records.every(({ mark }, i) => mark === i + 1))
        before = records.length
        tally.add('looks')
        await pause(random.below(5))
      } while (!isDone)
      const followed = await takeSome(seen.follow(), total, random)
      assert.is(followed.length, total)
      await reader.close()
    }
    await Promise.all([write(), read(), read()])
    await writer.close()
  })
})

test('a range that is read while others append ends where the stream ended when it began', async () => {
  const { store } = await openMemory(waitingLocation())
  const stream = await store.createStream(header('s'))
  for (let n = 1; n <= 500; n++) await stream.append({ type: 'message', mark: n })
  const seen: number[] = []
  for await (const { mark } of stream.records()) {
    seen.push(mark as number)
    if (seen.length % 10 === 0) await stream.append({ type: 'message', mark: 500 + seen.length })
  }
  assert.is(seen.length, 500)
  const path = await stream.activePath()
  await stream.append({ type: 'message', mark: 0 })
  assert.is((await collect(path.records())).length, path.length)
  await store.close()
})

test(`${figure(50_000, 1_000_000)} appends one by one: descriptors and memory stay as they are`, async () => {
  const store = await openStore(join(tempFolder(), 'store'))
  const stream = await store.createStream(header('s'))
  const total = figure(50_000, 1_000_000)
  let [open, memory] = [0, 0]
  for (let n = 1; n <= total; n++) {
    await stream.append({ type: 'message', mark: n })
    if (n !== total / 5) continue
    open = descriptors()
    memory = process.memoryUsage().rss
  }
  const after = process.memoryUsage().rss
  process.stdout.write(
    `figure: ${total} appends: ${Math.round(memory / 1e6)} MB after a fifth, ${Math.round(after / 1e6)} MB at the end\n`,
  )
  assert.ok(descriptors() <= open + 2, `${open} descriptors, then ${descriptors()}`)
  assert.ok(after < memory * figure(1.5, 2), `${memory} bytes, then ${after}`)
  assert.is(stream.length, total)
  await store.close()
})

function descriptors(): number {
  return readdirSync('/dev/fd').length
}

test(`a store is opened and closed ${figure(500, 10_000)} times: descriptors, memory and files stay as they are`, async () => {
  const folder = join(tempFolder(), 'store')
  let [open, files, memory] = [0, 0, 0]
  const rounds = figure(500, 10_000)
  for (let n = 0; n < rounds; n++) {
    const store = await openStore(folder)
    const stream = n === 0 ? await store.createStream(header('s')) : await store.stream('s')
    await stream.append({ type: 'message', mark: n + 1 })
    await store.close()
    if (n !== Math.floor(rounds / 5)) continue
    open = descriptors()
    files = readdirSync(folder, { recursive: true }).length
    memory = process.memoryUsage().rss
  }
  assert.ok(descriptors() <= open + 2, `${open} descriptors, then ${descriptors()}`)
  assert.ok(readdirSync(folder, { recursive: true }).length <= files + 4, 'files do not pile up')
  assert.ok(process.memoryUsage().rss < memory * 1.3, `${memory} bytes, then ${process.memoryUsage().rss}`)
  const store = await openStore(folder)
  assert.is((await store.stream('s')).length, rounds)
  await store.close()
})

test.run()
