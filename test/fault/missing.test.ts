/**
 * Battery 9: each file of a store is missing, with and without `create`. Never an empty store over one that was there: what
 * follows from the logs is made again, what is lost is said.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AsrError, isAsrError, openStore } from '../../src/main.js'
import { collect } from '../support/collect.js'
import { header } from '../support/records.js'
import { tempFolder } from '../support/temp.js'
import { cases, DEEP, Random, SEED } from './battery.js'
import { type Image, imageOf, keptFolder, lockOf, putDown, withStore } from './folder.js'
import { appendInNewSegment, filesOf, freshLevel, levelOf, OTHER, openAt, rowsOf, storageOf } from './place.js'
import { holdsDespiteDamage, holdsPromises } from './promises.js'
import { anyRecord, evenRecords, written } from './written.js'

const kept = await keptFolder(
  Array.from({ length: 60 }, (_, n) => ({ ...anyRecord(new Random(SEED, 12, n), `x${n}`), id: `x${n}` })),
)
const whole = new Map(kept.image).set('LOCK', new TextEncoder().encode(lockOf('some boot')))
const isLog = (name: string): boolean => /^streams\/.*\.log$/.test(name)
const names = [...whole.keys()].sort()
const sets = names.map((name) => [name])
if (DEEP) for (const one of names) for (const other of names) if (one < other) sets.push([one, other])
sets.push(
  names.filter((name) => name.startsWith('index/')),
  names.filter((name) => !isLog(name)),
)

const without = (missing: readonly string[]): Image => new Map([...whole].filter(([name]) => !missing.includes(name)))

test('any file but a log missing, with and without `create`: all records are there, and it is said where something was lost', async () => {
  const harmless = sets.filter((missing) => !missing.some(isLog))
  await cases('missing files', harmless.length * 2, async (n, _, tally) => {
    const missing = harmless[n >> 1]
    await withStore(without(missing), { create: n % 2 === 0 }, async (store) => {
      await holdsPromises(store, [kept.expected, OTHER])
      await (await store.stream('s')).append({ type: 'message', id: 'more' })
      const said = store.notices.map(({ code }) => code)
      if (missing.includes('FORMAT')) assert.ok(said.includes('format_rewritten'), missing.join())
      tally.add(said.length > 0 ? 'said' : 'without a word')
    })
  })
})

test('a log missing is said by verify, whatever else is missing with it but the index, and the rest of the store works', async () => {
  const lossy = sets.filter((missing) => missing.some(isLog) && !missing.some((name) => name.startsWith('index/')))
  await cases('missing logs', lossy.length, async (n) => {
    await withStore(without(lossy[n]), {}, async (store) => {
      const report = await store.verify()
      assert.is(report.ok, false, lossy[n].join())
      const gone = report.streams.filter(({ ok }) => !ok)
      assert.is(gone.length, lossy[n].filter(isLog).length)
      for (const { sessionId, problems } of gone) {
        assert.match(problems[0].message, JSON.stringify(sessionId))
        const error = await store.stream(sessionId).then(
          () => undefined,
          (reason: unknown) => reason as AsrError,
        )
        assert.ok(isAsrError(error, 'ASR_STREAM_NOT_FOUND') || isAsrError(error, 'ASR_LOST_TAIL'))
      }
      const there = [kept.expected, OTHER].filter(({ sessionId }) => !gone.some((one) => one.sessionId === sessionId))
      for (const { sessionId, appends } of there) assert.is((await store.stream(sessionId)).length, appends.length)
    })
  })
})

test('a store that lost FORMAT and every log is not taken for an empty folder without a word', async () => {
  await withStore(without(names.filter((name) => isLog(name) || name === 'FORMAT')), {}, async (store) => {
    assert.equal(await collect(store.streams()), [])
    assert.is((await store.verify()).ok, false)
  }).catch((error: unknown) => {
    if (!isAsrError(error, 'ASR_FORMAT')) throw error
  })
})

test('what a first opening leaves when it is ended anywhere becomes a store at the next', async () => {
  const folder = join(tempFolder(), 'store')
  const states: Image[] = [
    new Map([['FORMAT.new', new Uint8Array(0)]]),
    new Map([['FORMAT.new', new TextEncoder().encode('asr-st')]]),
    new Map([['index/CURRENT', new TextEncoder().encode('MANIFEST-000001\n')]]),
    new Map([
      ['index/LOCK', new Uint8Array(0)],
      ['LOCK-new-1', new Uint8Array(0)],
    ]),
    new Map([
      ['LOCK', new Uint8Array(0)],
      ['index/LOG', new Uint8Array(0)],
    ]),
    new Map([
      ['index.damaged/CURRENT', new Uint8Array(3)],
      ['index/LOG', new Uint8Array(0)],
      ['FORMAT.new', new Uint8Array(9)],
    ]),
  ]
  for (const [n, image] of states.entries()) {
    putDown(image, folder)
    const store = await openStore(folder)
    await (await store.createStream(header('s'))).append({ type: 'message' })
    await store.close()
    await withStore(imageOf(folder), { create: false }, async (again) => {
      await holdsPromises(again, [written('s', [{ type: 'message' }])])
      assert.equal(again.notices, [], String(n))
    })
  }
  rmSync(folder, { recursive: true })
})

test('folders of ours without a log and without FORMAT become a store', async () => {
  for (const name of ['streams', 'staging', 'trash', 'index.damaged']) {
    const folder = tempFolder()
    putDown(new Map([[`${name}/x`, new Uint8Array(0)]]), folder)
    rmSync(join(folder, name, 'x'))
    const store = await openStore(folder)
    await store.close()
  }
})

test('CORE-10: a segment of a log missing, the first, a middle one or the last: the others are salvaged, the gap is named', async () => {
  const storage = storageOf(new Map())
  const level = freshLevel()
  const store = await openAt(storage, level)
  const stream = await store.createStream(header('s'))
  const records = evenRecords(40)
  for (const [i, record] of records.entries()) {
    if (i > 0 && i % 10 === 0) await appendInNewSegment(stream, [record])
    else await stream.append(record)
  }
  const other = await store.createStream(header(OTHER.sessionId))
  for (const { records: ofOther } of OTHER.appends) await other.append(ofOther)
  await store.close()
  const files = filesOf(storage)
  const rows = await rowsOf(level)
  const segments = [...files.keys()].filter((name) => files.get(name)!.length > 900).sort()
  assert.is(segments.length, 4)
  await cases('missing segments', segments.length * 2, async (n) => {
    const lost = n >> 1
    const left = new Map([...files].filter(([name]) => name !== segments[lost]))
    const again = await openAt(storageOf(left), n % 2 === 0 ? await levelOf(rows) : freshLevel())
    const positions = Array.from({ length: 10 }, (_, i) => lost * 10 + i + 1)
    const isWitnessed = n % 2 === 0 || lost < 3
    if (isWitnessed) {
      const { unsalvaged, report } = await holdsDespiteDamage(again, written('s', records), [OTHER])
      assert.equal(unsalvaged, positions)
      assert.match(report[0], lost === 3 ? 'ASR_LOST_TAIL' : `from position ${positions[0]} to ${positions[9]}`)
    } else {
      assert.is((await again.stream('s')).length, 30, 'without a witness the last segment may never have been')
    }
    await again.close()
  })
})

test.run()
