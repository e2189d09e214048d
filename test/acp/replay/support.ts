/**
 * Replays in tests: a stream from records, what is told of it, and whether a client takes it.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as acp from '@agentclientprotocol/sdk/experimental/v2/unstable'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import * as assert from 'uvu/assert'
import {
  losses,
  type ReplayLoss,
  type ReplayOptions,
  replay,
  type SessionUpdateParams,
} from '../../../src/acp/replay/main.js'
import type { AsrRecord, Stream } from '../../../src/main.js'
import { collect } from '../../support/collect.js'
import { header } from '../../support/records.js'
import { openMemory } from '../../support/stores.js'
import { schemaOf } from '../generator.js'

export const CWD = '/home/u/proj'
const ROOTS = { workspace: { roots: [{ id: 'root0', path: CWD }] } }

export type Told = SessionUpdateParams['update']

/** A stream of session `s` with a root, and these records. */
export async function streamWith(records: AsrRecord[], fields: object = ROOTS): Promise<Stream> {
  const { store } = await openMemory()
  const stream = await store.createStream(header('s', { ...fields }))
  if (records.length > 0) await stream.append(records)
  return stream
}

/** The updates of a replay, each of them one that a client takes whole. */
export async function told(stream: Stream, options?: ReplayOptions): Promise<Told[]> {
  const all = await collect(replay(stream, options))
  for (const params of all) assertTaken(params)
  return all.map(({ update }) => update)
}

/** What is told of these records, without the state that ends every replay. */
export async function history(...records: AsrRecord[]): Promise<Told[]> {
  const updates = await told(await streamWith(records))
  assert.is(updates.pop()?.sessionUpdate, 'state_update')
  return updates
}

/** The losses of a replay: how many, by name. */
export async function lost(stream: Stream, options?: ReplayOptions): Promise<Record<string, number>> {
  return byName(await losses(stream, options))
}

export function byName(list: readonly ReplayLoss[]): Record<string, number> {
  return Object.fromEntries(list.map(({ loss, count }) => [loss, count]))
}

const validate = validator()
const { zUpdateSessionNotification } = await zodSchemas()

/** Valid by the schema, known to the guards, and the same after the parsing of the SDK: nothing of it is dropped. */
export function assertTaken(params: SessionUpdateParams): void {
  assertValid(params)
  assert.equal(zUpdateSessionNotification.parse(params), params)
}

/** Valid by the schema, and known to the guards of the SDK. */
export function assertValid(params: SessionUpdateParams): void {
  assert.ok(validate(params), `${JSON.stringify(params)} ${JSON.stringify(validate.errors)}`)
  assert.ok(zUpdateSessionNotification.safeParse(params).success, JSON.stringify(params))
  const guard = GUARDS.get(params.update.sessionUpdate) ?? assert.unreachable(params.update.sessionUpdate)
  assert.ok(guard?.(params.update as never), JSON.stringify(params))
}

const GUARDS = new Map<string, (update: never) => boolean>([
  ['user_message', acp.SessionUpdate.isUserMessage],
  ['agent_message', acp.SessionUpdate.isAgentMessage],
  ['agent_thought', acp.SessionUpdate.isAgentThought],
  ['tool_call_update', acp.SessionUpdate.isToolCallUpdate],
  ['plan_update', acp.SessionUpdate.isPlanUpdate],
  ['terminal_update', acp.SessionUpdate.isTerminalUpdate],
  ['compaction_update', acp.SessionUpdate.isCompactionUpdate],
  ['session_info_update', acp.SessionUpdate.isSessionInfoUpdate],
  ['usage_update', acp.SessionUpdate.isUsageUpdate],
  ['state_update', acp.SessionUpdate.isStateUpdate],
])

function validator(): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addFormat('uri', (text) => URL.canParse(text))
  ajv.addFormat('date-time', (text) => !Number.isNaN(Date.parse(text)))
  for (const [format, most] of [
    ['uint16', 0xffff],
    ['uint32', 0xffff_ffff],
    ['uint64', Number.MAX_SAFE_INTEGER],
  ] as const) {
    ajv.addFormat(format, { type: 'number', validate: (value: number) => value >= 0 && value <= most })
  }
  for (const format of ['int32', 'int64', 'double', 'regex']) ajv.addFormat(format, true)
  ajv.addSchema({ $id: 'acp', ...schemaOf() })
  return ajv.getSchema('acp#/$defs/UpdateSessionNotification') as ValidateFunction
}

interface Parser {
  parse(value: unknown): unknown
  safeParse(value: unknown): { success: boolean }
}

/** The schemas that the SDK parses with; it does not export them, so they are taken from their file. */
async function zodSchemas(): Promise<{ zUpdateSessionNotification: Parser }> {
  const schema = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk/schema/v2/schema.unstable.json')
  const file = join(schema, '../../../dist/v2/unstable/schema/zod.gen.js')
  return import(pathToFileURL(file).href)
}
