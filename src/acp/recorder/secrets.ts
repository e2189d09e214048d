/**
 * What must not be stored: MCP configuration (ASR-712), secret answers (ASR-734), headers.
 */
import { numberOf } from '../../record/exact.js'
import { isObject, type JsonObject, objectOf, picked, textOf } from '../json.js'

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

/** Whether a property is marked as secret, itself or in one of the schemas that it is made of. */
function isSecret(property: unknown): boolean {
  if (Array.isArray(property)) return property.some(isSecret)
  if (!isObject(property)) return false
  if (property.format === 'password' || property.writeOnly === true) return true
  return [property.items, property.allOf, property.anyOf, property.oneOf].some(isSecret)
}

/** Keys whose values are configuration that can hold credentials, wherever they stand. */
const SECRET_KEY = /^(?:env|(?:http[_-]?)?headers)$/i
const SERVERS_KEY = /^mcp[_-]?servers?$/i

/** Words of the conversation: what a tool was given and gave, and what a form asks for, are kept as they came. */
const WORDS: ReadonlySet<string> = new Set(['rawInput', 'rawOutput', 'requestedSchema'])

/** Deeper than a record may be: nothing of it could be stored. */
const DEPTH_MAX = 600

/** A value without what lies too deep in it to be stored, so that nobody runs out of stack over it; the value itself where nothing does. */
export function withoutDepth(value: unknown, depth = 0): unknown {
  if (!Array.isArray(value) && !isObject(value)) return value
  if (depth > DEPTH_MAX) return null
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutDepth(item, depth + 1))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  const kept = Object.entries(value).map(([key, given]) => [key, withoutDepth(given, depth + 1)] as const)
  return kept.some(([key, inner]) => inner !== value[key]) ? Object.fromEntries(kept) : value
}

/** A value without the MCP configuration and the headers in it (ASR-712); the value itself when there are none. */
export function withoutConfiguration(value: unknown, depth = 0): unknown {
  if (!Array.isArray(value) && !isObject(value)) return value
  if (depth > DEPTH_MAX) return null
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutConfiguration(item, depth + 1))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  let changed = false
  const kept: [string, unknown][] = []
  for (const [key, given] of Object.entries(value)) {
    if (SECRET_KEY.test(key)) {
      changed = true
      continue
    }
    const inner = cleanField(key, given, depth)
    changed ||= inner !== given
    kept.push([key, inner])
  }
  return changed ? Object.fromEntries(kept) : value
}

/** A frame without configuration; what a form is answered with is the user's own words. */
export function cleanFrame(frame: unknown): unknown {
  const result = isObject(frame) ? frame.result : undefined
  if (!isObject(result) || typeof result.action !== 'string' || !isObject(result.content))
    return withoutConfiguration(frame)
  const { content: given, ...rest } = result
  const other = { ...objectOf(frame), result: rest }
  const clean = objectOf(withoutConfiguration(other))
  const content = withoutDepth(given)
  return clean === other && content === given ? frame : { ...clean, result: { ...objectOf(clean?.result), content } }
}

function cleanField(key: string, given: unknown, depth: number): unknown {
  if (SERVERS_KEY.test(key)) return serverNames(given)
  return WORDS.has(key) ? withoutDepth(given, depth + 1) : withoutConfiguration(given, depth + 1)
}

/** Of each server its name and its type (ASR-712). */
function serverNames(servers: unknown): unknown {
  if (Array.isArray(servers)) return servers.map((server) => (isObject(server) ? nameAndType(server) : null))
  if (!isObject(servers)) return null
  if (typeof servers.name === 'string') return nameAndType(servers)
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
  /** as it came */
  frame: JsonObject
}

/** Methods whose parameters are credentials; what is kept of them. */
const CREDENTIALS: ReadonlyMap<string, readonly string[]> = new Map([
  ['auth/login', ['methodId']],
  ['authenticate', ['methodId']],
  ['providers/set', ['providerId', 'apiType']],
])

/** Methods that an error may tell the configuration or the answers of. */
const SECRET_ERRORS: ReadonlySet<string> = new Set([
  'session/new',
  'session/resume',
  'session/fork',
  'elicitation/create',
  ...CREDENTIALS.keys(),
])

/** The methods of ASP carry whole states of agents: nobody who keeps frames asked for these. */
export function isStateMethod(method: unknown): boolean {
  return typeof method === 'string' && method.startsWith('_asp/')
}

/** Whether text that is no JSON may be a piece of such a message. */
export function isStateText(text: string | undefined): boolean {
  return text?.includes('_asp') ?? false
}

/** Of a message its id, its method where it is known, and how many bytes the rest of it is as JSON. */
export function sizesOf(frame: JsonObject, method?: string): JsonObject {
  const { id } = frame
  const bytes = ['params', 'result', 'error']
    .filter((key) => frame[key] !== undefined)
    .map((key) => [key, encoder.encode(JSON.stringify(frame[key])).length])
  const isId = id === null || typeof id === 'string' || numberOf(id) !== undefined
  return { ...(isId && { id }), ...(method !== undefined && { method }), bytes: Object.fromEntries(bytes) }
}

/** What is no JSON-RPC without what looks like a message of ASP. */
export function withoutStates(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutStates)
  return isObject(value) && isStateMethod(value.method) ? sizesOf(value, textOf(value.method)) : value
}

const encoder = new TextEncoder()

/** A request or notification without configuration, as it may be kept. */
export function redactedCall(
  frame: JsonObject,
  { method, params }: { method: string; params: JsonObject },
): JsonObject {
  const kept = CREDENTIALS.get(method)
  return kept === undefined ? frame : { ...frame, params: picked(params, kept) }
}

/** A response without configuration, as it may be kept. */
export function redactedResponse(frame: JsonObject, asked: Asked, secretFields: ReadonlySet<string>): JsonObject {
  if (frame.error !== undefined) {
    const error = redactedError(frame.error, asked)
    return error === frame.error ? frame : { ...frame, error }
  }
  const { result } = frame
  if (!isObject(result) || !('content' in result) || asked.method !== 'elicitation/create') return frame
  const { content, ...rest } = result
  if (asked.params.mode !== 'form' || !isObject(content)) return { ...frame, result: rest }
  const { answer, redacted } = withoutSecretAnswers(content, asked.params.requestedSchema, secretFields)
  return redacted ? { ...frame, result: { ...rest, content: answer } } : frame
}

/** An error as it may be kept: what it says of a request with secrets is its code, and its message when none is in it. */
export function redactedError(error: unknown, asked: Asked): unknown {
  if (!SECRET_ERRORS.has(asked.method)) return error
  const { code, message } = objectOf(error) ?? {}
  const tells = typeof message === 'string' && !secretsOf(asked).some((secret) => message.includes(secret))
  return { ...(numberOf(code) !== undefined && { code }), ...(tells && { message }) }
}

/** The texts of the configuration that a request came with. */
function secretsOf(asked: Asked): string[] {
  const params = withoutDepth(asked.frame.params ?? null)
  const given = JSON.stringify(params)
  const clean = JSON.stringify(withoutConfiguration(params))
  if (given === clean) return []
  const known = new Set(textsIn(JSON.parse(clean)))
  return textsIn(JSON.parse(given)).filter((text) => text !== '' && !known.has(text))
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
