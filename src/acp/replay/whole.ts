/**
 * An update that leaves nothing of an earlier entity of its id standing: what it does not have is cleared.
 */
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

export function whole(update: SessionUpdate): SessionUpdate {
  const cleared: Draft = { ...update }
  for (const field of FIELDS.get(update.sessionUpdate) ?? []) cleared[field] ??= null
  return cleared
}
