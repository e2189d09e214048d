/**
 * Text made fit for a terminal, whoever wrote it: nothing in it can steer the terminal or hide, and no cut lands inside a
 * character.
 */
import { escaped, isPlain, replaceHidden } from './hidden.js'

const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]/g
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }
/** What joins, or varies, the characters beside it: it is seen by what these become. */
const JOINED: ReadonlySet<string> = new Set(['\u200c', '\u200d', '\ufe0e', '\ufe0f'])
const KEYCAP = 0x20e3
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const ZERO = /^(\p{Mn}|\p{Me}|[\u200b-\u200d])$/u
const ELLIPSIS = '…'

/** One line of text, with what is hidden in it shown by its escape. */
export function printable(text: string): string {
  if (isPlain(text)) return text
  return replaceHidden(text, (hidden, at) => {
    if (JOINED.has(hidden) && joins(text, at)) return hidden
    return NAMED[hidden] ?? escaped(hidden)
  })
}

/** Beside characters outside of ASCII these have their use, as in emoji and in scripts whose letters join; alone they only hide. */
function joins(text: string, at: number): boolean {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at + 1)]
  if (text[at] < '\ufe00') return before > 0x7f && after > 0x7f
  return before > 0x7f || after === KEYCAP
}

/** The same for text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** Prose in one line: its breaks and tabs are spaces. */
export function oneLine(text: string): string {
  return text.replace(BREAKS, ' ')
}

/** At most `units` code units, never ending inside a surrogate pair. */
export function clip(text: string, units: number): string {
  if (text.length <= units) return text
  const last = text.charCodeAt(units - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units)
}

function charWidth(char: string): number {
  if (char === ELLIPSIS || (char.length === 1 && char < '\u0300')) return 1
  if (ZERO.test(char)) return 0
  return WIDE.test(char) ? 2 : 1
}

/** Columns that a printable text takes on a terminal. */
export function width(text: string): number {
  if (isPlain(text)) return text.length
  let columns = 0
  for (const char of text) columns += charWidth(char)
  return columns
}

/** The text, cut with an ellipsis where it would pass `columns`. */
export function cut(text: string, columns: number): string {
  if (columns < 1) return ''
  if (isPlain(text)) return text.length > columns ? text.slice(0, columns - 1) + ELLIPSIS : text
  let used = 0
  let kept = 0
  let units = 0
  for (const char of text) {
    used += charWidth(char)
    if (used > columns) return text.slice(0, kept) + ELLIPSIS
    units += char.length
    if (used < columns) kept = units
  }
  return text
}

/** Filled with spaces to `columns`. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - width(text)))
}
