/**
 * The log of a stream that is not there yet.
 */
import { name128, toHex } from '../../base/hash.js'
import { StreamIndex } from '../../index/stream-index.js'
import { RecordLog } from '../../log/files/record-log.js'
import { JudgedEntry } from '../../log/log-entry.js'
import type { Header } from '../../record/record.js'
import type { Environment } from '../core/environment.js'
import { StreamCore } from '../core/stream-core.js'
import { agentOf } from '../place/catch-up.js'

/**
 * Makes a log in a folder, with the header as its first entry. A making that fails leaves no second log of the name, if it
 * can be helped. `text` is the header's own, where it came as one.
 */
export async function makeLog(
  environment: Environment,
  folder: string,
  header: Header,
  text?: string,
): Promise<StreamCore> {
  const { sessionId } = header
  const incarnation = toHex(crypto.getRandomValues(new Uint8Array(8)))
  const log = new RecordLog(environment.storage, folder, { name: name128(sessionId), incarnation }, sessionId, [])
  const core = new StreamCore(environment, log, new StreamIndex(environment.level, incarnation, environment.cache))
  const entry = JudgedEntry.header(sessionId, header, 0, text)
  try {
    const [location] = await core.write([[entry]])
    core.index.state = {
      ...core.index.state,
      point: log.end,
      header: { location, hash: entry.hash, agent: agentOf(header) },
    }
    return core
  } catch (error) {
    await log.remove().catch(() => undefined)
    throw error
  }
}
