/**
 * A record as it is at the time of a call, whatever its owner does to it later.
 */

import { AsrError } from '../base/error.js'
import { NESTING_MAX, RECORD_BYTES_MAX } from '../base/limits.js'
import { isPlain, NotJson, refusalOf, tooLarge } from './canonical.js'
import { ExactNumber, isExactNumber } from './exact.js'

const NOT_PLAIN = { pointer: '', what: 'an object that is not plain data' }

/** What is left of the bytes that a record's text may have, of the fewest that its structure takes. */
let left = 0

/**
 * A copy of plain data, of any realm, that shares nothing with it that can change. Each property is read once, getters
 * and proxies too. Scalars are taken as they are; those that are no JSON are for the check of the copy to refuse.
 * @throws ASR_BAD_VALUE (an object that is not plain data, or that throws when read), ASR_TOO_DEEP, ASR_TOO_LARGE
 */
export function snapshot<T>(value: T): T {
  const around = left // a getter that is read may make copies of its own
  left = RECORD_BYTES_MAX
  try {
    return copy(value, 0) as T
  } catch (error) {
    throw left < 0 ? tooLarge() : refusalOf(value, error)
  } finally {
    left = around
  }
}

/**
 * A copy of each record of a call, or of the one it is given. In place of one that can't be copied stands why, to be told
 * when its turn comes; behind that, or behind what is no object, nothing is looked at.
 */
export function snapshots<T>(given: T | readonly T[]): (T | AsrError)[] {
  if (!isList(given)) return [copyOrError(given)]
  const copies: (T | AsrError)[] = []
  try {
    for (let i = 0; i < given.length; i++) {
      const copied = copyOrError(given[i])
      copies.push(copied)
      if (typeof copied !== 'object' || copied === null || copied instanceof AsrError) break
    }
  } catch (error) {
    copies.push(refusalOf(given, error)) // the list itself throws when it is read
  }
  return copies
}

function copyOrError<T>(value: T): T | AsrError {
  try {
    return snapshot(value)
  } catch (error) {
    return error as AsrError
  }
}

/** Not even that can be asked of a proxy that was revoked; as a record it is refused. */
function isList<T>(given: T | readonly T[]): given is readonly T[] {
  try {
    return Array.isArray(given)
  } catch {
    return false
  }
}

/**
 * An object of the same properties. V8 gives each spread that is added to a hidden class of its own, and what reads many
 * of them is slow for good; what `assign` makes shares one.
 */
export function shallowCopy<T extends object>(object: T): T {
  return Object.hasOwn(object, '__proto__') ? { ...object } : Object.assign({}, object)
}

function copy(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > NESTING_MAX) throw new NotJson()
  return Array.isArray(value) ? copyOfArray(value, depth) : copyOfObject(value, depth)
}

function copyOfArray(value: readonly unknown[], depth: number): unknown[] {
  const { length } = value
  take(1 + 2 * length) // `[0,0]`
  const array = new Array<unknown>(length)
  for (let i = 0; i < length; i++) {
    const item = value[i]
    if (item === undefined) throw new NotJson({ pointer: '', what: 'undefined' }) // before all holes of a large array are looked at
    array[i] = copy(item, depth + 1)
  }
  return array
}

function copyOfObject(value: object, depth: number): object {
  if (!isPlain(value)) return copyOfNumber(value)
  const object = shallowCopy(value) as { [key: string]: unknown }
  // So of a proxy that hid a `__proto__` of its own.
  if (Object.getPrototypeOf(object) !== Object.prototype) throw new NotJson(NOT_PLAIN)
  const keys = Object.keys(object)
  take(1 + 5 * keys.length) // `{"":0,"":0}`
  for (const key of keys) {
    const child = object[key]
    if (typeof child !== 'object' || child === null) continue
    const taken = copy(child, depth + 1)
    // Set as a property of its own: assigning to `__proto__` would do something else.
    if (key === '__proto__')
      Object.defineProperty(object, key, { value: taken, enumerable: true, writable: true, configurable: true })
    else object[key] = taken
  }
  return object
}

function copyOfNumber(value: object): ExactNumber {
  if (!isExactNumber(value)) throw new NotJson(NOT_PLAIN)
  return new ExactNumber(value.literal)
}

/** Counts what a container's text takes at least, the first byte of each item for the item itself. */
function take(bytes: number): void {
  left -= bytes
  if (!(left >= 0)) throw new NotJson({ pointer: '', what: 'a list without a length' })
}
