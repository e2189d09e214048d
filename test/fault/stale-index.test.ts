/**
 * An index of another time than the log: what a power cut leaves of a level that does not sync, or a backup of one without the
 * other. It may be believed only for what the log still says; and then the log's answers are the only ones.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { decodeRoot, encodeRoot } from '../../src/index/root.js'
import { header } from '../support/records.js'
import { cases, figure } from './battery.js'
import { FaultyStorage } from './faulty-storage.js'
import {
  appendInNewSegment,
  coreOf,
  filesOf,
  freshLevel,
  levelOf,
  openAt,
  type Rows,
  rowsOf,
  storageOf,
} from './place.js'
import { holdsPromises } from './promises.js'
import { type Append, evenRecords, type Written } from './written.js'

const committed = (record: Append['records'][number]): Append => ({ records: [record], promised: 'committed' })

/** A stream that lost its unsynced end in a power cut and was written on; with every index there was on the way. */
async function twice(
  kept: number,
  lost: number,
  newer: number,
  segments: boolean,
): Promise<{ files: ReturnType<typeof filesOf>; indexes: Rows[]; expected: Written }> {
  const storage = new FaultyStorage(storageOf(new Map()))
  const level = freshLevel()
  const indexes: Rows[] = []
  const flush = async (stream: Parameters<typeof coreOf>[0]): Promise<void> => {
    await coreOf(stream).flush()
    indexes.push(await rowsOf(level))
  }
  const store = await openAt(storage, level, { boot: 'first' })
  const stream = await store.createStream(header('s'))
  const records = evenRecords(kept + lost, 'm')
  for (const [n, record] of records.entries()) {
    await (segments && n % 4 === 3 ? appendInNewSegment(stream, [record]) : stream.append(record))
    if (n === kept - 1) await coreOf(stream).sync()
    await flush(stream)
  }
  await storage.powerCut('drop')
  const second = await openAt(storage, level, { boot: 'second', powerCut: true })
  const again = await second.stream('s')
  assert.is(again.length, kept)
  const others = evenRecords(newer, 'n')
  for (const record of others) {
    await again.append(record)
    await flush(again)
  }
  await coreOf(again).sync()
  const files = filesOf(storage.inner as ReturnType<typeof storageOf>)
  return {
    files,
    indexes,
    expected: { sessionId: 's', appends: [...records.slice(0, kept), ...others].map(committed) },
  }
}

test('after two power cuts an index of the first history is not believed for the second, whatever fits by chance', async () => {
  const shapes: [number, number, number, boolean][] = [
    [5, 5, 5, false], // the old index ends exactly where the log does
    [5, 5, 12, false], // inside it, at the end of another record
    [5, 9, 3, false], // behind it
    [6, 6, 6, true],
    [1, 3, 3, false],
    ...(figure(0, 1) === 1
      ? ([
          [40, 30, 30, true],
          [40, 30, 80, false],
        ] as [number, number, number, boolean][])
      : []),
  ]
  for (const [kept, lost, newer, segments] of shapes) {
    const { files, indexes, expected } = await twice(kept, lost, newer, segments)
    await cases(`stale indexes, ${kept} kept, ${lost} lost, ${newer} newer`, indexes.length * 2, async (n) => {
      const store = await openAt(
        storageOf(files),
        await levelOf(indexes[n >> 1]),
        n % 2 ? { boot: 'third', powerCut: true } : { boot: 'second' },
      )
      const stream = await store.stream('s')
      await stream.append({ type: 'message', id: 'more' })
      const retried = await stream.append(expected.appends.flatMap(({ records }) => records))
      assert.is(retried.appended, 0, 'every id is known')
      const all = { ...expected, appends: [...expected.appends, committed({ type: 'message', id: 'more' })] }
      await holdsPromises(store, [all])
      await store.close()
    })
  }
})

test('an index of another store, or of none, does not answer for this one', async () => {
  const mine = await twice(3, 1, 3, false)
  const theirs = await twice(2, 1, 2, false)
  const roots = theirs.indexes.at(-1)!
  const incarnation = mine.indexes[0][0][0].slice(0, 16)
  const renamed: Rows = roots.map(([key, value]) => {
    const root = decodeRoot(value, key.slice(0, 16))
    return [`${incarnation}${key.slice(16)}`, root === undefined ? value : encodeRoot(root, incarnation)]
  })
  for (const rows of [
    roots,
    renamed,
    [...roots, ...mine.indexes[0]],
    [[`${incarnation}/a`, new Uint8Array(0)] as Rows[number]],
  ]) {
    const store = await openAt(storageOf(mine.files), await levelOf(rows), { boot: 'second' })
    const stream = await store.stream('s')
    await stream.append({ type: 'message', id: 'more' })
    const all = { ...mine.expected, appends: [...mine.expected.appends, committed({ type: 'message', id: 'more' })] }
    const problems = (await store.verify()).streams
      .flatMap(({ problems: found }) => found)
      .filter(({ code }) => code !== 'lost_stream')
    assert.equal(problems, [])
    assert.equal((await stream.get('m00001'))?.id, all.appends[0].records[0].id)
    assert.is(stream.length, all.appends.length)
  }
})

test.run()
