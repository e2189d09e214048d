/**
 * Streams made of random steps, and the recording of their replay, as a client that resumes the session would see it.
 */

import { createRecorder } from '../../src/acp/main.js'
import type { SessionUpdateParams } from '../../src/acp/replay/api.js'
import { replay } from '../../src/acp/replay/replay.js'
import { memoryLocation, openStore, type Store, type Stream } from '../../src/main.js'
import { collect } from '../support/collect.js'
import type { Rec } from './json.js'
import { isFault, ModelStream } from './model.js'
import { recordOf } from './records.js'
import type { Step } from './round-trip-arbitraries.js'

const ROOTS = [
  { id: 'root0', path: '/w' },
  { id: 'redacted', path: null },
  { id: 'root1', path: '/w/sub/' },
]

export const HEADER: Rec = {
  type: 'header',
  asr: '1',
  sessionId: 's',
  agent: { name: 'com.example.agent', version: '1' },
  workspace: { roots: ROOTS },
}

/** A stream of those steps that append takes. */
export function modelOf(steps: readonly Step[]): ModelStream {
  const model = new ModelStream(HEADER)
  for (const { draft, body } of steps) model.append([{ ...recordOf(model, draft), ...plainCopy(body) }])
  return model
}

/** Values as they come out of JSON, whatever made them. */
export function plainCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}

/** The same records in a store. */
export async function streamOf(model: ModelStream): Promise<Stream> {
  const store = await openStore(memoryLocation())
  await store.importJsonl([model.exportText()])
  return store.stream('s')
}

/** What is in a store, for the model to read. */
export async function modelled(stream: Stream): Promise<ModelStream> {
  const model = new ModelStream((await stream.header()) as unknown as Rec)
  const taken = model.append((await collect(stream.records())) as unknown as Rec[])
  if (isFault(taken)) throw new Error(`the model does not take what was recorded: ${taken.code}`)
  return model
}

export interface Replayed {
  store: Store
  stream: Stream
  updates: SessionUpdateParams[]
}

export async function recordReplay(stream: Stream): Promise<Replayed> {
  const { sessionId } = stream
  const store = await openStore(memoryLocation())
  const problems: unknown[] = []
  const recorder = createRecorder(store, { keepWire: 'none', onProblem: (problem) => problems.push(problem) })
  const send = (dir: 'c2a' | 'a2c', frame: object): void =>
    recorder.observe({ dir, frame: { jsonrpc: '2.0', ...frame } })
  send('c2a', { id: 0, method: 'initialize', params: { protocolVersion: 2 } })
  send('a2c', { id: 0, result: { protocolVersion: 2, info: { name: 'again', version: '1' } } })
  send('c2a', { id: 1, method: 'session/resume', params: { sessionId, ...(await directories(stream)) } })
  const updates = await collect(replay(stream, { protocol: 2 }))
  for (const params of updates) send('a2c', { method: 'session/update', params })
  send('a2c', { id: 1, result: {} })
  await recorder.stop()
  if (problems.length > 0) throw new Error(`the replay can not be recorded: ${JSON.stringify(problems)}`)
  return { store, stream: await store.stream(sessionId), updates }
}

async function directories(stream: Stream): Promise<{ cwd: string; additionalDirectories: string[] }> {
  const { workspace } = await stream.header()
  const paths: unknown[] = (workspace?.roots ?? []).map((root: { path?: unknown }) => root.path)
  const [cwd = '/', ...additionalDirectories] = paths.filter((path) => typeof path === 'string')
  return { cwd, additionalDirectories }
}

/** What the entities of a recorded stream say, without when and where they were seen. The state is no entity. */
export async function saidBy(stream: Stream): Promise<unknown[]> {
  const records = (await collect(stream.records())).filter(({ type }) => type !== 'state')
  return records.map(({ observedAt, ts, tsSource, native, ...said }) => said)
}
