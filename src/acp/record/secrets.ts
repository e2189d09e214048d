/**
 * What must not be stored: MCP configuration (ASR-712), secret answers (ASR-734), headers.
 */
import { isObject, type JsonObject } from '../json.js'

/** A form's answer without its secret properties, and whether there were any. */
export function withoutSecretAnswers(
  answer: unknown,
  schema: unknown,
  secretFields: ReadonlySet<string>,
): { answer: unknown; redacted: boolean } {
  if (Array.isArray(answer)) {
    const items = answer.map((item) =>
      withoutSecretAnswers(item, isObject(schema) ? schema.items : undefined, secretFields),
    )
    return { answer: items.map((item) => item.answer), redacted: items.some(({ redacted }) => redacted) }
  }
  if (!isObject(answer)) return { answer, redacted: false }
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {}
  let redacted = false
  const kept: [string, unknown][] = []
  for (const [name, value] of Object.entries(answer)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (secretFields.has(name) || isSecret(property)) {
      redacted = true
      continue
    }
    const inner = withoutSecretAnswers(value, property, secretFields)
    redacted ||= inner.redacted
    kept.push([name, inner.answer])
  }
  return { answer: redacted ? Object.fromEntries(kept) : answer, redacted }
}

function isSecret(property: unknown): boolean {
  return isObject(property) && (property.format === 'password' || property.writeOnly === true)
}

/** Keys whose values are configuration that can hold credentials, wherever they stand. */
const SECRET_KEYS: ReadonlySet<string> = new Set(['headers', 'env'])

/** A value without the MCP configuration and the headers in it; the value itself when there are none. */
export function withoutConfiguration(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(withoutConfiguration)
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  if (!isObject(value)) return value
  let changed = false
  const kept: [string, unknown][] = []
  for (const [key, given] of Object.entries(value)) {
    if (SECRET_KEYS.has(key)) {
      changed = true
      continue
    }
    const inner = key === 'mcpServers' ? serverNames(given) : withoutConfiguration(given)
    changed ||= inner !== given
    kept.push([key, inner])
  }
  return changed ? Object.fromEntries(kept) : value
}

/** Of each server its name and its type (ASR-712). */
function serverNames(servers: unknown): unknown {
  if (Array.isArray(servers)) return servers.map((server) => (isObject(server) ? nameAndType(server) : null))
  if (!isObject(servers)) return null
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [name, isObject(server) ? nameAndType(server) : null]),
  )
}

function nameAndType(server: JsonObject): JsonObject {
  return Object.fromEntries(
    ['type', 'name'].filter((key) => typeof server[key] === 'string').map((key) => [key, server[key]]),
  )
}

/** The request that a message is, or answers. */
export interface Asked {
  method: string
  params: JsonObject
}

/** Content of the conversation, without configuration. */
const CONVERSATION: ReadonlySet<string> = new Set(['session/prompt', 'session/request_permission'])

/** Methods whose parameters are credentials; what is kept of them. */
const CREDENTIALS: ReadonlyMap<string, readonly string[]> = new Map([
  ['auth/login', ['methodId']],
  ['authenticate', ['methodId']],
  ['providers/set', ['providerId', 'apiType']],
])

/** A request or notification as it may be kept. */
export function redactedCall(frame: JsonObject, { method, params }: Asked): JsonObject {
  if (CONVERSATION.has(method)) return frame
  const kept = CREDENTIALS.get(method)
  if (kept !== undefined) {
    return {
      ...frame,
      params: Object.fromEntries(kept.filter((key) => key in params).map((key) => [key, params[key]])),
    }
  }
  const redacted = withoutConfiguration(frame.params)
  return redacted === frame.params ? frame : { ...frame, params: redacted }
}

/** A response as it may be kept. Of an answer whose question is not known, the content is not. */
export function redactedResponse(
  frame: JsonObject,
  asked: Asked | undefined,
  secretFields: ReadonlySet<string>,
): JsonObject {
  const { result } = frame
  if (!isObject(result) || CONVERSATION.has(asked?.method ?? '')) return frame
  if (!('content' in result) || (asked !== undefined && asked.method !== 'elicitation/create')) {
    const redacted = withoutConfiguration(result)
    return redacted === result ? frame : { ...frame, result: redacted }
  }
  const { content, ...rest } = result
  if (asked === undefined || asked.params.mode !== 'form') return { ...frame, result: rest }
  const { answer, redacted } = withoutSecretAnswers(content, asked.params.requestedSchema, secretFields)
  return redacted ? { ...frame, result: { ...rest, content: answer } } : frame
}
