/**
 * What can be told of a JSON text by scanning it, without recursion; the text need not be sound.
 */
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

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
