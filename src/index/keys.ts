/**
 * The keys of the index in level: the only place that knows them. Numbers are fixed-width hexadecimal, so that the order
 * of keys is the order of what they name; each log's rows stand together under its incarnation.
 */

export type RowKey =
  | { kind: 'root'; log: string }
  | { kind: 'heads' | 'dictionary'; log: string }
  /** `number` counts blocks of pages */
  | { kind: 'directory'; log: string; number: number }
  /** columns, or keys, of one page */
  | { kind: 'page' | 'keys'; log: string; number: number }
  /** a merged run of keys: its head, or one of its buckets */
  | { kind: 'run'; log: string; level: number; number: number }
  | { kind: 'bucket'; log: string; level: number; number: number; bucket: number }

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
  const parts = [key.log, LETTERS[key.kind]]
  if ('level' in key) parts.push(hex(key.level, LEVEL_DIGITS))
  if ('number' in key) parts.push(hex(key.number, NUMBER_DIGITS))
  if ('bucket' in key) parts.push(hex(key.bucket, NUMBER_DIGITS))
  return parts.join('/')
}

/** The inverse of `formatKey`; undefined for any other text. */
export function parseKey(text: string): RowKey | undefined {
  const [log, letter, ...numbers] = text.split('/')
  const kind = KINDS.get(letter)
  if (kind === undefined || !/^[0-9a-f]{16}$/.test(log) || !numbers.every((part) => /^[0-9a-f]+$/.test(part)))
    return undefined
  const [a, b, c] = numbers.map((part) => Number.parseInt(part, 16))
  if (numbers.length !== NUMBERS[kind]) return undefined
  const key = keyOf(kind, log, a, b, c)
  return formatKey(key) === text ? key : undefined
}

function keyOf(kind: RowKey['kind'], log: string, a: number, b: number, c: number): RowKey {
  switch (kind) {
    case 'root':
    case 'heads':
    case 'dictionary':
      return { kind, log }
    case 'directory':
    case 'page':
    case 'keys':
      return { kind, log, number: a }
    case 'run':
      return { kind, log, level: a, number: b }
    case 'bucket':
      return { kind, log, level: a, number: b, bucket: c }
  }
}

/** All rows of one log: from `gte` up to, not with, `lt`. */
export function logRange(log: string): { gte: string; lt: string } {
  return { gte: `${log}/`, lt: `${log}0` } // '0' is the character behind '/'
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}
