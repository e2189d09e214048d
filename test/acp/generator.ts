/**
 * Values made from the JSON schema of ACP itself: every branch of a union, optional fields there or not, few ids so that
 * updates meet.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import fc from 'fast-check'

// biome-ignore lint/suspicious/noExplicitAny: a JSON schema
type Schema = any

const path = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk/schema/v2/schema.unstable.json')
const schema: Schema = JSON.parse(readFileSync(path, 'utf8'))

export function schemaOf(): Schema {
  return schema
}

/** Ids of which there are few; which session a frame is of decides the test. */
const IDS: Record<string, fc.Arbitrary<unknown>> = {
  SessionId: fc.constantFrom('s', 'kid'),
  MessageId: fc.constantFrom('m1', 'm2'),
  ToolCallId: fc.constantFrom('t1', 't2'),
  TerminalId: fc.constantFrom('x1', 'x2'),
  PlanId: fc.constantFrom('p1', 'p2'),
  CompactionId: fc.constantFrom('c1', 'c2'),
  AbsolutePath: fc.constantFrom('/home/u/proj/a.ts', '/etc/hosts'),
}

const BASE64 = fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('base64'))

/** Fields that the schema calls text and that hold base64. */
const isBase64 = (owner: string, field: string): boolean =>
  field === 'data' && ['TerminalOutput', 'TerminalOutputChunk'].includes(owner)

const variants: Schema[] = schema.$defs.SessionUpdate.anyOf.filter((variant: Schema) => {
  return variant.properties?.sessionUpdate?.const !== undefined
})

export const UPDATE_KINDS: string[] = variants.map((variant) => variant.properties.sessionUpdate.const)

export function updateArbitrary(kind: string): fc.Arbitrary<Record<string, unknown>> {
  const variant = variants.find((one) => one.properties.sessionUpdate.const === kind)
  return object(variant, kind, 0) as fc.Arbitrary<Record<string, unknown>>
}

function named(name: string, depth: number): fc.Arbitrary<unknown> {
  return IDS[name] ?? value(schema.$defs[name], name, depth)
}

function value(of: Schema, owner: string, depth: number): fc.Arbitrary<unknown> {
  if (of === true || of === undefined || Object.keys(of).length === 0) return fc.jsonValue({ maxDepth: 1 })
  if (of.$ref !== undefined) return named(of.$ref.replace('#/$defs/', ''), depth)
  if (of.const !== undefined) return fc.constant(of.const)
  if (of.enum !== undefined) return fc.constantFrom(...of.enum)
  const branches: Schema[] | undefined = of.oneOf ?? of.anyOf
  const isObject = of.properties !== undefined || branches?.some((branch) => branch.properties !== undefined)
  if (isObject) return object(of, owner, depth)
  if (branches !== undefined) return fc.oneof(...branches.map((branch) => value(branch, owner, depth)))
  if (of.allOf !== undefined) return value(of.allOf[0], owner, depth)
  return plain(of, owner, depth)
}

function plain(of: Schema, owner: string, depth: number): fc.Arbitrary<unknown> {
  const types: string[] = Array.isArray(of.type) ? of.type : [of.type]
  return fc.oneof(...types.map((type) => typed(type, of, owner, depth)))
}

function typed(type: string, of: Schema, owner: string, depth: number): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.nat({ max: of.format === 'uint16' ? 65_535 : 1_000_000 })
    case 'number':
      return fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000)
    case 'array':
      return fc.array(value(of.items, owner, depth + 1), { minLength: of.minItems ?? 0, maxLength: depth > 3 ? 1 : 3 })
    case 'object':
      return of.properties === undefined
        ? fc.dictionary(fc.constantFrom('k', 'traceparent'), fc.jsonValue({ maxDepth: 1 }), {
            maxKeys: 2,
            noNullPrototype: true,
          })
        : object(of, owner, depth)
    default:
      return textOf(of)
  }
}

function textOf(of: Schema): fc.Arbitrary<string> {
  if (of.pattern !== undefined) return fc.constant('USD')
  if (of.format === 'uri') return fc.constantFrom('file:///a.txt', 'https://example.com/b')
  if (of.format === 'date-time') return fc.constant('2026-10-26T14:30:00Z')
  return fc.string({ minLength: of.minLength ?? 0, maxLength: 6 })
}

/** An object of a schema and of all that it is made of; of a union, one branch. */
function object(of: Schema, owner: string, depth: number): fc.Arbitrary<unknown> {
  const branches: Schema[] = of.oneOf ?? of.anyOf ?? [{}]
  return fc.oneof(
    ...branches
      .filter((branch) => branch.not === undefined)
      .map((branch) => {
        if (branch.type === 'null') return fc.constant(null)
        const parts = [of, branch].flatMap((part) => [part, ...(part.allOf ?? []), ...(part.$ref ? [part] : [])])
        return fields(parts, owner, depth)
      }),
  )
}

function fields(parts: Schema[], owner: string, depth: number): fc.Arbitrary<unknown> {
  const inherited = parts.filter(({ $ref }) => $ref !== undefined).map(({ $ref }) => $ref.replace('#/$defs/', ''))
  const properties: Record<string, fc.Arbitrary<unknown>> = {}
  const required: string[] = []
  for (const { properties: own = {}, required: needed = [] } of parts) {
    for (const [name, of] of Object.entries(own)) {
      properties[name] = isBase64(owner, name) ? BASE64 : value(of, owner, depth + 1)
    }
    required.push(...needed)
  }
  const own = fc.record(properties, {
    requiredKeys: required.filter((name) => name in properties),
    noNullPrototype: true,
  })
  if (inherited.length === 0) return own
  const bases = inherited.map((name) => value(schema.$defs[name], name, depth))
  return fc.tuple(...bases, own).map((all) => Object.assign({}, ...all))
}
