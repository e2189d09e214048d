/**
 * A stream as ACP v2 again (ASR-724 … ASR-731): nothing is executed, nothing is asked, and what is left out is said.
 */
import type { Stream } from '../../stream/api.js'
import { isObject } from '../json.js'
import { REPLAY_LOSS } from '../losses.js'
import { Roots } from '../paths.js'
import { ACP_PROTOCOL_VERSION } from '../revision.js'
import type { Replay, ReplayLoss, ReplayOptions } from './api.js'
import { type Opened, UpdateIterator } from './iterator.js'
import { LossReport } from './loss-report.js'
import { pinnedPath } from './path-end.js'

export { currentState } from './current-state.js'

/** The updates that show a client what a stream holds on the path of a head, or up to a record (ASR-724, ASR-725). */
export function replay(stream: Stream, options: ReplayOptions = {}): Replay {
  const { protocol = ACP_PROTOCOL_VERSION } = options
  if (protocol !== ACP_PROTOCOL_VERSION) throw new TypeError(`there is no replay in protocol version ${protocol}`)
  let opening: Promise<Opened> | undefined
  let losses: ReplayLoss[] | undefined
  const begin = (): UpdateIterator => {
    opening ??= opened(stream, options)
    return new UpdateIterator(stream, opening, (found) => {
      losses = found
    })
  }
  return {
    [Symbol.asyncIterator]: begin,
    async losses() {
      if (losses === undefined) {
        const rest = begin()
        while (!(await rest.next()).done);
      }
      return losses ?? []
    },
  }
}

/** What a replay of the stream leaves out (ASR-731). */
export function losses(stream: Stream, options: ReplayOptions = {}): Promise<ReplayLoss[]> {
  return replay(stream, options).losses()
}

async function opened(stream: Stream, options: ReplayOptions): Promise<Opened> {
  const header = await stream.header()
  const { path, end } = await pinnedPath(stream, options)
  const report = new LossReport()
  if (path.cut !== null) report.add(REPLAY_LOSS.cut, path.cut.recordId)
  for (const id of path.gaps) {
    // A gap that is a record of its own is told as one.
    if ((await stream.get(id))?.type !== 'gap') report.add(REPLAY_LOSS.refusedLines, id)
  }
  if (stream.length > path.length) report.add(REPLAY_LOSS.offPath, null, stream.length - path.length)
  if (isObject(header.lineage) && Object.keys(header.lineage).length > 0) report.add(REPLAY_LOSS.lineage, null)
  return { path, roots: Roots.from(header.workspace), end, losses: report.list() }
}
