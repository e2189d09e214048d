/**
 * What a line of JSONL says: a JSON object, or why it is refused (CORE-2, CORE-7).
 */
import type { RefusedCode } from '../base/error.js'
import { NESTING_MAX } from '../base/limits.js'
import { hasBrackets, nesting } from '../record/json-text.js'
import type { Json } from '../record/record.js'
import type { Line } from './lines.js'
import { numberFidelity, sayInfinite, sayRounded } from './number-literals.js'

export interface GoodLine {
  value: { [key: string]: Json }
  /** there when `JSON.stringify` would not give the line back, so that its text is to be kept */
  text?: string
  /** a number literal of it is no double, `number_rounded`: which, in words */
  rounded?: string
}

export interface BadLine {
  refused: Extract<RefusedCode, 'bad_json' | 'not_object' | 'torn_tail' | 'bad_utf8' | 'too_large' | 'too_deep'>
  message: string
}

export type ParsedLine = GoodLine | BadLine

/** The record itself and what may be nested in it. */
const CONTAINERS_MAX = NESTING_MAX + 1

/** Reads one line. A last line without LF that cannot be read is a `torn_tail`, whatever is wrong with it. */
export function parseLine(line: Line): ParsedLine {
  if ('refused' in line) {
    if (line.refused === 'too_large') return { refused: 'too_large', message: `line ${line.number} is too long` }
    return unreadable(line, 'bad_utf8', 'is not UTF-8')
  }
  const { text } = line
  // Before parsing: not every engine's parser bears any depth.
  if (hasBrackets(text, CONTAINERS_MAX)) {
    const { deepest, open } = nesting(text)
    if (line.torn && open > 0) return unreadable(line, 'bad_json', 'ends within a value')
    if (deepest > CONTAINERS_MAX) {
      return { refused: 'too_deep', message: `line ${line.number} is nested more than ${NESTING_MAX} levels deep` }
    }
  }
  let value: Json
  try {
    value = JSON.parse(text)
  } catch (error) {
    return unreadable(line, 'bad_json', `is not JSON: ${error instanceof Error ? error.message : error}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { refused: 'not_object', message: `line ${line.number} is ${kindOf(value)}, not an object` }
  }
  // What comes out as it went in has no literal that was rounded either.
  if (JSON.stringify(value) === text) return { value }
  const fidelity = numberFidelity(text)
  if (fidelity === 'infinite') {
    return { refused: 'bad_json', message: `line ${line.number}: ${sayInfinite(text)}` }
  }
  return fidelity === 'rounded' ? { value, text, rounded: sayRounded(text) } : { value, text }
}

function unreadable(line: Line, refused: BadLine['refused'], what: string): BadLine {
  if (!line.torn) return { refused, message: `line ${line.number} ${what}` }
  return { refused: 'torn_tail', message: `line ${line.number}, the last, has no end and ${what}` }
}

function kindOf(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
