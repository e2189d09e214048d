/**
 * A stream's view in normal form, entity by entity: which records each is made of, and the hash of what they say.
 */

import { throwIfAborted } from '../../base/abort.js'
import { LargeMap } from '../../base/large.js'
import { participates } from '../../record/record.js'
import type { At, Stream } from '../../stream/api.js'
import { REPLAY_LOSS } from '../losses.js'
import { Roots } from '../paths.js'
import type { ReplayLoss } from '../replay/api.js'
import { PathLookup } from '../replay/lookup.js'
import { pathEnd } from '../replay/path-end.js'
import { type Outlined, Outliner } from './outliner.js'
import { startOf } from './start.js'

export interface Outline {
  stream: Stream
  /** by kind and id, in order */
  entities: LargeMap<Outlined>
  losses: ReplayLoss[]
}

/** Reads a path once; what its records say is not kept. */
export async function outlineOf(stream: Stream, at: At | undefined, signal?: AbortSignal): Promise<Outline> {
  const end = await pathEnd(stream, at ?? {})
  if (end === undefined) return { stream, entities: new LargeMap(), losses: [] }
  const lookup = new PathLookup(stream, end)
  const { workspace } = await stream.header()
  const outliner = new Outliner(Roots.from(workspace), lookup, await startOf(stream, lookup))
  let seen = 0
  for await (const record of (await stream.activePath({ at: end })).resolved()) {
    throwIfAborted(signal)
    const taken = outliner.take(record)
    if (taken !== undefined) await taken
    if (outliner.hasStarted && participates(record) && record.type !== 'compaction') seen++
  }
  const { length, compaction } = await stream.contextView({ at: end })
  const kept = length - (compaction === null ? 0 : 1) - seen
  if (kept > 0) outliner.losses.add(REPLAY_LOSS.compactionExtent, compaction?.id ?? null, kept)
  return { stream, entities: await outliner.end(), losses: outliner.losses.list() }
}
