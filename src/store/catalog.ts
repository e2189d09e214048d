/**
 * The list of streams: the logs say which there are, the index only decorates (CORE-10).
 */

import type { AsrError } from '../base/error.js'
import type { IndexLevel } from '../index/level.js'
import type { Root } from '../index/root.js'
import { rootOf } from '../index/root-row.js'
import { logRange, parseKey } from '../index/row-key.js'
import { firstKey, IndexDamaged } from '../index/rows.js'
import type { FoundLog } from '../log/api.js'
import type { Environment } from '../stream/core/environment.js'
import type { StreamCore } from '../stream/core/stream-core.js'
import { whyDoubted } from '../stream/core/witness.js'
import { titleOf } from '../stream/place/title.js'
import type { StreamInfo } from './api.js'

/** What the index says of a stream, when that is all there is to say: it is believed, and has seen the log up to its end. */
export async function listed(environment: Environment, files: FoundLog): Promise<StreamInfo | undefined> {
  if (environment.acceptLoss) return undefined // the stream may end before what the index covers
  const root = await rootOf(environment.level, files.identity)
  const { bytes, storedEnd: end } = files
  if (root === undefined || root.bytes !== bytes) return undefined
  if (root.state.point.location !== end || root.reach.location !== end) return undefined
  if ((await whyDoubted(environment, files, root)) !== undefined) return undefined
  const { state, sessionId, title } = root
  const { point, lastSeq, updatedAt, header } = state
  return { sessionId, records: point.pos, lastSeq, updatedAt, title, agent: header.agent, bytes }
}

/** The root rows of all logs that the index knows, one look-up each. @throws IndexDamaged */
async function* allRoots(level: IndexLevel): AsyncGenerator<{ log: string; root: Root }> {
  for (let from = ''; ; ) {
    const key = await firstKey(level, from)
    if (key === undefined) return
    const log = parseKey(key)?.incarnation
    if (log === undefined) {
      from = `${key}\0` // no key of ours: the next one
      continue
    }
    const root = await rootOf(level, { incarnation: log })
    if (root !== undefined) yield { log, root }
    from = logRange(log).lt
  }
}

/** What an open stream says of itself. */
export async function infoOf(core: StreamCore): Promise<StreamInfo> {
  const title = await core.ask(titleOf)
  const { lastSeq, updatedAt, header, point } = core.state
  return {
    sessionId: core.sessionId,
    records: point.pos,
    lastSeq,
    updatedAt,
    title,
    agent: header.agent,
    bytes: core.log.bytes,
    ...(core.damage !== undefined && { damage: { code: core.damage.code, message: core.damage.message } }),
  }
}

/** What is said of a stream that can't be opened: it is listed all the same, with the reason. */
export function unreadable(sessionId: string, { bytes }: FoundLog, { code, message }: AsrError): StreamInfo {
  const nothing = { records: 0, lastSeq: 0, updatedAt: null, title: null, agent: null }
  return { sessionId, ...nothing, bytes, damage: { code, message } }
}

/** Logs by the names of their streams. */
export function byName(logs: readonly FoundLog[]): Map<string, FoundLog> {
  const files = new Map<string, FoundLog>()
  for (const found of logs) {
    const other = files.get(found.identity.name)
    // Two makings of one stream: the one with more in it is the one that somebody wrote to.
    if (other === undefined || found.bytes > other.bytes) files.set(found.identity.name, found)
  }
  return files
}

/** What the index knows; of a damaged one that is nothing. */
export async function rootsKnown(level: IndexLevel): Promise<{ log: string; root: Root }[]> {
  const known: { log: string; root: Root }[] = []
  try {
    for await (const entry of allRoots(level)) known.push(entry)
  } catch (error) {
    if (!(error instanceof IndexDamaged)) throw error
  }
  return known
}
