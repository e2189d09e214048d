/**
 * Arguments and options of public calls. One of the wrong kind is a TypeError before anything is done: a call that no
 * caller should make. Options are read once, at the call, so that what their owner does to them later changes nothing.
 */
export interface Kind {
  /** what a value has to be, for the message */
  what: string
  holds(value: unknown): boolean
}

export const object: Kind = {
  what: 'an object',
  holds: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}
export const text: Kind = { what: 'a string', holds: (value) => typeof value === 'string' }
export const flag: Kind = { what: 'true or false', holds: (value) => typeof value === 'boolean' }
export const callback: Kind = { what: 'a function', holds: (value) => typeof value === 'function' }
export const texts: Kind = {
  what: 'a list of strings',
  holds: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
}
/** How many records there are, or the position of the last. */
export const count: Kind = {
  what: 'a whole number from 0',
  holds: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
}
/** An end of a range of positions: what lies beyond the stream stands for the stream's own end. */
export const bound: Kind = {
  what: 'a whole number',
  holds: (value) => Number.isInteger(value) || Math.abs(value as number) === Number.POSITIVE_INFINITY,
}
export const abortSignal: Kind = {
  what: 'an AbortSignal',
  holds: (value) => {
    const { aborted, addEventListener } = value as Partial<AbortSignal>
    return typeof aborted === 'boolean' && typeof addEventListener === 'function'
  },
}
export const durability: Kind = {
  what: "'process' or 'disk'",
  holds: (value) => value === 'process' || value === 'disk',
}
/** A folder, or a log or a place of logs, and an index. */
export const place: Kind = {
  what: 'a path, or a log or a place with an index',
  holds: (value) => {
    const has = (part: string): boolean => object.holds(Reflect.get(value as object, part))
    return typeof value === 'string' || (has('index') && (has('log') || has('place')))
  },
}
/** What a file is read from; bytes alone would be an iterable of numbers. */
export const chunks: Kind = {
  what: 'an iterable of strings or bytes',
  holds: (value) => {
    const { [Symbol.iterator]: sync, [Symbol.asyncIterator]: async } = value as Partial<
      Iterable<unknown> & AsyncIterable<unknown>
    >
    return !ArrayBuffer.isView(value) && [sync, async].some((method) => typeof method === 'function')
  },
}
/** Data from elsewhere, which the call judges itself, and refuses with a code. */
export const data: Kind = { what: 'data', holds: () => true }

/** An argument as it is. @throws TypeError when it is of another kind */
export function argument<T>(call: string, name: string, value: T, kind: Kind): T {
  if (!holds(kind, value)) throw new TypeError(`${call}: \`${name}\` has to be ${kind.what}, not ${nameOf(value)}`)
  return value
}

/** What options of a call are of which kind. */
export type Kinds<T> = { readonly [name in keyof T]-?: Kind }

/**
 * What takes the options of a call: a copy of those that it knows.
 * @throws TypeError when one is of the wrong kind, or can't be read
 */
export function optionsFor<T extends object>(call: string, kinds: Kinds<T>): (given: T | undefined) => Partial<T> {
  const entries = Object.entries<Kind>(kinds)
  return (given) => {
    const taken: { [name: string]: unknown } = {}
    if (given === undefined) return taken as Partial<T>
    argument(call, 'options', given, object)
    for (const [name, kind] of entries) {
      const value = optionOf(call, given as { [name: string]: unknown }, name)
      if (value !== undefined) taken[name] = argument(call, name, value, kind)
    }
    return taken as Partial<T>
  }
}

function optionOf(call: string, given: { [name: string]: unknown }, name: string): unknown {
  try {
    return given[name]
  } catch (cause) {
    throw new TypeError(`${call}: \`${name}\` throws when it is read`, { cause })
  }
}

/** A value that can't even be looked at, such as a revoked proxy, is of no kind. */
function holds(kind: Kind, value: unknown): boolean {
  try {
    return kind.holds(value)
  } catch {
    return false
  }
}

/** A value by its kind, or the number that it is, for a message. */
export function nameOf(value: unknown): string {
  if (value === null || typeof value === 'number' || value === undefined) return String(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  try {
    if (!Array.isArray(value)) return 'an object'
  } catch {
    return 'a revoked proxy'
  }
  return holds(texts, value) ? 'a list' : 'a list of other things'
}
