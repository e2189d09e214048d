/**
 * Parts of ASR content as ACP content blocks. A block that a client would not take is left out; a field of it that is
 * optional and of a wrong kind counts as omitted, as the protocol has it.
 */
import { isObject, type JsonObject, textOf } from '../json.js'
import { REPLAY_LOSS } from '../losses.js'
import type { LossReport } from './loss-report.js'

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isUri: Check = (value) => typeof value === 'string' && URL.canParse(value)
const isTextOrNull: Check = (value) => value === null || typeof value === 'string'
const isObjectOrNull: Check = (value) => value === null || isObject(value)
const isDateTime: Check = (value) =>
  value === null || (isText(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value as string))

const ANNOTATIONS: Record<string, Check> = {
  audience: (value) => value === null || (Array.isArray(value) && value.every(isText)),
  lastModified: isDateTime,
  priority: (value) => value === null || (typeof value === 'number' && value >= 0 && value <= 1),
  _meta: isObjectOrNull,
}
const ICON: Record<string, Check> = {
  src: isUri,
  mimeType: isTextOrNull,
  sizes: (value) => value === null || (Array.isArray(value) && value.every(isText)),
  theme: isTextOrNull,
}
const EVERY: Record<string, Check> = {
  annotations: (value) => value === null || fits(value, ANNOTATIONS, []),
  _meta: isObjectOrNull,
}
const RESOURCE: Record<string, Check> = { uri: isUri, mimeType: isTextOrNull, _meta: isObjectOrNull }

interface BlockShape {
  required: readonly string[]
  fields: Record<string, Check>
}

/** The blocks of MCP, which ACP has too. */
const SHAPES: ReadonlyMap<unknown, BlockShape> = new Map<string, BlockShape>([
  ['text', { required: ['text'], fields: { text: isText, ...EVERY } }],
  [
    'image',
    {
      required: ['data', 'mimeType'],
      fields: { data: isText, mimeType: isText, uri: (value) => value === null || isUri(value), ...EVERY },
    },
  ],
  ['audio', { required: ['data', 'mimeType'], fields: { data: isText, mimeType: isText, ...EVERY } }],
  [
    'resource_link',
    {
      required: ['name', 'uri'],
      fields: {
        name: isText,
        uri: isUri,
        title: isTextOrNull,
        description: isTextOrNull,
        icons: (value) => value === null || (Array.isArray(value) && value.every((icon) => fits(icon, ICON, ['src']))),
        mimeType: isTextOrNull,
        size: (value) => value === null || Number.isSafeInteger(value),
        ...EVERY,
      },
    },
  ],
  ['resource', { required: ['resource'], fields: { resource: isResource, ...EVERY } }],
])

/** The block that a part of content is, as it is sent; undefined when it is none. A vendor's goes as it is. */
export function blockOf(part: unknown): JsonObject | undefined {
  if (isPlainText(part)) return part as JsonObject
  if (!isObject(part) || typeof part.type !== 'string') return undefined
  if (part.type.startsWith('_')) return part
  if (part.type === 'refusal') return refusalBlock(part)
  const shape = SHAPES.get(part.type)
  if (shape === undefined || !shape.required.every((field) => shape.fields[field](part[field]))) return undefined
  return sound(part, shape.fields)
}

/** What content is made of: a list of parts, or one text. */
export function partsOf(content: unknown): readonly unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : []
}

/** The blocks of a record's content; parts that are none are lost. */
export function blocksIn(content: unknown, recordId: string, losses: LossReport): JsonObject[] {
  const parts = partsOf(content)
  if (parts.every(isPlainText)) return parts as JsonObject[]
  const blocks: JsonObject[] = []
  for (const part of parts) {
    const block = blockOf(part)
    if (block !== undefined) blocks.push(block)
  }
  if (blocks.length < parts.length) losses.add(REPLAY_LOSS.content, recordId, parts.length - blocks.length)
  return blocks
}

/** A refusal is sent as text (ASR-727). */
function refusalBlock({ refusal, text }: JsonObject): JsonObject | undefined {
  const words = textOf(refusal) ?? textOf(text)
  return words === undefined ? undefined : { type: 'text', text: words }
}

/** A text block and nothing more: most are. */
function isPlainText(part: unknown): boolean {
  if (!isObject(part) || part.type !== 'text' || typeof part.text !== 'string') return false
  let keys = 0
  for (const _ in part) keys++
  return keys === 2
}

/** The block without optional fields that are of a wrong kind. */
function sound(part: JsonObject, fields: Record<string, Check>): JsonObject {
  const isBad = (field: string): boolean => Object.hasOwn(fields, field) && !fields[field](part[field])
  const keys = Object.keys(part)
  if (!keys.some(isBad)) return part
  return Object.fromEntries(keys.filter((key) => !isBad(key)).map((key) => [key, part[key]]))
}

function isResource(value: unknown): boolean {
  return isObject(value) && fits(value, RESOURCE, ['uri']) && (isText(value.text) || isText(value.blob))
}

function fits(value: unknown, fields: Record<string, Check>, required: readonly string[]): boolean {
  if (!isObject(value)) return false
  if (!required.every((field) => Object.hasOwn(value, field))) return false
  return Object.keys(value).every((key) => !Object.hasOwn(fields, key) || fields[key](value[key]))
}
