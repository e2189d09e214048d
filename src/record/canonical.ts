/**
 * Canonical text (RFC 8785, JCS) and the check that a value is JSON, in one walk (CORE-7, CORE-8).
 */
import { AsrError } from './error.js'
import { NESTING_MAX, RECORD_BYTES_MAX } from './limits.js'

export interface Canonical {
  /** the RFC 8785 text; a lone surrogate as its `\udxxx` escape */
  text: string
  /** whether a binary codec may hold the value; otherwise only its JSON text gives it back unchanged */
  plain: boolean
}

/** The key order of objects that have the same keys in the same order. */
interface Shape {
  keys: string[]
  /** what stands before each value: the brace or comma, and the quoted key */
  lead: string[]
  plain: boolean
}

interface ShapeNode {
  next: Map<string, ShapeNode>
  shape?: Shape
}

const SHAPE_KEYS_MAX = 64
const SHAPE_NODES_MAX = 20_000
/** Objects of more keys are maps, not shapes, and a binary codec gains nothing on them. */
const PLAIN_KEYS_MAX = 1_024
const PLAIN_DEPTH_MAX = 100

let shapes: ShapeNode = { next: new Map() }
let shapeNodes = 0

class NotJson extends Error {}

let plain = true
let budget = 0

/**
 * The canonical text of a JSON value.
 * @throws ASR_BAD_VALUE (not JSON, with the place as a JSON pointer), ASR_TOO_DEEP, ASR_TOO_LARGE
 */
export function canonicalize(value: unknown): Canonical {
  plain = true
  budget = RECORD_BYTES_MAX
  let text: string
  try {
    text = write(value, 0)
  } catch (error) {
    if (error instanceof AsrError) throw error
    throw notJson(value, error)
  }
  if (text.length > RECORD_BYTES_MAX) throw tooLarge()
  // A lone surrogate shows as an escape; an escaped backslash before `ud` only costs the binary form.
  if (plain && text.includes('\\ud')) plain = false
  return { text, plain }
}

/** RFC 8785 text of a JSON value (CORE-8). */
export function canonicalText(value: unknown): string {
  return canonicalize(value).text
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      budget -= value.length
      if (budget < 0) throw tooLarge()
      return JSON.stringify(value)
    case 'number':
      if (value === 0) {
        if (Object.is(value, -0)) plain = false
        return '0'
      }
      if (!Number.isFinite(value)) throw new NotJson()
      return `${value}`
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (depth > NESTING_MAX) throw new NotJson()
      if (depth > PLAIN_DEPTH_MAX) plain = false
      budget -= 2
      if (budget < 0) throw tooLarge()
      return Array.isArray(value) ? writeArray(value, depth) : writeObject(value as Record<string, unknown>, depth)
    default:
      throw new NotJson()
  }
}

function writeArray(array: unknown[], depth: number): string {
  if (array.length === 0) return '[]'
  let text = '['
  for (let i = 0; i < array.length; i++) {
    if (i > 0) text += ','
    text += write(array[i], depth + 1)
  }
  return `${text}]`
}

function writeObject(object: Record<string, unknown>, depth: number): string {
  if (!isPlainObject(object)) throw new NotJson()
  const keys = Object.keys(object)
  if (keys.length === 0) return '{}'
  const shape = shapeOf(keys)
  if (!shape.plain) plain = false
  let text = ''
  for (let i = 0; i < shape.keys.length; i++) {
    text += shape.lead[i] + write(object[shape.keys[i]], depth + 1)
  }
  return `${text}}`
}

function isPlainObject(object: object): boolean {
  const prototype = Object.getPrototypeOf(object)
  const ordinary = prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
  return ordinary && Object.getOwnPropertySymbols(object).length === 0
}

function shapeOf(keys: string[]): Shape {
  if (keys.length > SHAPE_KEYS_MAX) return makeShape(keys)
  let node = shapes
  for (const key of keys) {
    let next = node.next.get(key)
    if (next === undefined) {
      next = { next: new Map() }
      node.next.set(key, next)
      shapeNodes++
    }
    node = next
  }
  node.shape ??= makeShape(keys)
  if (shapeNodes > SHAPE_NODES_MAX) {
    shapes = { next: new Map() }
    shapeNodes = 0
  }
  return node.shape
}

function makeShape(keys: string[]): Shape {
  const sorted = [...keys].sort() // by UTF-16 code units, as RFC 8785 demands
  const size = sorted.reduce((sum, key) => sum + key.length, 0)
  if (size > RECORD_BYTES_MAX) throw tooLarge()
  return {
    keys: sorted,
    lead: sorted.map((key, i) => `${i === 0 ? '{' : ','}${JSON.stringify(key)}:`),
    plain:
      keys.length <= PLAIN_KEYS_MAX &&
      sorted.every((key) => key !== '__proto__' && key !== 'toJSON' && key.isWellFormed()),
  }
}

function tooLarge(): AsrError {
  return new AsrError('ASR_TOO_LARGE', `a record's text is limited to ${RECORD_BYTES_MAX} bytes`)
}

/** What is wrong with a value that the walk gave up on, and where. */
function notJson(value: unknown, cause: unknown): AsrError {
  const found = firstFault(value)
  if (found !== undefined) {
    return new AsrError('ASR_BAD_VALUE', `not JSON at "${found.pointer}": ${found.what}`, { cause: found.cause })
  }
  if (cause instanceof RangeError) return tooLarge()
  return new AsrError('ASR_TOO_DEEP', `nesting is limited to ${NESTING_MAX} levels`)
}

interface Fault {
  pointer: string
  what: string
  cause?: unknown
}

/** The first thing in a value that is not JSON, nesting apart; each object is looked into once. */
function firstFault(root: unknown): Fault | undefined {
  const seen = new Set<object>()
  const around = new Set<object>()
  const stack: { value: unknown; pointer: string; leave?: true }[] = [{ value: root, pointer: '' }]
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { value, pointer, leave } = item
    if (typeof value !== 'object' || value === null) {
      const what = scalarFault(value)
      if (what !== undefined) return { pointer, what }
    } else if (leave) {
      around.delete(value)
    } else if (around.has(value)) {
      return { pointer, what: 'a value that holds itself' }
    } else if (!seen.has(value)) {
      seen.add(value)
      around.add(value)
      stack.push({ value, pointer, leave: true })
      try {
        if (!Array.isArray(value) && !isPlainObject(value)) return { pointer, what: 'an object that is not plain data' }
        const children = entriesOf(value).reverse()
        for (const [key, child] of children) stack.push({ value: child, pointer: `${pointer}/${pointerStep(key)}` })
      } catch (cause) {
        return { pointer, what: 'an object that throws when read', cause }
      }
    }
  }
  return undefined
}

function scalarFault(value: unknown): string | undefined {
  if (value === undefined) return 'undefined'
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `the number ${value}`
  return value === null || typeof value === 'string' || typeof value === 'boolean' ? undefined : `a ${typeof value}`
}

/** Keys and values; of an array the holes too. */
function entriesOf(value: object): [string | number, unknown][] {
  return Array.isArray(value) ? [...value.entries()] : Object.entries(value)
}

/** A step of a JSON pointer (RFC 6901). */
function pointerStep(key: string | number): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1')
}

/** JSON text that gives a value back exactly, `-0` included, which `JSON.stringify` would write as 0. */
export function exactJson(value: unknown): string {
  if (Object.is(value, -0)) return '-0'
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`
  const object = value as Record<string, unknown>
  return `{${Object.keys(object)
    .map((key) => `${JSON.stringify(key)}:${exactJson(object[key])}`)
    .join(',')}}`
}
