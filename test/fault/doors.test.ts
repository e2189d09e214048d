/**
 * A damaged log seen through every door: a reader says what a writer says, of the same bytes; with the loss accepted the
 * stream ends before its first damage whatever the index holds; and the command line says it with its exit code.
 */
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { KIND } from '../../src/log/format/frame.js'
import { type AsrRecord, openStore, type Store } from '../../src/main.js'
import { collect, idsOf } from '../support/collect.js'
import { fails } from '../support/fails.js'
import { header } from '../support/records.js'
import { tempFolder } from '../support/temp.js'
import { cases, figure, Random, SEED } from './battery.js'
import { anyDamage, flippedAt, framesIn, zeroed } from './damage.js'
import { asr, saidBy } from './doors.js'
import { imageOf, putDown } from './folder.js'
import {
  appendInNewSegment,
  coreOf,
  type Files,
  filesOf,
  freshLevel,
  levelOf,
  openAt,
  type Rows,
  rowsOf,
  storageOf,
} from './place.js'
import { anyRecord, evenRecords } from './written.js'

interface Whole {
  files: Files
  /** the stream's segments */
  names: string[]
  /** of the closed store, of an earlier time, and of none */
  indexes: { name: 'index' | 'older' | 'none'; rows: Rows }[]
  ids: string[]
}

/** A stream in two segments, its header revised on the way; with the index of its end, and of its middle. */
async function wholeStore(): Promise<Whole> {
  const storage = storageOf(new Map())
  const level = freshLevel()
  const store = await openAt(storage, level)
  const stream = await store.createStream(header('s'))
  const records: AsrRecord[] = Array.from({ length: 30 }, (_, n) => anyRecord(new Random(SEED, 21, n), `x${n}`))
  await stream.append(records.slice(0, 3))
  for (const record of records.slice(3, 10)) await stream.append(record)
  await stream.reviseHeader({ extra: 'one' })
  for (const record of records.slice(10, 16)) await stream.append(record)
  await coreOf(stream).flush()
  const older = await rowsOf(level)
  await appendInNewSegment(stream, [records[16]])
  await stream.append(records.slice(17, 20))
  await stream.reviseHeader({ extra: 'two' })
  for (const record of records.slice(20)) await stream.append(record)
  const ids = await idsOf(stream.records())
  await store.close()
  const files = filesOf(storage)
  return {
    files,
    names: [...files.keys()].sort(),
    indexes: [
      { name: 'index', rows: await rowsOf(level) },
      { name: 'older', rows: older },
      { name: 'none', rows: [] },
    ],
    ids,
  }
}

const whole = await wholeStore()

/** One way to spoil the log: a cut, a flipped bit, zeros, a block of another place, a segment gone. */
function spoilt(n: number, random: Random): { files: Files; how: string } {
  const files = new Map(whole.files)
  const segment = random.chance(0.7) ? whole.names.length - 1 : random.below(whole.names.length)
  const name = whole.names[segment]
  const bytes = files.get(name)!
  const frames = framesIn(name, bytes)
  switch (n % 6) {
    case 0:
      files.set(name, bytes.subarray(0, random.below(bytes.length)))
      return { files, how: 'cut' }
    case 1: {
      const { at, size } = random.pick(frames)
      files.set(name, flippedAt(bytes, at + random.below(size), random.below(8)))
      return { files, how: 'flipped' }
    }
    case 2: {
      // The newest frame, of which nothing behind bears witness.
      const { at, size } = frames.at(-1)!
      files.set(
        name,
        random.chance(0.5) ? flippedAt(bytes, at + random.below(size), random.below(8)) : zeroed(bytes, at, size),
      )
      return { files, how: 'the last frame changed' }
    }
    case 3: {
      const at = random.below(bytes.length)
      files.set(name, zeroed(bytes, at, 1 + random.below(400)))
      return { files, how: 'zeroed' }
    }
    case 4:
      files.set(name, anyDamage(bytes, new Uint8Array(bytes.length), random) ?? bytes)
      return { files, how: 'blocks' }
    default:
      files.delete(name)
      return { files, how: 'a segment missing' }
  }
}

test('CORE-10: of the same damaged bytes a reader says what a writer says, whatever the index holds', async () => {
  await cases('readers and writers', figure(360, 9_000), async (n, random, tally) => {
    const { files, how } = spoilt(n, random)
    const { rows, name } = whole.indexes[n % 5 === 0 ? 2 : n % 2]
    const said: Record<string, string>[] = []
    for (const readOnly of [true, false]) {
      const storage = storageOf(files)
      const store = await openAt(storage, await levelOf(rows), { readOnly })
      said.push(await saidBy(store))
      if (readOnly) assert.equal(filesOf(storage), files, 'a reader changes nothing')
      await store.close()
    }
    assert.equal(said[0], said[1])
    tally.add(`${how}, ${name}`)
    if (Object.values(said[0]).some((answer) => /ASR_(CORRUPT|LOST_TAIL)/.test(answer))) tally.add('told as damage')
  })
})

test('CORE-10: what is said of damage is said again by who comes next, and after a refused rebuild', async () => {
  await cases('said again', figure(120, 2_400), async (n, random) => {
    const { files } = spoilt(n, random)
    const storage = storageOf(files)
    const level = await levelOf(whole.indexes[0].rows)
    const first = await openAt(storage, level)
    const said = await saidBy(first)
    if (!said.verify.includes('ASR_')) return first.close() // nothing is damaged
    if (n % 2 === 0) await first.rebuildIndex().catch(() => undefined)
    await first.close()
    for (const readOnly of [true, false]) {
      const next = await openAt(storage, level, { readOnly })
      assert.equal(await saidBy(next), said)
      await next.close()
    }
  })
})

/** But for frames that only said what others say again: they cost nothing, and stay. */
async function isSound(store: Store): Promise<void> {
  const found = (await store.verify()).streams.flatMap(({ problems }) => problems)
  const damage = found.filter(({ severity, message }) => severity === 'damage' && !/; no record is lost/.test(message))
  assert.equal(damage, [])
}

test('CORE-10: with the loss accepted the stream ends before the first damage, whatever the index holds, and goes on from there', async () => {
  await cases('accepted losses', figure(120, 6_000), async (n, random, tally) => {
    const { files, how } = spoilt(n, random)
    const ends = new Set<string>()
    for (const { name, rows } of whole.indexes) {
      const storage = storageOf(files)
      const level = await levelOf(rows)
      const reader = await openAt(storage, await levelOf(rows), { acceptLoss: true, readOnly: true })
      const seen = await saidBy(reader)
      await reader.close()
      const store = await openAt(storage, level, { acceptLoss: true })
      const stream = await store.stream('s').catch(() => undefined)
      if (stream === undefined) continue // its making was not finished, as far as anybody knows
      const ids = await idsOf(stream.records())
      assert.equal(ids, whole.ids.slice(0, ids.length))
      await isSound(store)
      if (name !== 'none') {
        const isLess = ids.length < (name === 'index' ? 30 : 16)
        const told = store.notices.filter(({ code }) => code === 'loss_accepted')
        assert.is(told.length >= (isLess ? 1 : 0), true, 'what it costs is told')
      }
      // But for salvage: what a reader does not show is still there.
      const sees = { ...(await saidBy(store)), salvage: seen.salvage }
      if (!/ASR_/.test(seen.records)) assert.equal(seen, sees, `a reader sees it as it will be, ${name}`)
      // Ended here without closing, it is not asked for again.
      const ended = await openAt(storageOf(filesOf(storage)), await levelOf(await rowsOf(level)))
      assert.equal(await idsOf((await ended.stream('s')).records()), ids)
      const receipt = await stream.append({ type: 'message', id: 'more' })
      assert.is(receipt.last, ids.length + 1, 'appends go on where the stream ends')
      await store.close()
      for (const index of [level, freshLevel()]) {
        const again = await openAt(storage, index)
        assert.equal(await idsOf((await again.stream('s')).records()), [...ids, 'more'])
        await isSound(again)
        await again.close()
      }
      ends.add(String(ids.length))
      tally.add(how)
    }
    assert.ok(ends.size <= 1, `one meaning whatever the index holds: ${[...ends]}`)
  })
})

test('CORE-10: a rebuild that finds less than there was leaves the witness for who comes next', async () => {
  const storage = storageOf(whole.files)
  const level = await levelOf(whole.indexes[0].rows)
  const store = await openAt(storage, level)
  await store.stream('s')
  const name = whole.names[whole.names.length - 1]
  const last = framesIn(name, whole.files.get(name)!).at(-1)!
  storage.truncate(name, last.at)
  const error = await fails('ASR_CORRUPT', () => store.rebuildIndex())
  assert.is(error.pos, 30)
  await store.close()
  for (const readOnly of [true, false]) {
    const next = await openAt(storage, level, { readOnly })
    assert.is((await fails('ASR_LOST_TAIL', async () => (await next.stream('s')).digest())).pos, 30)
    await next.close()
  }
})

test('CORE-10: a root whose other rows are damaged is a witness all the same', async () => {
  const name = whole.names[whole.names.length - 1]
  const bytes = whole.files.get(name)!
  const files = new Map(whole.files).set(name, bytes.subarray(0, framesIn(name, bytes).at(-1)!.at))
  for (const [key] of whole.indexes[0].rows) {
    if (key.endsWith('/a')) continue
    for (const readOnly of [true, false]) {
      const rows = whole.indexes[0].rows.filter(([other]) => other !== key)
      const store = await openAt(storageOf(files), await levelOf(rows), { readOnly })
      await fails('ASR_LOST_TAIL', async () => (await store.stream('s')).digest())
      const [info] = await collect(store.streams())
      assert.equal([info.records, info.damage?.code], [29, 'ASR_LOST_TAIL'])
    }
  }
})

test('CORE-10: 2,000 appends, one byte flipped in the middle, under an index that covers it: the loss is accepted and told', async () => {
  const storage = storageOf(new Map())
  const level = freshLevel()
  const store = await openAt(storage, level)
  const stream = await store.createStream(header('s'))
  for (const record of evenRecords(2_000)) await stream.append(record)
  await store.close()
  const [{ name, size }] = storage.list('streams')
  const bytes = storage.read(name, 0, size)
  const hit = framesIn(name, bytes).find(({ at, size: length, kind }) => at + length > 100_000 && kind === KIND.record)!
  storage.truncate(name, 0)
  storage.append(name, flippedAt(bytes, 100_000, 3))
  const accepting = await openAt(storage, level, { acceptLoss: true })
  const left = await accepting.stream('s')
  assert.is((await collect(left.records())).length, hit.pos - 1)
  const [{ code, message }] = accepting.notices
  assert.is(code, 'loss_accepted')
  assert.match(message, `at position ${hit.pos},`)
  assert.match(message, `${2_000 - hit.pos} sound records behind it`)
  assert.match(message, 'export --salvage')
  assert.is((await left.append({ type: 'message' })).last, hit.pos)
  assert.equal(storage.read(`${name}.cut-${hit.at}`, 0, size), bytes.with(100_000, bytes[100_000] ^ 8).slice(hit.at))
  await accepting.close()
})

test('CORE-10: a writer’s unfinished append is no damage to a reader, wherever it ends so far; with another bit in it, it is', async () => {
  const storage = storageOf(new Map())
  const level = freshLevel()
  const store = await openAt(storage, level)
  const stream = await store.createStream(header('s'))
  await stream.append(evenRecords(3))
  await coreOf(stream).flush()
  const [{ name, size }] = storage.list('streams')
  const rows = await rowsOf(level)
  await stream.append([...evenRecords(3, 'n'), { type: 'state', shape: 1 }, { type: 'state', shape: 2 }])
  const bytes = storage.read(name, 0, storage.size(name)!)
  const step = figure(4, 1)
  await cases('unfinished appends', Math.floor((bytes.length - size) / step), async (each) => {
    const n = each * step
    const live = storageOf(new Map([[name, bytes.subarray(0, size)]]))
    const reader = await openAt(live, await levelOf(rows), { readOnly: true })
    const early = await reader.stream('s')
    live.append(name, bytes.subarray(size, size + n))
    const late = await openAt(live, await levelOf(rows), { readOnly: true })
    for (const seen of [early, await late.stream('s')]) {
      assert.is((await collect(seen.records())).length, 3)
      assert.is((await seen.activePath()).length, 3)
    }
    assert.equal([(await reader.verify()).ok, (await late.verify()).ok, late.notices], [true, true, []])
    if (n < 52) return
    live.truncate(name, size)
    live.append(name, flippedAt(bytes.subarray(0, size + n), size + 20, 1).subarray(size))
    const changed = await openAt(live, await levelOf(rows), { readOnly: true })
    assert.is((await fails('ASR_CORRUPT', async () => (await changed.stream('s')).digest())).pos, 4)
  })
})

test('CORE-10: of several damaged spots verify names each, and the end that is gone', async () => {
  const [first, second] = whole.names
  const bytes = whole.files.get(first)!
  const hit = framesIn(first, bytes).find(({ kind, pos }) => kind === KIND.record && pos === 5)!
  const files = new Map(whole.files).set(first, flippedAt(bytes, hit.at + hit.size - 1, 2))
  files.delete(second)
  for (const readOnly of [true, false]) {
    const store = await openAt(storageOf(files), await levelOf(whole.indexes[0].rows), { readOnly })
    const [{ problems }] = (await store.verify()).streams
    assert.equal(
      problems.map(({ code }) => code),
      ['ASR_CORRUPT', 'ASR_LOST_TAIL'],
    )
    assert.match(problems[0].message, 'at position 5,')
    assert.match(problems[1].message, 'had 30 records and now ends behind 16')
    await store.close()
  }
})

const COMMANDS = ['log', 'path', 'context', 'export', 'digest', 'heads', 'verify']

test('CORE-10: every command says what the library says of a damaged stream, and ends with 1', async () => {
  const folder = join(tempFolder(), 'store')
  const store = await openStore(folder)
  const stream = await store.createStream(header('s'))
  for (const record of evenRecords(52)) await stream.append(record)
  await store.close()
  const image = imageOf(folder)
  const name = [...image.keys()].find((file) => file.startsWith('streams/'))!
  const bytes = image.get(name)!
  const last = framesIn(name, bytes).at(-1)!
  const ways: { how: string; bytes: Uint8Array; code: string }[] = [
    ...[0, 3, 9, 20, 40, 51].map((at) => ({
      how: `a bit at ${at} of the last frame’s head`,
      bytes: flippedAt(bytes, last.at + at, at % 8),
      code: 'ASR_CORRUPT',
    })),
    { how: 'its head zeroed', bytes: zeroed(bytes, last.at, 52), code: 'ASR_CORRUPT' },
    { how: 'all of it zeroed', bytes: zeroed(bytes, last.at, last.size), code: 'ASR_CORRUPT' },
    ...[1, last.size - 1, last.size, last.size + 70].map((size) => ({
      how: `${size} bytes cut off`,
      bytes: bytes.subarray(0, bytes.length - size),
      code: 'ASR_LOST_TAIL',
    })),
  ]
  await cases('commands', ways.length, async (n, _, tally) => {
    const way = ways[n]
    putDown(new Map(image).set(name, way.bytes), folder)
    for (const command of COMMANDS) {
      const { code, stdout, stderr } = await asr(command, 's', '--store', folder)
      assert.is(code, 1, `${command}, ${way.how}`)
      assert.match(stdout + stderr, way.code, `${command}, ${way.how}`)
      tally.add('commands')
    }
    const listed = await asr('ls', '--json', '--store', folder)
    assert.is(listed.code, 1, `ls, ${way.how}`)
    assert.match(listed.stderr, way.code)
    const [info] = JSON.parse(listed.stdout) as { records: number; damage: { code: string } }[]
    assert.is(info.damage.code, way.code)
    assert.ok(info.records < 52)
    const rebuilt = await asr('reindex', 's', '--store', folder)
    assert.equal([rebuilt.code, rebuilt.stderr.includes(way.code)], [1, true], `reindex, ${way.how}: ${rebuilt.stderr}`)
    const after = await asr('digest', 's', '--store', folder)
    assert.equal([after.code, after.stderr.includes(way.code)], [1, true], `and after it: ${after.stderr}`)
    const saved = await asr('export', 's', '--salvage', '--store', folder)
    assert.match(saved.stdout, /\n\{"type":"gap","reason":"damaged","from":5[12],"to":52,[^\n]*\n$/)
    assert.is(saved.code, 1)
  })
})

test.run()
