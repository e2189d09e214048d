/**
 * Where a view begins: at the last compaction that ACP shows as completed. How far it reaches ACP does not say (CORE-28).
 */
import { type AsrRecord, statedEntityId } from '../../record/record.js'
import type { Stream } from '../../stream/api.js'
import type { PathLookup } from '../replay/lookup.js'

/** The id of that compaction, of all on the path; undefined when there is none. Several of one id are one, where the first stands. */
export async function startOf(stream: Stream, lookup: PathLookup): Promise<string | undefined> {
  let start: { id: string; place: number } | undefined
  for (const id of await compactionIds(stream, lookup)) {
    const living = await lookup.living('compaction', id)
    if (!isCompleted(living.at(-1)?.inForce)) continue
    const place = await lookup.place(living[0])
    if (start === undefined || place > start.place) start = { id, place }
  }
  return start?.id
}

async function compactionIds(stream: Stream, lookup: PathLookup): Promise<Set<string>> {
  const ids = new Set<string>()
  for await (const record of stream.records({ types: ['compaction'] })) {
    ids.add(statedEntityId(record) ?? (await lookup.founderId(record)))
  }
  return ids
}

/** A compaction without a status is completed; so it is told. */
function isCompleted(record: AsrRecord | null | undefined): boolean {
  if (record == null) return false
  return typeof record.status !== 'string' || record.status === 'completed'
}
