/**
 * The log of a stream that is not there yet.
 */
import { StreamIndex } from '../../index/stream-index.js'
import type { CreateOptions } from '../../log/api.js'
import { JudgedEntry } from '../../log/log-entry.js'
import type { Header } from '../../record/record.js'
import type { Environment } from '../core/environment.js'
import { StreamCore } from '../core/stream-core.js'
import { agentOf } from '../place/catch-up.js'

/**
 * Makes a log with the header as its first entry. A making that fails leaves no second log of the name, if it can be helped.
 * `text` is the header's own, where it came as one.
 */
export async function makeLog(
  environment: Environment,
  header: Header,
  options: CreateOptions & { text?: string },
): Promise<StreamCore> {
  const { place, level, cache } = environment
  const { sessionId } = header
  const log = place.create(sessionId, options)
  const core = new StreamCore(environment, log, new StreamIndex(level, log.identity.incarnation, cache))
  const entry = JudgedEntry.header(sessionId, header, 0, options.text)
  try {
    const [location] = await core.write([[entry]])
    core.index.state = {
      ...core.index.state,
      point: log.end,
      header: { location, hash: entry.hash, agent: agentOf(header) },
    }
    return core
  } catch (error) {
    await place.discard(log).catch(() => undefined)
    throw error
  }
}
