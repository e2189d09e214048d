/**
 * Reading JSON that came from elsewhere: a field of the wrong kind counts as left out.
 */
import { isExactNumber, numberOf } from '../record/exact.js'

export interface JsonObject {
  readonly [key: string]: unknown
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value)
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function objectOf(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

/** The objects of a list that name their `type`; undefined when it is no list. */
export function typedItems(value: unknown): JsonObject[] | undefined {
  if (!Array.isArray(value)) return undefined
  return value.filter((item): item is JsonObject => isObject(item) && typeof item.type === 'string')
}

/** Whether an object has keys beyond those named. */
export function hasOther(object: JsonObject, keys: readonly string[]): boolean {
  return Object.keys(object).some((key) => !keys.includes(key))
}

/** An object with the named fields that hold a value. */
export function picked(object: JsonObject, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.filter((key) => (object[key] ?? null) !== null).map((key) => [key, object[key]]))
}

/** Equality of JSON values; the order of keys does not count, and a key without a value counts as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]))
  }
  if (!isObject(a) || !isObject(b)) return isSameNumber(a, b)
  const keys = definedKeys(a)
  return keys.length === definedKeys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
}

/** Read from the store, a number has lost its digits: then the double counts. */
function isSameNumber(a: unknown, b: unknown): boolean {
  const double = numberOf(a)
  if (double === undefined || !Object.is(double, numberOf(b))) return false
  return !isExactNumber(a) || !isExactNumber(b) || a.literal === b.literal
}

function definedKeys(object: JsonObject): string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined)
}
