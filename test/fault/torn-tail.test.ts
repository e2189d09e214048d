/**
 * Battery 5: the newest log cut at every byte. What stands whole before the cut is kept, an append that is torn goes as a
 * whole, the rest of the store does not notice; when the index bears witness to more, that is a lost tail.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KIND } from '../../src/log/format/frame.js'
import type { AsrRecord } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { header } from '../support/records.js'
import { cases, figure, Random, SEED } from './battery.js'
import { framesIn } from './damage.js'
import { filesOf, freshLevel, levelOf, type Options, OTHER, openAt, rowsOf, storageOf } from './place.js'
import { holdsDespiteDamage, holdsPromises, indexIsRebuilt, matchAppends } from './promises.js'
import { type Append, anyRecord, evenRecords, type Written } from './written.js'

interface Shape {
  name: string
  batches: AsrRecord[][]
}

function batchesOf(random: Random, count: number, largest: number): AsrRecord[][] {
  const batches: AsrRecord[][] = []
  for (let n = 0; n < count; ) {
    const size = Math.min(1 + random.below(largest), count - n)
    batches.push(Array.from({ length: size }, () => anyRecord(random, `x${n++}`)))
  }
  return batches
}

const SHAPES: Shape[] = [
  { name: 'records of many kinds, in batches', batches: batchesOf(new Random(SEED, 1), 16, 5) },
  ...(figure(0, 1) === 0
    ? []
    : [
        { name: 'records that are alike, one by one', batches: evenRecords(60).map((record) => [record]) },
        {
          name: 'one large append',
          batches: [Array.from({ length: 60 }, (_, n) => anyRecord(new Random(SEED, n), `y${n}`))],
        },
      ]),
]

/** The store before the cut: not closed, as a killed process leaves it; or closed, so that the index is a witness. */
async function store({ batches }: Shape, close: boolean) {
  const storage = storageOf(new Map())
  const level = freshLevel()
  const opened = await openAt(storage, level)
  const other = await opened.createStream(header(OTHER.sessionId))
  for (const { records } of OTHER.appends) await other.append(records)
  const before = new Set(storage.list('streams').map(({ name }) => name))
  const stream = await opened.createStream(header('s'))
  const file = storage.list('streams').find(({ name }) => !before.has(name))!.name
  for (const batch of batches) await stream.append(batch)
  if (close) await opened.close()
  const files = filesOf(storage)
  return { files, file, bytes: files.get(file)!, rows: await rowsOf(level) }
}

/** What has to be there when only so many bytes of the log are: whole appends that end before the cut. */
function expectedAt(
  { batches }: Shape,
  file: string,
  bytes: Uint8Array,
  cut: number,
): { appends: number; tail: boolean } {
  const frames = framesIn(file, bytes)
  const kept = frames.filter(({ at, size }) => at + size <= cut)
  const records = kept.filter(({ kind }) => kind === KIND.record).length
  let [appends, sum] = [0, 0]
  while (appends < batches.length && sum + batches[appends].length <= records) sum += batches[appends++].length
  const complete = kept.filter(({ kind, pos }) => kind !== KIND.dictionary && pos <= sum).at(-1)
  return { appends, tail: complete === undefined || complete.at + complete.size < cut }
}

for (const shape of SHAPES) {
  test(`torn tail: ${shape.name}, cut at every byte without a witness: whole appends stay, and are written on`, async () => {
    const { files, file, bytes } = await store(shape, false)
    await cases(`torn tail, ${shape.name}`, bytes.length, async (cut, _, tally) => {
      const { appends, tail } = expectedAt(shape, file, bytes, cut)
      const storage = storageOf(new Map(files).set(file, bytes.subarray(0, cut)))
      const expected: Written = {
        sessionId: 's',
        appends: shape.batches.map((records, n) => ({ records, promised: n < appends ? 'committed' : 'tried' })),
      }
      const opened = await reopenedTwice(storage, expected, appends, tail)
      if (cut % 16 === 0) await indexIsRebuilt(opened)
      await opened.close()
      tally.add(tail ? 'torn' : 'at an append’s end')
    })
  })

  test(`torn tail: ${shape.name}, cut at every byte below its witness: the loss is fatal and named`, async () => {
    const { files, file, bytes, rows } = await store(shape, true)
    await cases(`lost tail, ${shape.name}`, bytes.length, async (cut) => {
      const { appends } = expectedAt(shape, file, bytes, cut)
      const kept = shape.batches.slice(0, appends).flat().length
      const storage = storageOf(new Map(files).set(file, bytes.subarray(0, cut)))
      const opened = await openAt(storage, await levelOf(rows))
      const expected: Written = {
        sessionId: 's',
        appends: shape.batches.map((records) => ({ records, promised: 'committed' })),
      }
      const { missing, report } = await holdsDespiteDamage(opened, expected, [OTHER])
      assert.is(missing.length, shape.batches.flat().length - kept)
      assert.match(report[0], cut === 0 ? /ASR_/ : 'ASR_LOST_TAIL')
      const stream = await opened.stream('s')
      const error = await fails('ASR_LOST_TAIL', () => stream.append({ type: 'message' }))
      assert.is(error.pos, kept + 1, 'the first lost position')
      assert.equal(filesOf(storage).get(file), bytes.subarray(0, cut), 'nothing is cut before the loss is accepted')
      await opened.close()
    })
  })
}

/** Opened, written on, and opened again with the index and without it: the stream is whole each time. */
async function reopenedTwice(
  storage: ReturnType<typeof storageOf>,
  expected: Written,
  appends: number,
  tail: boolean,
): ReturnType<typeof openAt> {
  const level = freshLevel()
  const opened = await openAt(storage, level)
  const isThere = appends > 0 || (await sessions(opened)).includes('s')
  if (!isThere) await opened.createStream(header('s'))
  const stream = await opened.stream('s')
  if (isThere)
    assert.equal(
      opened.notices.map(({ code }) => code),
      tail ? ['torn_tail'] : [],
      'a torn tail is said',
    )
  // What was torn is sent again, shapes and all, and something new behind it.
  const again = expected.appends.slice(appends, appends + 2)
  const more = [...again, { records: evenRecords(2, 'new') }, { records: [{ type: 'state', extra: { shape: 1 } }] }]
  for (const { records } of more) await stream.append(records)
  const added = more.map(({ records }): Append => ({ records, promised: 'committed' }))
  const all: Written = { sessionId: 's', appends: [...expected.appends.slice(0, appends), ...added] }
  matchAppends(await collect(stream.records()), all, 'nothing')
  await opened.close()
  const indexed = await openAt(storage, level)
  matchAppends(await collect((await indexed.stream('s')).records()), all, 'nothing')
  assert.equal(indexed.notices, [])
  await indexed.close()
  const last = await openAt(storage, freshLevel())
  await holdsPromises(last, [all])
  assert.equal(last.notices, [])
  return last
}

async function sessions(opened: Awaited<ReturnType<typeof openAt>>): Promise<string[]> {
  return (await collect(opened.streams())).map(({ sessionId }) => sessionId)
}

test('torn tail: what is cut off is kept beside the log, byte for byte', async () => {
  const shape = SHAPES[0]
  const { files, file, bytes } = await store(shape, false)
  for (const options of [{}, { acceptLoss: true }] satisfies Options[]) {
    const storage = storageOf(new Map(files).set(file, bytes.subarray(0, bytes.length - 5)))
    const opened = await openAt(storage, freshLevel(), options)
    await opened.stream('s')
    const kept = storage.size(file)!
    assert.equal(storage.read(`${file}.cut-${kept}`, 0, 1e6), bytes.slice(kept, bytes.length - 5))
    await opened.close()
  }
})

test.run()
