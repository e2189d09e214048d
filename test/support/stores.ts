/**
 * Stores in memory, and what tests do with them again and again.
 */
import {
  type AsrRecord,
  type ImportReport,
  memoryLocation,
  openStore,
  type Store,
  type Stream,
} from '../../src/main.js'
import { bytesOf } from './collect.js'
import { header, jsonl } from './records.js'

export type MemoryLocation = ReturnType<typeof memoryLocation>

export interface MemoryStore {
  location: MemoryLocation
  store: Store
}

export async function openMemory(location = memoryLocation()): Promise<MemoryStore> {
  return { location, store: await openStore(location) }
}

export interface MemoryStream extends MemoryStore {
  stream: Stream
}

/** A stream of session `s` in a store of its own, with these records appended one by one. */
export async function streamOf(...records: AsrRecord[]): Promise<MemoryStream> {
  const memory = await openMemory()
  const stream = await memory.store.createStream(header())
  for (const record of records) await stream.append(record)
  return { ...memory, stream }
}

export interface Imported extends MemoryStream {
  report: ImportReport
}

/** A store that holds the lines of a file, the header of session `s` in front. */
export async function importOf(...lines: (string | object)[]): Promise<Imported> {
  const memory = await openMemory()
  const report = await memory.store.importJsonl([jsonl(header(), ...lines)])
  return { ...memory, report, stream: await memory.store.stream('s') }
}

/** The same location opened again, and its stream of session `s`. */
export async function reopened({ location, store }: MemoryStore): Promise<MemoryStream> {
  await store.close()
  const again = await openMemory(location)
  return { ...again, stream: await again.store.stream('s') }
}

/** The stream exported and imported into an empty store. */
export async function copied(stream: Stream): Promise<MemoryStream> {
  const memory = await openMemory()
  const { sessionId } = await memory.store.importJsonl([await bytesOf(stream.exportJsonl())])
  return { ...memory, stream: await memory.store.stream(sessionId) }
}
