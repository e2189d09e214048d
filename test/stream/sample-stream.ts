/**
 * A small stream of every sort of entry, its log byte by byte, and stores over changed copies of it.
 */
import * as assert from 'uvu/assert'
import { parseSegmentFile, saltOf } from '../../src/log/files/segment.js'
import { FLAG_END, FRAME_HEAD_BYTES, KIND, readFrame } from '../../src/log/format/frame.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import {
  type AsrRecord,
  isAsrError,
  memoryLocation,
  openStore,
  type Store,
  type StoredRecord,
  type Stream,
} from '../../src/main.js'
import { collect, linesOf } from '../support/collect.js'
import { onlyLogFile } from '../support/logs.js'
import { call, compaction, header, message, result } from '../support/records.js'
import type { MemoryLocation } from '../support/stores.js'

/** Appends of one and of several; shapes repeat, so that dictionary frames stand before and within appends. */
const APPENDS: AsrRecord[][] = [
  [message('m1')],
  [message('m2'), call('c1', 'k1')],
  [result('t1', 'k1')],
  [call('c2', 'k2'), { type: 'state', id: 'z', n: -0 }, result('t2', 'k2')],
  [compaction('p1', 'm2')],
  [{ type: 'session_info', title: 'words' }, message('m3', { supersedes: 'm1' })],
]

export interface Piece {
  at: number
  size: number
  kind: number
  pos: number
  /** the last of an append */
  end: boolean
}

export interface Sample {
  /** closed; its index is there */
  location: MemoryLocation
  file: string
  bytes: Uint8Array
  records: StoredRecord[]
  pieces: Piece[]
}

export function piecesOf(file: string, bytes: Uint8Array): Piece[] {
  const salt = saltOf(parseSegmentFile(file)!.log)
  const pieces: Piece[] = []
  for (let at = 0; at < bytes.length; ) {
    const { kind, pos, flags, bodyBytes } = readFrame(bytes, at, salt)!
    const size = FRAME_HEAD_BYTES + bodyBytes
    pieces.push({ at, size, kind, pos, end: (flags & FLAG_END) !== 0 })
    at += size
  }
  return pieces
}

export async function sample(appends: readonly AsrRecord[][] = APPENDS): Promise<Sample> {
  const location = memoryLocation()
  const store = await openStore(location)
  const stream = await store.createStream(header())
  for (const records of appends) await stream.append(records)
  const records = await collect(stream.records())
  await store.close()
  const { name: file, bytes } = await onlyLogFile(location.log)
  return { location, file, bytes, records, pieces: piecesOf(file, bytes) }
}

/** Where whole appends end, and how many records stand before. */
export function endsOf({ pieces }: Sample): { at: number; records: number }[] {
  return pieces.filter(({ end }) => end).map(({ at, size, pos }) => ({ at: at + size, records: pos }))
}

export function recordPiece({ pieces }: Sample, pos: number): Piece {
  return pieces.find((piece) => piece.kind === KIND.record && piece.pos === pos)!
}

/** A place whose only log has these bytes, and that has no index. */
export function placeWith({ file }: Sample, bytes: Uint8Array): MemoryLocation {
  const log = new MemoryStorage()
  log.append(file, bytes)
  return { ...memoryLocation(), log }
}

/** The same with a copy of the sample's index. */
export async function placeWithIndex(one: Sample, bytes: Uint8Array): Promise<MemoryLocation> {
  const location = placeWith(one, bytes)
  const encodings = { keyEncoding: 'utf8', valueEncoding: 'view' } as const
  await Promise.all([one.location.index.open(), location.index.open()])
  for await (const [key, value] of one.location.index.iterator(encodings))
    await location.index.put(key, value.slice(), encodings)
  return location
}

/** All bytes of the files whose names do not end in `.log`, in the order of their names. */
export function putAside(log: MemoryStorage): Uint8Array {
  const files = ['streams', 'trash', 'staging'].flatMap((folder) => log.list(folder))
  const aside = files.filter(({ name }) => !name.endsWith('.log')).sort((a, b) => (a.name < b.name ? -1 : 1))
  return Uint8Array.from(aside.flatMap(({ name, size }) => [...log.read(name, 0, size)]))
}

export const codesOf = (items: readonly { code: string }[]) => items.map(({ code }) => code)

export interface Seen {
  records: StoredRecord[]
  /** why reading stopped */
  stopped: string | undefined
}

/** What a stream gives of its records until it fails, as it may only with the codes of damage. */
export async function readUntilDamage(stream: Stream): Promise<Seen> {
  const records: StoredRecord[] = []
  try {
    for await (const record of stream.records()) records.push(record)
  } catch (error) {
    return { records, stopped: damageCode(error) }
  }
  return { records, stopped: undefined }
}

export function damageCode(error: unknown): string {
  if (!isAsrError(error, 'ASR_CORRUPT') && !isAsrError(error, 'ASR_LOST_TAIL')) throw error
  return error.code
}

/** The record, undefined, or the code of damage. */
export function got(stream: Stream, id: string): Promise<StoredRecord | undefined | string> {
  return stream.get(id).catch(damageCode)
}

export function salvaged(stream: Stream): Promise<string[]> {
  return linesOf(stream.exportJsonl({ salvage: true }))
}

/** Every answer of a stream that a reader could ask for, for comparing. */
export async function answersOf(store: Store, session = 's'): Promise<unknown> {
  const stream = await store.stream(session)
  const path = await stream.activePath()
  const { entries, ...view } = await stream.contextView()
  const ids = (await collect(stream.records())).map(({ id }) => id)
  const first = ids[0]
  return {
    info: (await collect(store.streams())).find(({ sessionId }) => sessionId === session),
    header: await stream.header(),
    length: stream.length,
    digest: await stream.digest(),
    heads: await stream.heads(),
    leaves: await stream.leaves(),
    path: [path.length, path.cut, path.gaps, await collect(path.ids()), await collect(path.resolved())],
    view: [view, await collect(entries())],
    lines: await linesOf(stream.exportJsonl()),
    back: await collect(stream.records({ reverse: true, types: ['message'] })),
    places: await Promise.all(
      ids.map(async (id) => [await stream.position(id), await stream.hash(id), await stream.get(id)]),
    ),
    absent: [await stream.get('nobody'), await stream.get('r0'), await stream.position('r999')],
    entities: [await stream.entity('message', first), await stream.entity('tool_call', 'k1', { anywhere: true })],
  }
}

/** A store must say that something is amiss, in its notices or in its report. */
export async function isTold(store: Store): Promise<boolean> {
  if (store.notices.length > 0) return true
  return !(await store.verify()).ok
}

export function expectPrefix(found: readonly StoredRecord[], records: readonly StoredRecord[]): void {
  assert.equal(found, records.slice(0, found.length))
}
