/**
 * Stores in memory whose boot the test chooses, and copies of their bytes to damage.
 */

import { MemoryLevel } from 'memory-level'
import type { IndexLevel } from '../../src/index/level.js'
import { createRowCache } from '../../src/index/row-cache.js'
import { FilePlace } from '../../src/log/files/file-place.js'
import { guardStorage } from '../../src/log/storage/guarded-storage.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import type { LogStorage } from '../../src/log/storage/storage.js'
import type { AsrRecord, Stream } from '../../src/main.js'
import { StreamStore } from '../../src/store/store.js'
import type { Environment } from '../../src/stream/core/environment.js'
import type { StreamCore } from '../../src/stream/core/stream-core.js'
import type { StoredStream } from '../../src/stream/stream.js'
import { inNewSegment } from '../log/handmade.js'
import { header } from '../support/records.js'
import { type Written, written } from './written.js'

export type Options = Partial<Omit<Environment, 'place' | 'level' | 'cache' | 'notices'>>

/** Opens a store as `openStore` does, with what a test wants to say itself. */
export async function openAt(storage: LogStorage, level: IndexLevel, options: Options = {}): Promise<StreamStore> {
  await level.open()
  const environment: Environment = {
    place: new FilePlace(guardStorage(storage, options.guard ?? (() => undefined))),
    level,
    notices: [],
    lifetime: { isOver: false },
    guard: () => undefined,
    cache: createRowCache(),
    durability: 'process',
    readOnly: false,
    acceptLoss: false,
    boot: 'this boot',
    powerCut: false,
    mayWriteLevel: true,
    ...options,
  }
  return new StreamStore(environment, async () => undefined, EXTENSION_BATCH).open()
}

/** A few records are many for an import: they extend a stream by a segment of its own. */
const EXTENSION_BATCH = 3

export function freshLevel(): IndexLevel {
  return new MemoryLevel<string, Uint8Array>({ valueEncoding: 'view' })
}

export type Rows = [key: string, value: Uint8Array][]

const ENCODINGS = { keyEncoding: 'utf8', valueEncoding: 'view' } as const

export async function rowsOf(level: IndexLevel): Promise<Rows> {
  const rows: Rows = []
  for await (const [key, value] of level.iterator(ENCODINGS)) rows.push([key as string, (value as Uint8Array).slice()])
  return rows
}

export async function levelOf(rows: Rows): Promise<IndexLevel> {
  const level = freshLevel()
  await level.open()
  await level.batch(
    rows.map(([key, value]) => ({ type: 'put' as const, key, value: value.slice() })),
    ENCODINGS,
  )
  return level
}

/** The files of a memory storage, to be put into others. */
export type Files = Map<string, Uint8Array>

export function filesOf(storage: MemoryStorage, folders = ['streams', 'staging', 'trash']): Files {
  const files: Files = new Map()
  for (const folder of folders) {
    for (const { name, size } of storage.list(folder)) files.set(name, storage.read(name, 0, size))
  }
  return files
}

export function storageOf(files: Files): MemoryStorage {
  const storage = new MemoryStorage()
  for (const [name, bytes] of files) storage.append(name, bytes)
  return storage
}

export interface Kept {
  files: Files
  rows: Rows
  /** the log file of the first stream */
  file: string
  bytes: Uint8Array
  expected: Written
}

export const OTHER = written('other', [
  { type: 'message', id: 'o1' },
  { type: 'message', id: 'o2' },
])

/** A closed store with stream `s` and a second one beside it, to be damaged. */
export async function keptStore(records: readonly AsrRecord[], options: { close?: boolean } = {}): Promise<Kept> {
  const storage = new MemoryStorage()
  const level = freshLevel()
  const store = await openAt(storage, level)
  const stream = await store.createStream(header('s'))
  const [{ name: file }] = storage.list('streams')
  for (const record of records) await stream.append(record)
  const other = await store.createStream(header(OTHER.sessionId))
  for (const { records: ofOther } of OTHER.appends) await other.append(ofOther)
  if (options.close !== false) await store.close()
  const files = filesOf(storage)
  return { files, rows: await rowsOf(level), file, bytes: files.get(file)!, expected: written('s', records) }
}

export function coreOf(stream: Stream): StreamCore {
  return (stream as StoredStream).core
}

/**
 * Appends as if the last segment were full. The index is written then, beside the append; to wait for that keeps a writer that is
 * said to be killed from writing after its end.
 */
export async function appendInNewSegment(stream: Stream, records: AsrRecord[]): Promise<void> {
  await inNewSegment(coreOf(stream).log, () => stream.append(records))
  await (coreOf(stream) as unknown as { flushing?: Promise<void> }).flushing
}
