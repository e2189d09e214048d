/**
 * Recording short conversations in tests.
 */
import type { Direction } from '../../src/acp/frames.js'
import {
  createRecorder,
  type ObservedFrame,
  type Recorder,
  type RecorderOptions,
  type RecorderProblem,
  type RecorderSummary,
} from '../../src/acp/main.js'
import {
  type AsrRecord,
  memoryLocation,
  openStore,
  type Store,
  type StoredRecord,
  type Stream,
} from '../../src/main.js'
import type { MemoryLocation } from '../support/stores.js'

export type Update = { sessionUpdate: string; [field: string]: unknown }

export const AT = '2026-10-26T14:30:00.000Z'
export const CWD = '/home/u/proj'

/** Writes frames down as a client and an agent would send them, with ids of their own on each side. */
export class Talk {
  readonly frames: ObservedFrame[] = []
  private readonly ids: Record<Direction, number> = { c2a: 0, a2c: 0 }
  private second = 0

  constructor(private conn: number | string = 0) {}

  private push(dir: Direction, frame: object): this {
    const at = new Date(Date.parse(AT) + 1000 * this.second++).toISOString()
    this.frames.push({ dir, frame: { jsonrpc: '2.0', ...frame }, at, conn: this.conn })
    return this
  }

  raw(dir: Direction, frame: unknown, text?: string): this {
    this.frames.push({ dir, frame, text, at: AT, conn: this.conn })
    return this
  }

  /** What follows is said on another connection, whose ids begin anew. */
  on(conn: number | string): this {
    this.conn = conn
    Object.assign(this.ids, { c2a: 0, a2c: 0 })
    return this
  }

  request(dir: Direction, method: string, params: object): number {
    const id = this.ids[dir]++
    this.push(dir, { id, method, params })
    return id
  }

  respond(dir: Direction, id: number | string | null, result: unknown): this {
    return this.push(dir, { id, result })
  }

  refuse(dir: Direction, id: number, code = -32000): this {
    return this.push(dir, { id, error: { code, message: 'no' } })
  }

  notify(dir: Direction, method: string, params: object): this {
    return this.push(dir, { method, params })
  }

  initialize(info: object = { name: 'Demo Agent', version: '1.2' }, protocolVersion = 2): this {
    const id = this.request('c2a', 'initialize', { protocolVersion: 2, info: { name: 'test', version: '1' } })
    return this.respond('a2c', id, { protocolVersion, info, capabilities: {} })
  }

  newSession(sessionId = 's', params: object = {}, result: object = {}): this {
    const id = this.request('c2a', 'session/new', { cwd: CWD, ...params })
    return this.respond('a2c', id, { sessionId, ...result })
  }

  update(update: Update, sessionId = 's', meta?: object): this {
    return this.notify('a2c', 'session/update', { sessionId, update, ...(meta && { _meta: meta }) })
  }

  prompt(messageId: string, words: string, sessionId = 's'): this {
    const id = this.request('c2a', 'session/prompt', { sessionId, prompt: [textBlock(words)] })
    return this.respond('a2c', id, { messageId })
  }

  say(messageId: string, words: string, sessionId = 's'): this {
    return this.update({ sessionUpdate: 'agent_message_chunk', messageId, content: textBlock(words) }, sessionId)
  }

  think(messageId: string, words: string, sessionId = 's'): this {
    return this.update({ sessionUpdate: 'agent_thought_chunk', messageId, content: textBlock(words) }, sessionId)
  }

  call(toolCallId: string, fields: object = {}, sessionId = 's'): this {
    return this.update({ sessionUpdate: 'tool_call_update', toolCallId, ...fields }, sessionId)
  }

  state(state: string, fields: object = {}, sessionId = 's'): this {
    return this.update({ sessionUpdate: 'state_update', state, ...fields }, sessionId)
  }

  close(sessionId = 's'): this {
    return this.respond('a2c', this.request('c2a', 'session/close', { sessionId }), {})
  }

  /** A session opened again: what is told in between comes before the answer. */
  resume(tell: (talk: Talk) => void, sessionId = 's', result: object | null = {}, params: object = {}): this {
    const replayFrom = { type: 'start' }
    const id = this.request('c2a', 'session/resume', { sessionId, cwd: CWD, replayFrom, ...params })
    tell(this)
    return result === null ? this.refuse('a2c', id) : this.respond('a2c', id, result)
  }

  fork(sessionId: string, parent = 's', params: object = {}): this {
    const id = this.request('c2a', 'session/fork', { sessionId: parent, cwd: CWD, ...params })
    return this.respond('a2c', id, { sessionId })
  }
}

/** A talk whose connection is initialized and whose session `s` is there. */
export function talk(): Talk {
  return new Talk().initialize().newSession()
}

export function textBlock(text: string): { type: 'text'; text: string } {
  return { type: 'text', text }
}

export interface Recording {
  store: Store
  location: MemoryLocation
  recorder: Recorder
  problems: RecorderProblem[]
  summary: RecorderSummary
}

/** Records frames to their end. */
export async function recordAll(
  frames: readonly ObservedFrame[],
  options: RecorderOptions = {},
  location = memoryLocation(),
): Promise<Recording> {
  const recording = await startRecording(options, location)
  for (const frame of frames) recording.recorder.observe(frame)
  return { ...recording, summary: await recording.recorder.stop() }
}

export async function startRecording(
  options: RecorderOptions = {},
  location = memoryLocation(),
): Promise<Omit<Recording, 'summary'>> {
  const store = await openStore(location)
  const problems: RecorderProblem[] = []
  const recorder = createRecorder(store, { onProblem: (problem) => problems.push(problem), ...options })
  return { store, location, recorder, problems }
}

export async function recordsOf(stream: Stream): Promise<StoredRecord[]> {
  const records: StoredRecord[] = []
  for await (const record of stream.records()) records.push(record)
  return records
}

/** The records of session `s`, or another, of what a talk gives. */
export async function recordsFrom(
  { frames }: Talk,
  options: RecorderOptions = {},
  sessionId = 's',
): Promise<StoredRecord[]> {
  const { store } = await recordAll(frames, options)
  return recordsOf(await store.stream(sessionId))
}

/** What a record says, without what every record has. */
export function said(record: AsrRecord): Record<string, unknown> {
  const { seq, id, ts, tsSource, observedAt, native, ...rest } = record
  return native?.record === undefined ? rest : { ...rest, record: native.record }
}

export function ofType(records: readonly StoredRecord[], type: string): StoredRecord[] {
  return records.filter((record) => record.type === type)
}

/** A short word for each record: its type and what names it. */
export function outline(records: readonly AsrRecord[]): string[] {
  return records.map((record) => {
    const id =
      record.requestId ?? record.messageId ?? record.callId ?? record.planId ?? record.terminalId ?? record.compactionId
    const name = id ?? record.cause?.callId ?? record.childSession ?? record.state ?? ''
    const status = record.type === 'message' || record.status === undefined ? '' : ` ${record.status}`
    return `${record.supersedes === undefined ? '' : '~'}${record.type} ${name}${status}`.trim()
  })
}

export function words(record: AsrRecord): string {
  return record.content.map((block: { text?: string }) => block.text ?? '').join('|')
}
