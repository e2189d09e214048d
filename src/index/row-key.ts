/**
 * The keys of the index in level: the only place that knows them. Numbers are fixed-width hexadecimal, so that the order
 * of keys is the order of what they name; each log's rows stand together under its incarnation.
 */

export type RowKey =
  | { kind: 'root'; incarnation: string }
  | { kind: 'heads' | 'dictionary'; incarnation: string }
  /** `number` counts blocks of pages */
  | { kind: 'directory'; incarnation: string; number: number }
  /** columns, or keys, of one page */
  | { kind: 'page' | 'keys'; incarnation: string; number: number }
  /** a merged run of keys: its head, or one of its buckets */
  | { kind: 'run'; incarnation: string; level: number; number: number }
  | { kind: 'bucket'; incarnation: string; level: number; number: number; bucket: number }

const LETTERS = {
  root: 'a',
  heads: 'b',
  dictionary: 'c',
  directory: 'd',
  page: 'e',
  keys: 'f',
  run: 'g',
  bucket: 'h',
} as const
const KINDS = new Map(Object.entries(LETTERS).map(([kind, letter]) => [letter as string, kind as RowKey['kind']]))

/** How many numbers a key of each kind has. */
const NUMBERS = { root: 0, heads: 0, dictionary: 0, directory: 1, page: 1, keys: 1, run: 2, bucket: 3 } as const

const NUMBER_DIGITS = 12
const LEVEL_DIGITS = 2

export function formatKey(key: RowKey): string {
  const parts = [key.incarnation, LETTERS[key.kind]]
  if ('level' in key) parts.push(hex(key.level, LEVEL_DIGITS))
  if ('number' in key) parts.push(hex(key.number, NUMBER_DIGITS))
  if ('bucket' in key) parts.push(hex(key.bucket, NUMBER_DIGITS))
  return parts.join('/')
}

/** The inverse of `formatKey`; undefined for any other text. */
export function parseKey(text: string): RowKey | undefined {
  const [incarnation, letter, ...numbers] = text.split('/')
  const kind = KINDS.get(letter)
  if (kind === undefined || !/^[0-9a-f]{16}$/.test(incarnation) || !numbers.every((part) => /^[0-9a-f]+$/.test(part)))
    return undefined
  const [a, b, c] = numbers.map((part) => Number.parseInt(part, 16))
  if (numbers.length !== NUMBERS[kind]) return undefined
  const key = keyOf(kind, incarnation, a, b, c)
  return formatKey(key) === text ? key : undefined
}

function keyOf(kind: RowKey['kind'], incarnation: string, a: number, b: number, c: number): RowKey {
  switch (kind) {
    case 'root':
    case 'heads':
    case 'dictionary':
      return { kind, incarnation }
    case 'directory':
    case 'page':
    case 'keys':
      return { kind, incarnation, number: a }
    case 'run':
      return { kind, incarnation, level: a, number: b }
    case 'bucket':
      return { kind, incarnation, level: a, number: b, bucket: c }
  }
}

/** All rows of one log: from `gte` up to, not with, `lt`. */
export function logRange(incarnation: string): { gte: string; lt: string } {
  return { gte: `${incarnation}/`, lt: `${incarnation}0` } // '0' is the character behind '/'
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}
