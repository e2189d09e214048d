/**
 * Whatever is lost of a stream, salvage and import into a fresh store give exactly the intact records, in order, and gaps
 * exactly where others are missing; each record hangs where it hung, or at the gap in its parent's place (CORE-10, CORE-12).
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FRAME_HEAD_BYTES, KIND } from '../../src/log/format/frame.js'
import { isAsrError, openStore, type Store, type StoredRecord, type Stream } from '../../src/main.js'
import type { StoredStream } from '../../src/stream/stream.js'
import { piecesOf } from '../stream/sample-stream.js'
import { collect, linesOf } from '../support/collect.js'
import { onlyLogFile, overwrite } from '../support/logs.js'
import { header } from '../support/records.js'
import { openMemory } from '../support/stores.js'
import { draft } from './arbitraries.js'
import { ModelStream } from './model.js'
import { recordOf } from './records.js'
import { RUNS, settings } from './settings.js'

interface Stood {
  record: StoredRecord
  /** the position of its parent; 0: a root */
  parent: number
}

async function standing(stream: Stream): Promise<Stood[]> {
  const { core } = stream as StoredStream
  const all: Stood[] = []
  for (const record of await collect(stream.records())) {
    const { parent } = await core.ask(({ index }) => index.entry(all.length + 1))
    all.push({ record, parent })
  }
  return all
}

interface Gap {
  from: number
  to: number
  /** its place in the new stream */
  pos: number
}

/** What the new stream holds: where each old position is now, and the gaps. Head records that were said again are none of either. */
function compared(before: readonly Stood[], after: readonly Stood[], kept: readonly number[]) {
  const places = new Map<number, number>()
  const gaps: Gap[] = []
  const intact = [...kept]
  let next = 1
  after.forEach(({ record }, i) => {
    const old = intact[0] === undefined ? undefined : before[intact[0] - 1].record
    if (old !== undefined && JSON.stringify(old) === JSON.stringify(record)) {
      assert.is(intact[0], next, `${record.id} stands where it stood, behind all gaps`)
      places.set(intact.shift() as number, i + 1)
      next++
      return
    }
    if (record.type === 'head') {
      assert.match(record.id, /^head-/)
      return
    }
    const { type, from, to = before.length } = record as unknown as { type: string; from: number; to?: number }
    assert.equal(
      [type, from],
      ['gap', next],
      `a gap where something is missing, and nothing else: ${JSON.stringify(record)}`,
    )
    gaps.push({ from, to, pos: i + 1 })
    next = to + 1
  })
  assert.is(next, before.length + 1, 'all positions are there, or in a gap')
  return { places, gaps }
}

async function check(drafts: Parameters<typeof recordOf>[1][], hits: number[], cut: number, indexed: boolean) {
  const { location, store } = await openMemory()
  const stream = await store.createStream(header())
  const model = new ModelStream(header() as never)
  for (const each of drafts) {
    const record = recordOf(model, each)
    const taken = await stream.append(record as never).catch((error: unknown) => {
      if (!isAsrError(error)) throw error
      return undefined
    })
    if (taken?.appended) model.append([record])
  }
  const before = await standing(stream)
  await store.close()
  const { name, bytes } = await onlyLogFile(location.log)
  const records = piecesOf(name, bytes).filter(({ kind }) => kind === KIND.record)
  const lost = new Set(records.length === 0 ? [] : hits.map((n) => records[n % records.length].pos))
  const damaged = bytes.slice()
  for (const { at, pos } of records) if (lost.has(pos)) damaged[at + FRAME_HEAD_BYTES] ^= 1
  // With the index as a witness the end may go missing without a trace in the log.
  const end = indexed && cut < records.length ? records[records.length - 1 - cut] : undefined
  if (end !== undefined) for (const { pos } of records) if (pos >= end.pos) lost.add(pos)
  await overwrite(location.log, name, end === undefined ? damaged : damaged.subarray(0, end.at))
  if (!indexed) await forgetIndex(location)
  const again = await openStore(location, { readOnly: indexed })
  const fresh = await salvagedInto(await again.stream('s'))
  const kept = before.map((_, i) => i + 1).filter((pos) => !lost.has(pos))
  await holds(before, fresh, kept)
  await again.close()
}

async function forgetIndex({ index }: Awaited<ReturnType<typeof openMemory>>['location']): Promise<void> {
  await index.open()
  await index.clear()
  await index.close()
}

async function salvagedInto(stream: Stream): Promise<{ store: Store; stream: Stream }> {
  const lines = await linesOf(stream.exportJsonl({ salvage: true }))
  const { store } = await openMemory()
  const { diagnostics } = await store.importJsonl([lines.map((line) => `${line}\n`).join('')])
  assert.equal(
    diagnostics.filter(({ severity }) => severity === 'refused'),
    [],
    'no line of it is refused',
  )
  return { store, stream: await store.stream('s') }
}

async function holds(
  before: readonly Stood[],
  { store, stream }: { store: Store; stream: Stream },
  kept: readonly number[],
): Promise<void> {
  const after = await standing(stream)
  const { places, gaps } = compared(before, after, kept)
  for (const pos of kept) {
    const { record, parent } = before[pos - 1]
    if (record.type === 'head') continue
    const found = after[(places.get(pos) as number) - 1].parent
    const gap = gaps.find(({ from, to }) => parent >= from && parent <= to)
    const isFirst = parent === 0 && record.parentId === undefined
    if (gap !== undefined) assert.equal([found, gap.to], [gap.pos, parent], `${record.id} hangs at the gap`)
    else if (isFirst && found !== 0)
      assert.ok(
        gaps.some(({ pos: at }) => at === found),
        `${record.id} follows a gap`,
      )
    else assert.is(found, places.get(parent) ?? 0, `${record.id} hangs where it hung`)
    const path = await stream.activePath({ at: record.id })
    const crossed = gaps.filter(({ pos: at }) => isAncestor(after, at, places.get(pos) as number))
    assert.equal(
      path.gaps,
      crossed.map(({ pos: at }) => after[at - 1].record.id),
    )
    if (gap !== undefined) assert.ok(path.gaps.length > 0, 'no path hides its hole')
  }
  assert.is((await store.verify()).ok, true)
}

function isAncestor(after: readonly Stood[], ancestor: number, pos: number): boolean {
  for (let at = pos; at > 0; at = after[at - 1].parent) if (at === ancestor) return true
  return false
}

test('CORE-10, CORE-12: salvage and import give the intact records in order, and gaps exactly at the holes', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(draft, { minLength: 1, maxLength: 30, size: 'max' }),
      fc.array(fc.nat(40), { maxLength: 8 }),
      fc.nat(12),
      fc.boolean(),
      check,
    ),
    settings(Math.ceil(RUNS / 2)),
  ))

test.run()
