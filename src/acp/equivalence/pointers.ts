/**
 * Where two JSON values differ, as JSON pointers (RFC 6901).
 */
import { isObject, sameJson } from '../json.js'

export interface Place {
  pointer: string
  /** absent: nothing stands there */
  a?: unknown
  b?: unknown
}

/** The innermost places where the values differ; a list that is longer than the other differs at its further items. */
export function* differingPlaces(a: unknown, b: unknown, pointer = ''): Generator<Place> {
  const keys = commonKeys(a, b)
  if (keys === undefined) {
    if (!sameJson(a, b)) yield { pointer, ...(a !== undefined && { a }), ...(b !== undefined && { b }) }
    return
  }
  for (const key of keys) yield* differingPlaces(own(a, key), own(b, key), `${pointer}/${escaped(key)}`)
}

/** The keys of both when they are two objects or two lists, else undefined. */
function commonKeys(a: unknown, b: unknown): Iterable<string> | undefined {
  const alike = (Array.isArray(a) && Array.isArray(b)) || (isObject(a) && isObject(b))
  return alike ? new Set([...Object.keys(a as object), ...Object.keys(b as object)]) : undefined
}

function own(value: unknown, key: string): unknown {
  return Object.hasOwn(value as object, key) ? (value as Record<string, unknown>)[key] : undefined
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
