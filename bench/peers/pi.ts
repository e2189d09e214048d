/**
 * pi's SessionManager: a session is a JSONL file that is read whole; the context is built from the tree of its entries.
 * 0.73.1 is the last version for Node 20; the package goes on as @earendil-works/pi-coding-agent, for Node 22.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import type { AsrRecord, StoredRecord } from '../../src/main.js'
import { linesOf } from './jsonl.js'
import { importPeer } from './load.js'

export const PI = '@mariozechner/pi-coding-agent'

interface Manager {
  buildSessionContext(): { messages: unknown[] }
  appendMessage(message: unknown): string
}

interface SessionModule {
  SessionManager: { open(file: string): Manager }
}

/** Only the module of sessions, not the agent around it: that would be seconds of loading. */
export async function loadPi(): Promise<SessionModule> {
  return (await importPeer(PI, 'dist/core/session-manager.js')) as SessionModule
}

export function openPi({ SessionManager }: SessionModule, file: string): Manager {
  return SessionManager.open(file)
}

/** A stream's JSONL as a session of pi: the same texts in its own entries. */
export function writePiSession(jsonl: string, file: string): void {
  const descriptor = openSync(file, 'w')
  const header = {
    type: 'session',
    version: 3,
    id: 'bench',
    timestamp: '2026-01-05T09:00:00.000Z',
    cwd: '/home/dev/project',
  }
  let lines = [JSON.stringify(header)]
  let parentId: string | null = null
  const flush = (): void => {
    writeSync(descriptor, `${lines.join('\n')}\n`)
    lines = []
  }
  for (const line of linesOf(jsonl)) {
    const record = JSON.parse(line) as StoredRecord
    if (record.type === 'header') continue
    const { id, ts: timestamp } = record
    lines.push(JSON.stringify({ ...bodyOf(record, parentId), id, parentId, timestamp }))
    parentId = id
    if (lines.length === 1_000) flush()
  }
  if (lines.length > 0) flush()
  closeSync(descriptor)
}

function bodyOf(record: StoredRecord, parentId: string | null): object {
  switch (record.type) {
    case 'message':
    case 'tool_call':
    case 'tool_result':
      return { type: 'message', message: messageOf(record) }
    case 'compaction':
      return { type: 'compaction', summary: record.summary[0].text, firstKeptEntryId: parentId, tokensBefore: 100_000 }
    default:
      return { type: 'custom', customType: record.type, data: record }
  }
}

/** A record as a message of pi. */
export function messageOf(record: AsrRecord): object {
  const timestamp = Date.parse(record.ts)
  const assistant = { role: 'assistant', api: 'messages', provider: 'p', model: 'm', stopReason: 'stop', timestamp }
  switch (record.type) {
    case 'tool_call':
      return {
        ...assistant,
        content: [{ type: 'toolCall', id: record.callId, name: record.name, arguments: record.input }],
      }
    case 'tool_result': {
      const { callId: toolCallId, displayContent: content } = record
      return { role: 'toolResult', toolCallId, toolName: 'read', content, isError: false, timestamp }
    }
    default:
      return { ...(record.role === 'user' ? { role: 'user', timestamp } : assistant), content: record.content ?? [] }
  }
}
