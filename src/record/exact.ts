/**
 * Numbers of JSON in their own digits (CORE-7). `JSON.parse` gives the nearest double, and `JSON.stringify` that double's
 * shortest digits: 9007199254740993 becomes 9007199254740992, `1.0` becomes 1, `-0` becomes 0. What is to come out as it
 * went in, but for something that is changed or taken from it, is read by `parseExact` and written by `exactJson`.
 */
import { stringEnd } from './json-text.js'

/** Also for instances of another copy of this package. */
const BRAND = Symbol.for('asr-store.exact-number')

/** Whether `JSON.stringify` came upon an exact number. */
let wasMet = false

/** A number as it was written. Records that are appended may hold such numbers; reads give the double. */
export class ExactNumber {
  readonly [BRAND] = true

  /** @throws TypeError when it is no number of JSON */
  constructor(
    /** its digits, as JSON has them */
    readonly literal: string,
  ) {
    if (!isNumberLiteral(literal)) throw new TypeError(`not a number of JSON: ${String(literal).slice(0, 40)}`)
    Object.freeze(this)
  }

  /** The nearest double. */
  valueOf(): number {
    return Number(this.literal)
  }

  toJSON(): number {
    wasMet = true
    return Number(this.literal)
  }

  toString(): string {
    return this.literal
  }
}

export function isExactNumber(value: unknown): value is ExactNumber {
  return (
    typeof value === 'object' && value !== null && BRAND in value && isNumberLiteral((value as ExactNumber).literal)
  )
}

function isNumberLiteral(literal: unknown): literal is string {
  return typeof literal === 'string' && /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(literal)
}

/** A number, whichever way it is held; undefined for what is none. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return isExactNumber(value) ? value.valueOf() : undefined
}

/** JSON text that gives a value back exactly: `-0`, which `JSON.stringify` would write as 0, and exact numbers in their digits. */
export function exactJson(value: unknown): string {
  wasMet = false
  const text = JSON.stringify(value)
  return wasMet || ZERO_TEXT.test(text) ? written(value) : text
}

/** In the text of `-0` there is one, too. */
const ZERO_TEXT = /(?:^|[:,[])0(?:$|[,}\]])/

function written(value: unknown): string {
  if (Object.is(value, -0)) return '-0'
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`
  if (isExactNumber(value)) return value.literal
  const object = value as Record<string, unknown>
  return `{${Object.keys(object)
    .map((key) => `${JSON.stringify(key)}:${written(object[key])}`)
    .join(',')}}`
}

/** Whether a sound JSON text has a number that `JSON.parse` and `JSON.stringify` would not give back. */
export function hasExactNumbers(text: string): boolean {
  if (!SUSPECT.test(text)) return false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = stringEnd(text, at)
    else if (startsNumber(code)) {
      const literal = literalAt(text, at)
      if (!isGivenBack(literal)) return true
      at += literal.length - 1
    }
  }
  return false
}

/**
 * The value of a JSON text; a number that would not be given back in its digits is an `ExactNumber`, every other value what
 * `JSON.parse` makes of it. @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return hasExactNumbers(text) ? new Reader(text).value() : value
}

const QUOTE = 0x22
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39

/** No number that looks otherwise is changed: a text is looked through only when it has such, in a string maybe. */
const SUSPECT = /(?:^|[:,[\s])(?:-0|-?[0-9]+[.eE]|-?[0-9]{16})/

const LITERAL = /[-+.0-9eE]+/y

function startsNumber(code: number): boolean {
  return code === MINUS || (code >= ZERO && code <= NINE)
}

function literalAt(text: string, at: number): string {
  LITERAL.lastIndex = at
  return LITERAL.exec(text)?.[0] as string
}

function isGivenBack(literal: string): boolean {
  return JSON.stringify(Number(literal)) === literal
}

/** Reads a text that is known to be sound, whatever its depth. */
class Reader {
  private at = 0
  private readonly outermost: unknown[] = []
  /** the containers around the place, each with the key that waits for its value */
  private readonly around: { container: unknown[] | Record<string, unknown>; key?: string }[] = [
    { container: this.outermost },
  ]

  constructor(private readonly text: string) {}

  value(): unknown {
    const { text } = this
    for (; this.at < text.length; this.at++) this.step(text[this.at])
    return this.outermost[0]
  }

  private step(character: string): void {
    const { text, at } = this
    if (character === '"') {
      this.at = stringEnd(text, at)
      this.string(JSON.parse(text.slice(at, this.at + 1)))
    } else if (character === '{') this.open({})
    else if (character === '[') this.open([])
    else if (character === '}' || character === ']') this.around.pop()
    else if (startsNumber(character.charCodeAt(0))) {
      const literal = literalAt(text, at)
      this.at += literal.length - 1
      this.put(isGivenBack(literal) ? Number(literal) : new ExactNumber(literal))
    } else if (character === 't') this.word('true', true)
    else if (character === 'f') this.word('false', false)
    else if (character === 'n') this.word('null', null)
  }

  private string(text: string): void {
    const inner = this.around[this.around.length - 1]
    if (Array.isArray(inner.container) || inner.key !== undefined) this.put(text)
    else inner.key = text
  }

  private word(word: string, value: unknown): void {
    this.at += word.length - 1
    this.put(value)
  }

  private open(container: unknown[] | Record<string, unknown>): void {
    this.put(container)
    this.around.push({ container })
  }

  /** Of a key that comes twice the last value counts, as in `JSON.parse`. */
  private put(value: unknown): void {
    const inner = this.around[this.around.length - 1]
    const { container, key } = inner
    if (Array.isArray(container)) container.push(value)
    else
      Object.defineProperty(container, key as string, { value, enumerable: true, writable: true, configurable: true })
    inner.key = undefined
  }
}
