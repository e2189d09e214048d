/**
 * How a session stands, without its history: what a client that asked for no replay is told (M22).
 */
import type { Stream } from '../../stream/api.js'
import type { ReplayOptions, SessionUpdateParams } from './api.js'
import { Current } from './current.js'
import { PathLookup } from './lookup.js'
import { LossReport } from './loss-report.js'
import { pathEnd } from './path-end.js'

const TYPES = ['session_info', 'usage_summary', 'state']

/** The latest title, usage and state on a path, the state always and last; looked for from the path's end backwards. */
export async function* currentState(stream: Stream, options: ReplayOptions = {}): AsyncGenerator<SessionUpdateParams> {
  const end = await pathEnd(stream, options)
  const lookup = new PathLookup(stream, end)
  const current = new Current(new LossReport())
  const to = end === undefined ? 0 : await stream.position(end)
  for (const type of TYPES) {
    let behind: Parameters<Current['take']>[0] | undefined
    for await (const record of stream.records({ reverse: true, to, types: [type] })) {
      const inForce = await lookup.foundedBy(record)
      if (inForce === undefined) continue
      if (current.take(inForce)) break
      behind ??= inForce
    }
    // What came behind the one that counts may say that it is over.
    if (behind !== undefined) current.take(behind)
  }
  for (const update of current.updates()) yield { sessionId: stream.sessionId, update }
}
