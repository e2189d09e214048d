/**
 * Forks of recorded sessions: a stream of its own that holds copies (CORE-27, ASR-718).
 */
import type { Header } from '../../record/record.js'
import type { Store, Stream } from '../../store/api.js'
import { Roots } from '../paths.js'
import { rootsPatch } from '../record/header.js'

/**
 * Copies a stream as it is now, branches and all, under another session id. All or nothing: a fork that fails leaves no
 * stream behind.
 */
export async function forkStream(
  store: Store,
  parent: Stream,
  sessionId: string,
  directories: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const { length } = parent
  const lines = copiedLines(parent, length, await forkedHeader(parent, length, sessionId, directories))
  const { records } = await store.importJsonl(lines, { signal })
  if (records === length) return
  await store.deleteStream(sessionId)
  throw new Error(`only ${records} of ${length} records can be copied`)
}

async function forkedHeader(
  parent: Stream,
  length: number,
  sessionId: string,
  directories: readonly string[],
): Promise<Header> {
  const header = await parent.header()
  const roots = Roots.from(header.workspace)
  const widened = roots.with(directories)
  const from = parent.sessionId
  const evidence = 'native_field'
  const localThroughId = await lastId(parent, length)
  return {
    ...header,
    sessionId,
    ...(widened !== roots && rootsPatch(header, widened)),
    lineage: {
      forkedFrom: { session: from, evidence },
      inherits: { mode: 'copied', from, evidence, ...(localThroughId !== undefined && { localThroughId }) },
    },
  }
}

async function lastId(stream: Stream, length: number): Promise<string | undefined> {
  if (length === 0) return undefined
  for await (const { id } of stream.records({ from: length, to: length })) return id
  return undefined
}

async function* copiedLines(parent: Stream, length: number, header: Header): AsyncIterable<string> {
  yield `${JSON.stringify(header)}\n`
  if (length === 0) return
  for await (const record of parent.records({ to: length })) {
    const copiedFrom = { session: parent.sessionId, id: record.id, proof: 'native_id' }
    yield `${JSON.stringify({ ...record, copiedFrom })}\n`
  }
}
