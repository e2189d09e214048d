/**
 * The one printer of JSON: whatever it holds, nothing of it can steer a terminal or hide, and it reads back as the same value.
 */
import { exactJson } from '../record/exact.js'
import { escaped, isPlain, replaceHidden } from './hidden.js'

const BETWEEN_TOKENS = /^[\t\n\r]$/

/** The JSON of a value, on one line. Undefined has none, and is null. */
export function jsonOf(value: unknown): string {
  return escapedJson(exactJson(value) ?? 'null')
}

/** A JSON text with its hidden characters as their escapes, on one line: raw breaks and tabs stand between tokens only. */
export function escapedJson(json: string): string {
  if (isPlain(json)) return json
  return replaceHidden(json, (hidden) => (BETWEEN_TOKENS.test(hidden) ? ' ' : escaped(hidden)))
}

/** The JSON of a value for people: indented, in lines. */
export function jsonLines(value: unknown): string[] {
  return JSON.stringify(value, null, 2).split('\n')
}
