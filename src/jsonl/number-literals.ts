/**
 * Whether JSON's number literals survive `JSON.parse`, which takes the nearest double (CORE-7).
 */
import { pointerAt, stringEnd } from '../record/json-text.js'

const QUOTE = 0x22
const PLUS = 0x2b
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
/** E and e, told apart by one bit. */
const LOWER_E = 0x65
const CASE_BIT = 0x20

/** Any decimal of so few digits is given back by its double, and without an exponent none leaves the range where that holds. */
const SAFE_CHARACTERS = 15

export type NumberFidelity = 'exact' | 'rounded' | 'infinite'

/**
 * Of a sound JSON text: `infinite` when a literal lies beyond the doubles, else `rounded` when some literal is another
 * number than the shortest decimal of its double, and no whole number that the double holds exactly; else `exact`.
 */
export function numberFidelity(text: string): NumberFidelity {
  let found: NumberFidelity = 'exact'
  for (let at = nextLiteral(text, 0); at < text.length; ) {
    const end = literalEnd(text, at)
    const fidelity = literalFidelity(text.slice(at, end))
    if (fidelity === 'infinite') return fidelity
    if (fidelity === 'rounded') found = fidelity
    at = nextLiteral(text, end)
  }
  return found
}

/** Of a sound JSON text with rounded literals: says which, where, and what they are read as; of many the first. */
export function sayRounded(text: string): string {
  const [first, ...others] = literalsOf(text, 'rounded')
  const said = `${placed(text, first)} is read as ${Number(first.literal)}`
  return others.length === 0 ? said : `${said}, and ${others.length} more of the line are not what a double can hold`
}

/** Of a sound JSON text with a literal beyond the doubles: says which, and where; of many the first. */
export function sayInfinite(text: string): string {
  const [first] = literalsOf(text, 'infinite')
  return `${placed(text, first)} is beyond what a double can hold`
}

interface Literal {
  literal: string
  at: number
}

function literalsOf(text: string, wanted: NumberFidelity): Literal[] {
  const found: Literal[] = []
  for (let at = nextLiteral(text, 0); at < text.length; ) {
    const end = literalEnd(text, at)
    const literal = text.slice(at, end)
    if (literalFidelity(literal) === wanted) found.push({ literal, at })
    at = nextLiteral(text, end)
  }
  return found
}

function placed(text: string, { literal, at }: Literal): string {
  return `the number ${cut(literal)} at ${JSON.stringify(cut(pointerAt(text, at)))}`
}

/** What is longer says no more to a reader. */
const SHOWN_CHARACTERS = 60

function cut(text: string): string {
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`
}

/** Where the next literal begins, at a place outside strings or behind it; the text's length when there is none. */
function nextLiteral(text: string, from: number): number {
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === MINUS || isDigit(code)) return at
    at = code === QUOTE ? stringEnd(text, at) + 1 : at + 1
  }
  return text.length
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

function literalEnd(text: string, start: number): number {
  let end = start + 1
  while (end < text.length) {
    const code = text.charCodeAt(end)
    if (!isDigit(code) && code !== POINT && code !== PLUS && code !== MINUS && (code | CASE_BIT) !== LOWER_E) break
    end++
  }
  return end
}

function literalFidelity(literal: string): NumberFidelity {
  const exponentAt = literal.search(/e/i)
  if (exponentAt === -1 && literal.length <= SAFE_CHARACTERS) return 'exact'
  const value = Number(literal)
  if (!Number.isFinite(value)) return 'infinite'
  if (/^-?[0-9]+$/.test(literal) && Number.isInteger(value) && BigInt(literal) === BigInt(value)) return 'exact'
  // A double so near that it has the same digits has them at the same place.
  return significantDigits(literal) === significantDigits(String(value)) ? 'exact' : 'rounded'
}

/** Without sign, point, exponent, and zeros at either end. */
function significantDigits(literal: string): string {
  const digits = literal.split(/e/i)[0].replace(/[-.]/g, '')
  let first = 0
  while (digits[first] === '0') first++
  let end = digits.length
  while (end > first && digits[end - 1] === '0') end--
  return digits.slice(first, end)
}
