/**
 * Canonical text (RFC 8785, JCS) and the check that a value is JSON, in one walk (CORE-7, CORE-8).
 */
import { AsrError } from '../base/error.js'
import { NESTING_MAX, RECORD_BYTES_MAX } from '../base/limits.js'
import { isExactNumber } from './exact.js'

export interface Canonical {
  /** the RFC 8785 text; a lone surrogate as its `\udxxx` escape */
  text: string
  /** whether a binary codec may hold the value; otherwise only its JSON text gives it back unchanged */
  plain: boolean
}

/** The key order of objects that have the same keys in the same order. */
interface Shape {
  keys: string[]
  plain: boolean
  /** whether an object can hold the keys in canonical order */
  orderly: boolean
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

/** A walk gives a value up: for what it met, or because it is too deep. */
export class NotJson extends Error {
  constructor(readonly met?: Fault) {
    super('not JSON')
  }
}

const SOMEWHERE: Fault = { pointer: '', what: 'something that no JSON holds' }

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
    const ordered = order(value, 0)
    if (ordered === DISORDERLY) budget = RECORD_BYTES_MAX
    text = ordered === DISORDERLY ? write(value, 0) : JSON.stringify(ordered)
  } catch (error) {
    if (error instanceof AsrError) throw error
    if (error instanceof RangeError) throw tooLarge() // a text that no string holds
    throw refusalOf(value, error)
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

/** No value: an object in it has keys that no object holds in canonical order. */
const DISORDERLY = Symbol('disorderly')

/** The same value with the keys of its objects in canonical order, for `JSON.stringify`: one call for all is the fastest. */
function order(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) {
    checkScalar(value)
    return value
  }
  if (Array.isArray(value)) {
    enter(depth)
    const array = new Array<unknown>(value.length)
    for (let i = 0; i < value.length; i++) {
      const item = order(value[i], depth + 1)
      if (item === DISORDERLY) return DISORDERLY
      array[i] = item
    }
    return array
  }
  if (!isPlainObject(value)) return doubleOf(value)
  enter(depth)
  const shape = shapeIn(value)
  if (!shape.orderly) return DISORDERLY
  const object: Record<string, unknown> = {}
  for (const key of shape.keys) {
    const child = order((value as Record<string, unknown>)[key], depth + 1)
    if (child === DISORDERLY) return DISORDERLY
    object[key] = child
  }
  return object
}

function write(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) {
    checkScalar(value)
    return JSON.stringify(value)
  }
  if (Array.isArray(value)) {
    enter(depth)
    // `map` would leave out the holes, which are no JSON.
    return `[${Array.from(value, (item) => write(item, depth + 1)).join(',')}]`
  }
  if (!isPlainObject(value)) return JSON.stringify(doubleOf(value))
  enter(depth)
  const members = shapeIn(value).keys.map(
    (key) => `${JSON.stringify(key)}:${write((value as Record<string, unknown>)[key], depth + 1)}`,
  )
  return `{${members.join(',')}}`
}

function checkScalar(value: unknown): void {
  if (typeof value === 'string') {
    budget -= value.length
    if (budget < 0) throw tooLarge()
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new NotJson(SOMEWHERE)
    if (Object.is(value, -0)) plain = false
  } else if (typeof value !== 'boolean' && value !== null) {
    throw new NotJson(SOMEWHERE)
  }
}

function enter(depth: number): void {
  if (depth > NESTING_MAX) throw new NotJson()
  if (depth > PLAIN_DEPTH_MAX) plain = false
  budget -= 2
  if (budget < 0) throw tooLarge()
}

function shapeIn(object: object): Shape {
  const shape = shapeOf(Object.keys(object))
  if (!shape.plain) plain = false
  return shape
}

/** The number that is canonical for an exact one; only its JSON text gives that back. */
function doubleOf(object: object): number {
  if (!isExactNumber(object)) throw new NotJson(SOMEWHERE)
  const double = object.valueOf()
  checkScalar(double)
  budget -= object.literal.length // its digits are what is stored
  if (budget < 0) throw tooLarge()
  plain = false
  return double
}

/** Whether an object was made by a literal, in this realm or another, or has no prototype at all. */
export function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype === Object.prototype || prototype === null) return true
  // `Object.prototype` of another realm is told by what it holds.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf')
}

function isPlainObject(object: object): boolean {
  return isPlain(object) && Object.getOwnPropertySymbols(object).length === 0
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
    orderly: !sorted.some((key) => key === '__proto__' || isIndex(key)),
    plain:
      keys.length <= PLAIN_KEYS_MAX &&
      sorted.every((key) => key !== '__proto__' && key !== 'toJSON' && key.isWellFormed()),
  }
}

/** Keys that objects put first, by value: those of arrays. */
function isIndex(key: string): boolean {
  return /^(?:0|[1-9][0-9]{0,9})$/.test(key)
}

export function tooLarge(): AsrError {
  return new AsrError('ASR_TOO_LARGE', `a record's text is limited to ${RECORD_BYTES_MAX} bytes`)
}

/** What is wrong with a value that a walk gave up on, and where, as far as that can be found again. */
export function refusalOf(value: unknown, error: unknown): AsrError {
  const found = firstFault(value) ?? (error instanceof NotJson ? error.met : throwing(error))
  if (found === undefined) return new AsrError('ASR_TOO_DEEP', `nesting is limited to ${NESTING_MAX} levels`)
  return new AsrError('ASR_BAD_VALUE', `not JSON at "${found.pointer}": ${found.what}`, { cause: found.cause })
}

/** The fault of an object that threw when it was read. */
function throwing(cause: unknown, pointer = ''): Fault {
  return { pointer, what: 'an object that throws when read', cause }
}

/** What is no JSON in a value, and where. */
interface Fault {
  pointer: string
  what: string
  cause?: unknown
}

/** A proxy can go on for ever, and a list be of holes: so many objects, and items of each, are looked at. */
const LOOKED_INTO_MAX = 100_000

/** The first thing in a value that is not JSON, nesting apart; each object is looked into once. */
function firstFault(root: unknown): Fault | undefined {
  const seen = new Set<object>()
  const around = new Set<object>()
  const stack: { value: unknown; pointer: string; leave?: true }[] = [{ value: root, pointer: '' }]
  for (let item = stack.pop(); item !== undefined && seen.size < LOOKED_INTO_MAX; item = stack.pop()) {
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
        if (isExactNumber(value)) {
          if (Number.isFinite(value.valueOf())) continue
          return { pointer, what: `the number ${value.literal}` }
        }
        if (!Array.isArray(value) && !isPlainObject(value)) return { pointer, what: 'an object that is not plain data' }
        const children = entriesOf(value).reverse()
        for (const [key, child] of children) stack.push({ value: child, pointer: `${pointer}/${pointerStep(key)}` })
      } catch (cause) {
        return throwing(cause, pointer)
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

/** The first keys and values; of an array the holes too. */
function entriesOf(value: object): [string | number, unknown][] {
  if (!Array.isArray(value)) return Object.entries(value).slice(0, LOOKED_INTO_MAX)
  return [...value.slice(0, LOOKED_INTO_MAX).entries()]
}

/** A step of a JSON pointer (RFC 6901). */
function pointerStep(key: string | number): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1')
}
