/**
 * A record as it is at the time of a call, whatever its owner does to it later.
 */
import { ExactNumber, isExactNumber } from './exact.js'
import { NESTING_MAX } from './limits.js'

/** Values of more containers are not copied beyond these: they are too large for a record, or nearly. */
const CONTAINERS_MAX = 4 * 1024 * 1024

let left = 0

/** A copy of plain data; what is no JSON is kept as it is, for the check that refuses it. */
export function snapshot<T>(value: T): T {
  left = CONTAINERS_MAX
  try {
    return copy(value, 0) as T
  } catch {
    return value // a property that throws when read: the check will say so
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
  if (typeof value !== 'object' || value === null || depth > NESTING_MAX || --left < 0) return value
  if (Array.isArray(value)) {
    const array = new Array<unknown>(value.length)
    for (let i = 0; i < value.length; i++) array[i] = copy(value[i], depth + 1)
    return array
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    return isExactNumber(value) ? new ExactNumber(value.literal) : value
  }
  const object = prototype === null ? Object.assign(Object.create(null), value) : shallowCopy(value as object)
  for (const key of Object.keys(object)) {
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
