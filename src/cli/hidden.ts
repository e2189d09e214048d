/**
 * Characters that a reader does not see, or that do something to what shows them: controls (C0, DEL, C1), the marks that
 * reorder or join text, separators of lines and paragraphs, what takes no room (Unicode's default ignorable code points: zero
 * widths, byte order mark, fillers, variation selectors, tags), and lone surrogates. JSON says them by their escapes, which
 * loses nothing; text for people shows the same escapes.
 */

const BMP =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e' +
  '\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb'
/** Those outside of the basic plane, as the two units that they are: format marks of shorthand and music, and the tags. */
const PAIRS = '\\ud82f[\\udca0-\\udca3]|\\ud834[\\udd73-\\udd7a]|[\\udb40-\\udb43][\\udc00-\\udfff]'
const LONE = '[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]'

const HIDDEN = new RegExp(`[${BMP}]|${PAIRS}|${LONE}`, 'g')

/** Most text has none of it. The other patterns take longer to make and to run. */
const NOT_PLAIN = /[^ -~\u00a0-\u00ac\u00ae-\u02ff…]/

/** Nothing in it is hidden, and each character takes one column. */
export function isPlain(text: string): boolean {
  return !NOT_PLAIN.test(text)
}

/** The text with `replace` in the place of each hidden character. */
export function replaceHidden(text: string, replace: (hidden: string, at: number) => string): string {
  return text.replace(HIDDEN, replace)
}

/** As JSON escapes it: `\u001b`, and two of these for what is outside of the basic plane. */
export function escaped(hidden: string): string {
  let text = ''
  for (let at = 0; at < hidden.length; at++) text += `\\u${hidden.charCodeAt(at).toString(16).padStart(4, '0')}`
  return text
}
