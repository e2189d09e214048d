/**
 * The naive model of the round trip: what a client of ACP holds of a stream after a replay, told from the rows alone. It
 * shares nothing with the engine (ASR-724 … ASR-732, CORE-28, CORE-29).
 */
import { field, isObject, type Json, type Rec, text } from './json.js'
import type { ModelAt, ModelStream } from './model.js'
import { entitiesOn, entityId, type OnPath } from './rows.js'

/** An entity as ACP knows it. */
export interface Told {
  key: string
  says: Rec
}

interface Telling extends Told {
  /** of a message for the user alone: neither stream is held to it */
  aside: boolean
  /** of a compaction */
  completed?: boolean
}

export interface Normal {
  told: Told[]
  /** keys that are left out, here and in what it is compared with */
  aside: Set<string>
}

/** The paths of a header's roots; a redacted one has none. */
type Roots = Map<string, string | null>

/** What is compared of a stream at the end of a path. */
export function normalForm(stream: ModelStream, at: ModelAt = { head: 'primary' }): Normal {
  const entities = entitiesOn(stream.path(at) ?? []).filter(({ dead }) => !dead)
  const byKey = new Map<string, Telling>()
  for (const telling of entities.flatMap((entity) => tellingsOf(entity, entities, rootsOf(stream.header)))) {
    byKey.set(telling.key, telling) // a client has it where it first came, as it was last told
  }
  const all = [...byKey.values()]
  const start = all.findLastIndex(({ completed }) => completed === true)
  const view = all
    .slice(Math.max(start, 0))
    .filter(({ completed }, index) => completed === undefined || (index === 0 && completed))
  return {
    told: view.filter(({ aside }) => !aside).map(({ key, says }) => ({ key, says })),
    aside: new Set(view.filter(({ aside }) => aside).map(({ key }) => key)),
  }
}

/** The same once what is left out of either is out of both. */
export function comparable(a: Normal, b: Normal): [Told[], Told[]] {
  const isIn = ({ key }: Told): boolean => !a.aside.has(key) && !b.aside.has(key)
  return [a.told.filter(isIn), b.told.filter(isIn)]
}

function rootsOf(header: Rec): Roots {
  const workspace = field(header, 'workspace')
  const roots = isObject(workspace) && Array.isArray(workspace.roots) ? workspace.roots : []
  return new Map(roots.filter(isObject).map((root) => [text(root, 'id') ?? '', text(root, 'path') ?? null]))
}

function tellingsOf(entity: OnPath, all: readonly OnPath[], roots: Roots): Telling[] {
  const { record } = entity.inForce
  const id = entityId(entity.founder)
  switch (record.type) {
    case 'message':
      return messageTellings(record, id)
    case 'tool_call':
      return [{ key: `call ${id}`, says: callSays(entity, all, roots), aside: false }]
    case 'compaction': {
      const status = text(record, 'status') ?? 'completed'
      return [
        {
          key: `compaction ${id}`,
          says: { summary: blocks(record.summary) },
          aside: false,
          completed: status === 'completed',
        },
      ]
    }
    default:
      return []
  }
}

function messageTellings(record: Rec, id: string): Telling[] {
  if (record.origin === 'notice' || record.origin === 'inter_session') return []
  const aside = record.audience === 'user'
  const say = (space: string, own: string, says: Rec): Telling => ({ key: `${space} ${own}`, says, aside })
  if (record.role === 'user') return [say('user', id, { content: blocks(record.content) })]
  if (record.role !== 'assistant') return []
  const all = parts(record.content)
  const thoughts = all.filter((part) => isObject(part) && part.type === 'reasoning') as Rec[]
  if (thoughts.length === 0) return [say('agent', id, { content: blocks(all) })]
  if (thoughts.length === all.length) {
    const texts = thoughts.map(thoughtText).filter((one) => one !== null)
    return texts.length === 0 ? [] : [say('thought', id, { text: texts.join('\n\n') })]
  }
  const apart = thoughts.flatMap((thought, n) => {
    const words = thoughtText(thought)
    return words === null ? [] : [say('thought', `${id}#thought-${n}`, { text: words })]
  })
  return [...apart, say('agent', id, { content: blocks(all.filter((part) => !thoughts.includes(part as Rec))) })]
}

function thoughtText(part: Rec): string | null {
  const own = text(part, 'text')
  if (own !== undefined) return own
  if (!Array.isArray(part.summary)) return null
  return part.summary.map((segment) => (isObject(segment) ? text(segment, 'text') : segment)).join('\n\n')
}

function parts(content: Json | undefined): Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : []
}

/** The parts that ACP has blocks for; of the kinds that the tests make. */
function blocks(content: Json | undefined): Json[] {
  return parts(content).flatMap((part): Json[] => {
    if (!isObject(part) || typeof part.type !== 'string') return []
    if (part.type === 'refusal') return [{ type: 'text', text: String(part.refusal) }]
    const isBlock =
      part.type.startsWith('_') ||
      (part.type === 'text' && typeof part.text === 'string') ||
      (part.type === 'image' && typeof part.mimeType === 'string') ||
      part.type === 'resource_link' ||
      part.type === 'resource'
    return isBlock ? [part] : []
  })
}

const STATUS: Record<string, string> = {
  completed: 'completed',
  failed: 'failed',
  denied: 'failed',
  cancelled: 'cancelled',
  interrupted: 'cancelled',
}

function callSays(call: OnPath, all: readonly OnPath[], roots: Roots): Rec {
  const { record } = call.inForce
  const says: Rec = {}
  for (const name of ['name', 'title', 'kind']) {
    const value = text(record, name)
    if (value !== undefined) says[name] = value
  }
  if ((record.input ?? null) !== null) says.input = record.input
  const locations = Array.isArray(record.locations) ? record.locations : []
  says.locations = locations.filter(isObject).flatMap((location): Json[] => {
    const path = absolute(location, roots)
    return path === null ? [] : [{ path, ...('line' in location && { line: location.line }) }]
  })
  const id = entityId(call.founder)
  const changes = changesOf(call, id, all, roots)
  const result = resultsOf(all).get(call)
  return { ...says, ...(result && resultSays(result.inForce.record, changes.length > 0)), changes }
}

/** Which result each call has in the end: the one that closed it, or the last partial one (CORE-25). */
function resultsOf(all: readonly OnPath[]): Map<OnPath, OnPath> {
  const results = new Map<OnPath, OnPath>()
  const closed = new Set<OnPath>()
  for (const [index, entity] of all.entries()) {
    const { record } = entity.inForce
    if (record.type !== 'tool_result') continue
    const callId = text(record, 'callId')
    const call = all.slice(0, index).find((other) => {
      const { record: one } = other.inForce
      return one.type === 'tool_call' && callId !== undefined && text(one, 'callId') === callId && !closed.has(other)
    })
    if (call === undefined) continue
    results.set(call, entity)
    if (record.status !== 'partial') closed.add(call)
  }
  return results
}

/** A result that is not final and holds nothing leaves no trace. */
function resultSays(record: Rec, hasChanges: boolean): Rec {
  const given = text(record, 'status') ?? ''
  const status = given === 'partial' ? undefined : (STATUS[given] ?? (given.startsWith('_') ? given : 'other'))
  const shown = blocks(record.displayContent ?? record.content)
  const terminal = isObject(record.exec) ? text(record.exec, 'terminalId') : undefined
  const raw = record.raw ?? null
  const isFinal = ['completed', 'failed', 'cancelled'].includes(status ?? '')
  const holds = shown.length > 0 || terminal !== undefined || raw !== null || hasChanges
  if (!isFinal && !holds) return {}
  return {
    ...(status !== undefined && { status }),
    ...(shown.length > 0 && { shown }),
    ...(terminal !== undefined && { terminal }),
    ...(raw !== null && { raw }),
  }
}

/** What a call changed: of calls that share an id, the last before the change did it. */
function changesOf(call: OnPath, id: string, all: readonly OnPath[], roots: Roots): Json[] {
  return all.flatMap((entity, index): Json[] => {
    const { record } = entity.inForce
    if (record.type !== 'file_change' || !isObject(record.cause) || record.cause.callId !== id) return []
    const cause = all
      .slice(0, index)
      .findLast(({ inForce, founder }) => inForce.record.type === 'tool_call' && entityId(founder) === id)
    if (cause !== call) return []
    const told = (Array.isArray(record.changes) ? record.changes : []).map((one) => changeSays(one as Rec, roots))
    if (told.includes(null)) return []
    return [{ changes: told, ...(isObject(record.patch) && { patch: record.patch }) }]
  })
}

function changeSays({ path, oldPath, ...rest }: Rec, roots: Roots): Rec | null {
  const [to, from] = [absolute(path, roots), oldPath === undefined ? undefined : absolute(oldPath, roots)]
  if (to === null || from === null) return null
  return { ...rest, path: to, ...(from !== undefined && { oldPath: from }) }
}

/** A path below a root that is redacted, or that the header does not have, can not be told. */
function absolute(ref: Json | undefined, roots: Roots): string | null {
  if (!isObject(ref) || typeof ref.path !== 'string') return null
  if (ref.root === null) return ref.path
  const base = roots.get(String(ref.root)) ?? null
  if (base === null) return null
  if (ref.path === '') return base
  return base.endsWith('/') ? `${base}${ref.path}` : `${base}/${ref.path}`
}
