/**
 * JSON for the model, written from the rules and from RFC 8785, without a look at the engine: canonical text, plain text
 * that keeps the sign of zero, and what a parsed line has to say about its numbers.
 */
export type Json = null | boolean | number | string | Json[] | Rec
export type Rec = { [key: string]: Json }

export function isObject(value: unknown): value is Rec {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Own keys only: `constructor` or `__proto__` of a prototype is no field of a record. */
export function has(record: Rec, key: string): boolean {
  return Object.hasOwn(record, key)
}

export function field(record: Rec, key: string): Json | undefined {
  return has(record, key) ? record[key] : undefined
}

export function text(record: Rec, key: string): string | undefined {
  const value = field(record, key)
  return typeof value === 'string' ? value : undefined
}

/** CORE-8: RFC 8785, and a lone surrogate as its escape, which is what `JSON.stringify` makes of it. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const keys = Object.keys(value).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`
}

/** CORE-7: the value in its own key order; -0 is written as such. */
export function plain(value: Json): string {
  if (Object.is(value, -0)) return '-0'
  if (Array.isArray(value)) return `[${value.map(plain).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  return `{${Object.keys(value)
    .map((key) => `${JSON.stringify(key)}:${plain(value[key])}`)
    .join(',')}}`
}

/** The same value in the same key order, -0 told from 0. */
export function same(a: Json | undefined, b: Json | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]))
  if (!isObject(a)) return Object.is(a, b)
  if (!isObject(b)) return false
  const [keys, others] = [Object.keys(a), Object.keys(b)]
  return keys.length === others.length && keys.every((key, i) => key === others[i] && same(a[key], b[key]))
}

export function finite(value: Json): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(finite)
  return isObject(value) ? Object.values(value).every(finite) : true
}

/** CORE-7: does the line hold a number that comes back as another number than was written? */
export function roundsANumber(line: string): boolean {
  const outsideStrings = line.replace(/"(?:[^"\\]|\\.)*"/g, '""')
  const literals = outsideStrings.match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g) ?? []
  return literals.some((literal) => decimal(literal) !== decimal(String(Number(literal))))
}

/** A number literal as sign, significant digits and power of ten. */
function decimal(literal: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  if (kept === '') return '0'
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}
