/**
 * Whether JSON's number literals survive `JSON.parse`, which takes the nearest double (CORE-7).
 */
import { stringEnd } from '../record/json-text.js'

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
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = stringEnd(text, at) + 1
    } else if (code === MINUS || isDigit(code)) {
      const end = literalEnd(text, at)
      const fidelity = literalFidelity(text.slice(at, end))
      if (fidelity === 'infinite') return fidelity
      if (fidelity === 'rounded') found = fidelity
      at = end
    } else {
      at++
    }
  }
  return found
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
