/**
 * Records and headers for tests, short where the content does not matter.
 */
import type { AsrRecord, Header } from '../../src/main.js'

type Fields = { [field: string]: unknown }

export function header(sessionId = 's', fields: Fields = {}): Header {
  return { type: 'header', asr: '1', sessionId, agent: { name: 'demo', version: '1' }, ...fields }
}

export function text(words: string): { type: string; text: string }[] {
  return [{ type: 'text', text: words }]
}

export function message(id: string, fields: Fields = {}): AsrRecord {
  return { type: 'message', id, role: 'user', content: text(id), ...fields }
}

export function note(id: string, fields: Fields = {}): AsrRecord {
  return { type: 'state', id, state: 'idle', ...fields }
}

export function call(id: string, callId: string, fields: Fields = {}): AsrRecord {
  return { type: 'tool_call', id, callId, name: 'read', ...fields }
}

export function result(id: string, callId: string, fields: Fields = {}): AsrRecord {
  return { type: 'tool_result', id, callId, status: 'completed', content: text(id), ...fields }
}

export function compaction(id: string, throughId?: string, fields: Fields = {}): AsrRecord {
  const replaces = throughId === undefined ? {} : { replaces: { throughId } }
  return { type: 'compaction', id, kind: 'summary', status: 'completed', summary: text(id), ...replaces, ...fields }
}

export function tombstone(id: string, targetId: string, fields: Fields = {}): AsrRecord {
  return { type: 'tombstone', id, targetId, ...fields }
}

/** Lines of JSON, each with its LF; text is taken as it stands. */
export function jsonl(...lines: (string | object)[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
}
