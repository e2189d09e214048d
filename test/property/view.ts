/**
 * The naive model of the core, second part: the context view of a path (CORE-22 … CORE-25).
 */
import { field, isObject, type Json, type Rec, text } from './json.js'
import { entitiesOn, entityId, type OnPath, participates, type Row } from './rows.js'

export interface View {
  compaction: Row | null
  /** the compaction in force first */
  entries: Row[]
  openCalls: string[]
  danglingResults: string[]
  diagnostics: { code: string; recordId: string }[]
}

/** What a compaction replaces: up to and with a place of the path, nothing, or no sound extent. */
type Extent = number | 'nothing' | 'bad'

/** CORE-23: the extent that a compaction of this position states. */
export function extentOf(path: readonly Row[], position: number, inForce: Row): Extent {
  const replaces = field(inForce.record, 'replaces')
  const through: Json = isObject(replaces) ? (field(replaces, 'throughId') ?? null) : null
  if (through === null) {
    for (let place = position - 1; place >= 0; place--) if (participates(path[place].record)) return place
    return 'nothing'
  }
  const place = path.findIndex((row) => row.id === through)
  return place === -1 || place >= position ? 'bad' : place
}

/** CORE-23: for a view, a compaction of another status is not there. */
function isCompleted(record: Rec): boolean {
  const status = field(record, 'status') ?? null
  return status === null || status === 'completed'
}

/** CORE-24 */
export function viewOf(path: readonly Row[]): View {
  const entities = entitiesOn(path)
  const diagnostics: View['diagnostics'] = []
  let inForce: OnPath | null = null
  let after = -1
  for (const entity of entities.toReversed()) {
    if (entity.founder.record.type !== 'compaction' || entity.dead) continue
    if (!isCompleted(entity.inForce.record)) continue
    const extent = extentOf(path, entity.place, entity.inForce)
    if (extent === 'bad') {
      diagnostics.push({ code: 'compaction_bad_extent', recordId: entity.inForce.id })
      continue
    }
    inForce = entity
    after = extent === 'nothing' ? -1 : extent
    break
  }
  const seen = entities.filter(
    (entity) =>
      !entity.dead &&
      participates(entity.inForce.record) &&
      entity.founder.record.type !== 'compaction' &&
      entity.place > after,
  )
  const shown = inForce === null ? seen : [inForce, ...seen]
  return {
    compaction: inForce === null ? null : inForce.inForce,
    entries: shown.map((entity) => entity.inForce),
    diagnostics,
    ...pairs(shown),
  }
}

/** CORE-25 */
function pairs(shown: readonly OnPath[]): { openCalls: string[]; danglingResults: string[] } {
  let open: { callId: string | undefined; shownAs: string }[] = []
  const danglingResults: string[] = []
  for (const { founder, inForce } of shown) {
    const callId = text(inForce.record, 'callId')
    if (inForce.record.type === 'tool_call') open.push({ callId, shownAs: callId ?? entityId(founder) })
    if (inForce.record.type !== 'tool_result') continue
    const closed = callId === undefined ? undefined : open.find((call) => call.callId === callId)
    if (closed === undefined) danglingResults.push(callId ?? '')
    else if (inForce.record.status !== 'partial') open = open.filter((call) => call !== closed)
  }
  return { openCalls: open.map((call) => call.shownAs), danglingResults }
}
