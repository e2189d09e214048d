/**
 * Where a replayed path ends, pinned: the head may move on while it is told.
 */
import { PRIMARY } from '../../record/record.js'
import type { Path, Stream } from '../../stream/api.js'
import type { ReplayOptions } from './api.js'

/** The id of the path's last record; undefined: the path is empty. @throws ASR_NOT_FOUND for a head that is not there */
export async function pathEnd(stream: Stream, { head = PRIMARY, at }: ReplayOptions): Promise<string | undefined> {
  if (at !== undefined) return at
  const found = (await stream.heads()).find(({ name }) => name === head)
  // What is not there is told as the store tells it.
  if (found === undefined) await stream.activePath({ head })
  return found?.recordId
}

/** A path with the id of its last record. */
export async function pinnedPath(
  stream: Stream,
  options: ReplayOptions,
): Promise<{ path: Path; end: string | undefined }> {
  const end = await pathEnd(stream, options)
  if (options.at !== undefined) return { path: await stream.activePath({ at: end }), end }
  // By the head, whose place is known, where an id has to be looked up; unless it moved in between.
  const path = await stream.activePath({ head: options.head })
  if ((await pathEnd(stream, options)) === end) return { path, end }
  return { path: await stream.activePath({ at: end }), end }
}
