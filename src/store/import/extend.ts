/**
 * A file's log against the stream that is there: one must begin with the other (CORE-21).
 */

import { throwIfAborted } from '../../base/abort.js'
import { AsrError, isAsrError } from '../../base/error.js'
import type { StreamState } from '../../index/root.js'
import type { StoredEntry } from '../../log/api.js'
import { JudgedEntry } from '../../log/log-entry.js'
import type { Header } from '../../record/record.js'
import type { StreamCore } from '../../stream/core/stream-core.js'
import { extendLog } from '../../stream/extension.js'
import { RecordReader } from '../../stream/read/record-reader.js'
import type { StoredStream } from '../../stream/stream.js'
import { equalHeaders } from './intake.js'

const BATCH_BYTES = 1024 * 1024

export interface ExtendOptions {
  /** how many records the stream had when the import began */
  begun: number
  /** how many records are written at once */
  extensionBatch: number
  signal?: AbortSignal
}

export interface Extended {
  appended: number
  /** records of the file that the stream had already */
  matched: number
}

/**
 * Appends what the file has beyond the stream, all or nothing; nothing when the file is a part of it. What others append
 * meanwhile counts as if it had been there before, as long as the file goes on with it.
 * @throws ASR_DIVERGED, naming the first difference; ASR_CONFLICT when that was appended since the import began: nothing is
 *   written
 */
export async function extendStream(stream: StoredStream, file: StreamCore, options: ExtendOptions): Promise<Extended> {
  const { core } = stream
  for (;;) {
    throwIfAborted(options.signal)
    if (core.damage !== undefined) throw core.damage
    const { state } = core
    const matched = Math.min(state.point.pos, file.length)
    await compare(core, file, matched, options.begun)
    if (file.length === matched) return { appended: 0, matched }
    try {
      const header = await newHeader(file, core, state)
      await extendLog(stream, state.point, batchesBehind(file, matched, header, options.extensionBatch), options.signal)
      return { appended: file.length - matched, matched }
    } catch (error) {
      if (!isAsrError(error, 'ASR_CONFLICT')) throw error
    }
  }
}

async function compare(core: StreamCore, file: StreamCore, count: number, begun: number): Promise<void> {
  const [ours, theirs] = [new RecordReader(core), new RecordReader(file)]
  if (count === 0) return
  if ((await ours.stored(count)).chain === (await theirs.stored(count)).chain) return // all that led there is equal
  for (let pos = 1; pos <= count; pos++) {
    if ((await ours.stored(pos)).hash === (await theirs.stored(pos)).hash) continue
    const { sessionId } = core
    const [{ id }, other] = [await ours.record(pos), await theirs.record(pos)]
    const theirName = other.id === id ? 'another one of that id' : JSON.stringify(other.id)
    const message = `position ${pos} is record ${JSON.stringify(id)} in the stream ${JSON.stringify(sessionId)} and ${theirName} in the file`
    if (pos <= begun) throw new AsrError('ASR_DIVERGED', message, { sessionId, recordId: id, pos })
    const since = `${message}; it was appended while the file was read`
    throw new AsrError('ASR_CONFLICT', since, { sessionId, recordId: id, pos, actual: core.length })
  }
}

/** What the file has behind a position, led by its header where that is another one. */
async function* batchesBehind(
  file: StreamCore,
  matched: number,
  header: JudgedEntry[],
  batchRecords: number,
): AsyncGenerator<JudgedEntry[]> {
  const reader = new RecordReader(file)
  let batch = [...header]
  let bytes = 0
  for (let pos = matched + 1; pos <= file.length; pos++) {
    const entry = entryOf(file, await reader.stored(pos))
    batch.push(entry)
    bytes += entry.size
    if (pos < file.length && batch.length < batchRecords && bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
}

/** The file's header comes in force with its first new record (CORE-3). */
async function newHeader(file: StreamCore, core: StreamCore, { header, point }: StreamState): Promise<JudgedEntry[]> {
  const frame = await file.log.entry(file.state.header.location)
  const theirs = file.log.decode(frame) as unknown as Header
  const ours = core.log.decode(await core.log.entry(header.location)) as unknown as Header
  return equalHeaders(ours, theirs)
    ? []
    : [JudgedEntry.header(core.sessionId, theirs, point.pos, file.log.keptLine(frame))]
}

/** A record's frame as it goes into another log: what leads up to it is equal there, and so is all that was worked out of it. */
function entryOf(file: StreamCore, frame: StoredEntry): JudgedEntry {
  return JudgedEntry.framed(file.sessionId, frame, file.log.decode(frame), file.log.keptLine(frame))
}
