/**
 * What an agent tells of a session (ASR-708): each title is a record, and `_meta` that comes without a title is folded into the one
 * that is there.
 */
import type { AsrRecord } from '../../record/record.js'
import type { Stream } from '../../stream/api.js'
import { patchedMeta } from '../fold/patch.js'
import { type JsonObject, objectOf, sameJson } from '../json.js'
import type { Session } from './session.js'
import type { EntityKind } from './slot.js'
import { exactly, lastOf } from './stored.js'
import { Tracked, timesOf } from './tracked.js'
import type { Seen } from './update.js'

type Sight = Pick<Seen, 'at' | 'frames'>

interface InfoState {
  /** undefined: none was told; null: it was cleared */
  title: string | null | undefined
  meta: JsonObject | undefined
}

const infoKind: EntityKind<InfoState> = {
  name: 'session_info',
  isAside: true,
  slots({ title, meta }) {
    const body = { type: 'session_info', ...(title !== undefined && { title }), ...(meta && { _meta: meta }) }
    return [{ name: 'session_info', body }]
  },
}

/** An update of title or `_meta`; `updatedAt` is not recorded (M26). */
export function applyInfo(session: Session, update: JsonObject, seen: Sight, live = true): void | Promise<void> {
  const { held, hasLetGo } = session.line
  const take = (known: Tracked<InfoState> | undefined): void => fold(session, known, update, seen, live)
  const known = (held.get(infoKind.name) ?? session.line.recall(infoKind.name)) as Tracked<InfoState> | undefined
  if (known !== undefined || !hasLetGo) return take(known)
  return session.storedStream().then(async (stream) => take(stream && (await revived(stream))))
}

function fold(
  session: Session,
  known: Tracked<InfoState> | undefined,
  { title, _meta }: JsonObject,
  { at, frames }: Sight,
  live: boolean,
): void {
  const before = known?.state
  const isTitle = title === null || typeof title === 'string'
  const state: InfoState = { title: isTitle ? title : before?.title, meta: patchedMeta(before?.meta, _meta) }
  if (state.title === undefined && state.meta === undefined && before === undefined) return
  if (known === undefined || state.title !== before?.title) {
    const tracked = new Tracked(infoKind, state, session.times(at, live), frames)
    tracked.comesBack = true
    session.line.add(tracked as Tracked, infoKind.name)
    return
  }
  known.seen(frames)
  if (sameJson(state.meta, before?.meta)) return
  known.state = state
  known.dirty = true // written with the line, however often it changes until then
  session.line.held.set(infoKind.name, known as Tracked)
}

async function revived(stream: Stream): Promise<Tracked<InfoState> | undefined> {
  const last = await lastOf(stream, 'session_info', () => true)
  if (last === undefined) return undefined
  let first = last
  while (typeof first.supersedes === 'string') {
    const before = await stream.get(first.supersedes)
    if (before === undefined) break
    first = before
  }
  const [entity] = await stream.entity('session_info', first.id, { anywhere: true })
  if (entity === undefined || entity.inForce === null) return undefined
  const inForce = await exactly(stream, entity.inForce)
  const tracked = new Tracked(infoKind, stateOf(inForce), timesOf(first), undefined)
  tracked.adopt({ slots: new Map([[infoKind.name, { ...entity, inForce }]]), detached: 0 })
  return tracked
}

function stateOf({ title, _meta }: AsrRecord): InfoState {
  return { title: title === null || typeof title === 'string' ? title : undefined, meta: objectOf(_meta) }
}
