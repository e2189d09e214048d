/**
 * What can be told of a JSON text by scanning it, without recursion; the text need not be sound.
 */
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const COLON = 0x3a
const COMMA = 0x2c

/** Where the string that begins at `open` has its closing quote; the text's length when it has none. */
export function stringEnd(text: string, open: number): number {
  let close = text.indexOf('"', open + 1)
  while (close !== -1 && isEscaped(text, close)) close = text.indexOf('"', close + 1)
  return close === -1 ? text.length : close
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === BACKSLASH) before--
  return (at - before) % 2 === 0
}

export interface Nesting {
  /** containers around the innermost place, itself included */
  deepest: number
  /** containers still open where the text ends */
  open: number
}

/** How deep the containers of a text are nested, the outermost being 1. */
export function nesting(text: string): Nesting {
  let open = 0
  let deepest = 0
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = stringEnd(text, i)
        break
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        open++
        if (open > deepest) deepest = open
        break
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        open--
        break
    }
  }
  return { deepest, open }
}

/** The JSON Pointer (RFC 6901) of the value that begins at a place of a sound text. */
export function pointerAt(text: string, place: number): string {
  /** of each container around: the place in an array, or the key in an object */
  const steps: (number | string)[] = []
  for (let at = 0; at < place; at++) {
    const last = steps.length - 1
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = stringEnd(text, at)
        // A key, or a text that the next key takes the place of.
        if (typeof steps[last] === 'string') steps[last] = text.slice(at, end + 1)
        at = end
        break
      }
      case OPEN_ARRAY:
        steps.push(0)
        break
      case OPEN_OBJECT:
        steps.push('""')
        break
      case COMMA:
        if (typeof steps[last] === 'number') steps[last]++
        break
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        steps.pop()
        break
    }
  }
  return steps.map((step) => `/${typeof step === 'number' ? step : escaped(JSON.parse(step) as string)}`).join('')
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Whether a text has more than `count` opening brackets, strings included: only then can it be nested so deep. */
export function hasBrackets(text: string, count: number): boolean {
  let found = 0
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      found++
      if (found > count) return true
    }
  }
  return false
}

/** Where the value of a member stands in the sound text of an object; of a key that comes twice the last one counts. */
export function memberAt(text: string, key: string): { from: number; to: number } | undefined {
  let found: { from: number; to: number } | undefined
  let depth = 0
  let name: string | undefined
  let from = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      const end = stringEnd(text, i)
      if (depth === 1 && name === undefined) name = JSON.parse(text.slice(i, end + 1))
      i = end
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++
    else if (depth === 1 && code === COLON) from = i + 1
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY || (depth === 1 && code === COMMA)) {
      if (depth === 1 && name === key) found = { from, to: i }
      if (code !== COMMA) depth--
      else name = undefined
    }
  }
  return found
}

/** The text of an object with a member of it replaced, or added at its end; all else stays as it is, to the letter. */
export function withMember(text: string, key: string, json: string): string {
  const member = memberAt(text, key)
  if (member !== undefined) return text.slice(0, member.from) + json + text.slice(member.to)
  const brace = text.lastIndexOf('}')
  const comma = /\{\s*$/.test(text.slice(0, brace)) ? '' : ','
  return `${text.slice(0, brace)}${comma}${JSON.stringify(key)}:${json}${text.slice(brace)}`
}

/** The text of an array with items added at its end. */
export function withItems(text: string, items: readonly string[]): string {
  const bracket = text.lastIndexOf(']')
  const comma = items.length === 0 || /\[\s*$/.test(text.slice(0, bracket)) ? '' : ','
  return text.slice(0, bracket) + comma + items.join(',') + text.slice(bracket)
}
