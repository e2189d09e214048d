/**
 * Headers of recorded streams (ASR-700, ASR-703, ASR-711, ASR-718, ASR-721).
 */
import type { Header } from '../../record/record.js'
import { isObject, objectOf } from '../json.js'
import { LOSSES_ALWAYS, type Loss } from '../losses.js'
import type { Roots } from '../paths.js'
import { ACP_SCHEMA, ACP_VENDOR } from '../revision.js'
import type { RecorderOptions } from './api.js'

export type Agent = { name: string; version?: string }

/** What is known of a session when it is first seen. */
export interface Opening {
  directories: string[]
  lineage?: Record<string, unknown>
}

/** The agent's name by ASR-703: what is configured, else one below the prefix kept for what has none. */
export function agentOf(info: Agent | undefined, configured: RecorderOptions['agentName']): Agent {
  const known = info ?? { name: '' }
  const given = typeof configured === 'function' ? configured(known) : configured
  const label = known.name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  const name = given ?? `${ACP_VENDOR}.${label === '' ? 'unknown' : label}`
  return { name, ...(known.version !== undefined && { version: known.version }) }
}

export function newHeader(
  sessionId: string,
  agent: Agent,
  roots: Roots,
  lineage: Record<string, unknown> | undefined,
): Header {
  return {
    type: 'header',
    asr: '1',
    sessionId,
    agent,
    workspace: { roots: roots.list.map(({ id, path }) => ({ id, path })) },
    ...(lineage && { lineage }),
    producer: producer(LOSSES_ALWAYS),
  } as Header
}

function producer(lossy: readonly string[]): Record<string, unknown> {
  return { method: 'recorder', source: { format: 'acp', formatVersion: ACP_SCHEMA }, lossy }
}

/** The patch that declares losses (ASR-722); empty when all are declared. */
export function lossPatch(header: Header, losses: Iterable<Loss>): Record<string, unknown> {
  const declared = lossesOf(header)
  const more = [...losses].filter((loss) => !declared.includes(loss))
  return more.length === 0 ? {} : { producer: { ...producer([]), ...header.producer, lossy: [...declared, ...more] } }
}

export function lossesOf(header: Header): string[] {
  const lossy: unknown = isObject(header.producer) ? header.producer.lossy : undefined
  return Array.isArray(lossy) ? lossy.filter((loss): loss is string => typeof loss === 'string') : []
}

/** More roots: those that are there stay as they are. */
export function rootsPatch(header: Header, roots: Roots): Record<string, unknown> {
  const workspace = objectOf(header.workspace)
  const known = Array.isArray(workspace?.roots) ? workspace.roots.filter(isObject) : []
  return { workspace: { ...workspace, roots: roots.list.map((root, index) => known[index] ?? root) } }
}

/** What is known of a session's origin stays. */
export function lineagePatch(header: Header, lineage: Record<string, unknown>): Record<string, unknown> {
  return { lineage: { ...lineage, ...objectOf(header.lineage) } }
}
