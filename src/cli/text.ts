/**
 * Text from records made fit for a terminal: nothing in it can steer the terminal, and no cut lands inside a character.
 */

// Controls (C0, DEL, C1) and the marks that reorder a line; a stored text holds whatever it likes.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const ZERO = /^(\p{Mn}|\p{Me}|[\u200b-\u200d])$/u
const ELLIPSIS = '…'

/** Most text: printable as it is, a column each. The other patterns take milliseconds to make. */
const PLAIN = /^[ -~\u00a0-\u02ff…]*$/

/** One line of text: controls and lone surrogates replaced. */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text
  return text.replace(CONTROLS, ' ').replace(LONE_SURROGATE, '\ufffd')
}

/** The same for text of several lines, such as indented JSON. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
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
  if (PLAIN.test(text)) return text.length
  let columns = 0
  for (const char of text) columns += charWidth(char)
  return columns
}

/** The text, cut with an ellipsis where it would pass `columns`. */
export function cut(text: string, columns: number): string {
  if (columns < 1) return ''
  if (PLAIN.test(text)) return text.length > columns ? text.slice(0, columns - 1) + ELLIPSIS : text
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
