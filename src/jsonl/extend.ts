/**
 * A file's log against the stream that is there: one must begin with the other (CORE-21).
 */
import { answer } from '../index/query.js'
import { ENCODING_DEFLATED, ENCODING_TEXT } from '../log/codec.js'
import { FLAG_GAP, type Frame } from '../log/frame.js'
import { AsrError } from '../record/error.js'
import type { Header, StoredRecord } from '../record/record.js'
import { throwIfAborted } from '../store/abort.js'
import { RecordReader } from '../store/record-reader.js'
import type { Staged, Staging } from '../store/staging.js'
import type { StoredStream } from '../store/stream.js'
import type { StreamCore } from '../store/stream-core.js'
import { equalHeaders, type Intake } from './intake.js'

const BATCH_RECORDS = 512

/**
 * Appends what the file has beyond the stream; nothing when the file is a part of it.
 * @throws ASR_DIVERGED, naming the first difference: nothing is written
 */
export async function extendStream(
  stream: StoredStream,
  intake: Intake,
  signal: AbortSignal | undefined,
): Promise<{ appended: number; matched: number }> {
  const { core } = stream
  if (core.damage !== undefined) throw core.damage
  const matched = Math.min(core.length, intake.core.length)
  await compare(core, intake.core, matched)
  if (intake.core.length === matched) return { appended: 0, matched }
  await putHeaderInForce(stream, intake.core)
  const reader = new RecordReader(intake.core)
  for (let from = matched + 1; from <= intake.core.length; from += BATCH_RECORDS) {
    throwIfAborted(signal)
    const to = Math.min(intake.core.length, from + BATCH_RECORDS - 1)
    await stream.queue.appendStaged((staging) => restage(staging, reader, intake.core, from, to))
  }
  return { appended: intake.core.length - matched, matched }
}

async function compare(core: StreamCore, file: StreamCore, count: number): Promise<void> {
  const [ours, theirs] = [new RecordReader(core), new RecordReader(file)]
  if (count === 0) return
  if ((await ours.frame(count)).chain === (await theirs.frame(count)).chain) return // all that led there is equal
  for (let pos = 1; pos <= count; pos++) {
    if ((await ours.frame(pos)).hash === (await theirs.frame(pos)).hash) continue
    const { sessionId } = core
    const [{ id }, other] = [await ours.record(pos), await theirs.record(pos)]
    const theirName = other.id === id ? 'another one of that id' : JSON.stringify(other.id)
    const message = `position ${pos} is record ${JSON.stringify(id)} in the stream ${JSON.stringify(sessionId)} and ${theirName} in the file`
    throw new AsrError('ASR_DIVERGED', message, { sessionId, recordId: id, pos })
  }
}

async function restage(
  staging: Staging,
  reader: RecordReader,
  file: StreamCore,
  from: number,
  to: number,
): Promise<Staged[]> {
  const staged: Staged[] = []
  for (let pos = from; pos <= to; pos++) {
    const frame = await reader.frame(pos)
    const text = textOf(file, frame)
    const record = file.log.decode(frame) as unknown as StoredRecord
    staged.push(await answer(staging.take(record, { text, gap: (frame.flags & FLAG_GAP) !== 0 })))
  }
  return staged
}

/** The file's header comes in force with its first new record (CORE-3). */
async function putHeaderInForce(stream: StoredStream, file: StreamCore): Promise<void> {
  const frame = await headerFrame(file)
  const theirs = file.log.decode(frame) as unknown as Header
  await stream.queue.reviseHeader(async () => {
    const ours = stream.core.log.decode(await headerFrame(stream.core)) as unknown as Header
    return equalHeaders(ours, theirs) ? undefined : { header: theirs, text: textOf(file, frame) }
  })
}

function headerFrame({ log, index }: StreamCore): Promise<Frame> {
  return Promise.resolve(log.frame(index.state.header.location))
}

/** The line that a frame keeps as text, if it does. */
function textOf({ log }: StreamCore, frame: Frame): string | undefined {
  return (frame.encoding & ~ENCODING_DEFLATED) === ENCODING_TEXT ? log.line(frame) : undefined
}
