/**
 * Telling an entity whose id was told before, so that nothing of the earlier one is left standing.
 */
import { isFinalStatus } from '../fold/status.js'
import type { SessionUpdate } from './api.js'
import type { Draft } from './fields.js'

const FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['user_message', ['content', '_meta']],
  ['agent_message', ['content', '_meta']],
  ['agent_thought', ['content', '_meta']],
  ['tool_call_update', ['name', 'title', 'kind', 'status', 'content', 'locations', 'rawInput', 'rawOutput', '_meta']],
  ['terminal_update', ['command', 'cwd', 'output', 'exitStatus', '_meta']],
  ['compaction_update', ['summary', 'error', '_meta']],
])

/** What an update does not have is cleared; a final status of the earlier one gives way to no other, so it is cleared first. */
export function whole(update: SessionUpdate): SessionUpdate[] {
  const cleared: Draft = { ...update }
  for (const field of FIELDS.get(update.sessionUpdate) ?? []) cleared[field] ??= null
  const { sessionUpdate, toolCallId, compactionId, status } = cleared
  if (typeof status !== 'string' || isFinalStatus(status)) return [cleared]
  const anew = { status: 'in_progress', summary: null, error: null }
  return [
    toolCallId === undefined ? { sessionUpdate, compactionId, ...anew } : { sessionUpdate, toolCallId, status: null },
    cleared,
  ]
}
