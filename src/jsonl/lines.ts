/**
 * The lines of a JSONL input (CORE-2), whatever the chunks it comes in.
 */
import { GrowableBytes } from '../base/growable-bytes.js'
import { RECORD_BYTES_MAX } from '../base/limits.js'
import { Utf8Chunks } from './utf8-chunks.js'

export interface TextLine {
  /** from 1; empty lines count */
  number: number
  /** without the line's end */
  text: string
  /** length of `text` in UTF-8 */
  bytes: number
  /** the input's last line, and no LF ended it */
  torn: boolean
}

export interface RefusedLine {
  number: number
  refused: 'bad_utf8' | 'too_large'
  torn: boolean
}

export type Line = TextLine | RefusedLine

export type Chunks = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>

/**
 * The lines that are not empty, in batches, since a promise a line would cost more than reading it.
 * A byte order mark before a line, as where files were joined, and a CR before its LF are dropped; a CR at the very end is
 * taken for half of such a line end.
 */
export async function* readLines(chunks: Chunks, options: { maxBytes?: number } = {}): AsyncGenerator<Line[]> {
  const cutter = new LineCutter(options.maxBytes ?? RECORD_BYTES_MAX)
  const utf8 = new Utf8Chunks()
  for await (const chunk of chunks) {
    for (const piece of utf8.pieces(chunk)) {
      const lines = cutter.cut(piece)
      if (lines.length > 0) yield lines
    }
  }
  cutter.cut(utf8.end())
  const last = cutter.end()
  if (last.length > 0) yield last
}

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09
const MARK = [0xef, 0xbb, 0xbf]
const MARK_CHARACTER = 0xfeff
/** A byte order mark and a CR do not count as the line's text. */
const UNCOUNTED_BYTES_MAX = MARK.length + 1

class LineCutter {
  #number = 0
  /** The bytes of the line that has not ended yet, from chunks that are gone. */
  readonly #pending = new GrowableBytes()
  /** That line is too long already, and the rest of it is passed over. */
  #overlong = false

  constructor(private readonly maxBytes: number) {}

  /** The lines that end in these bytes. */
  cut(bytes: Uint8Array): Line[] {
    const lines: Line[] = []
    const first = bytes.indexOf(LF)
    if (first === -1) {
      this.#keep(bytes)
      return lines
    }
    this.#keep(bytes.subarray(0, first))
    this.#endLine(lines, false)
    const rest = bytes.lastIndexOf(LF) + 1
    const whole = bytes.subarray(first + 1, rest)
    const text = decode(whole)
    if (text === undefined) this.#cutOneByOne(whole, lines)
    else this.#cutDecoded(whole, text, lines)
    this.#keep(bytes.subarray(rest))
    return lines
  }

  /** The last line, when no LF ended it. */
  end(): Line[] {
    const lines: Line[] = []
    if (this.#pending.length > 0 || this.#overlong) this.#endLine(lines, true)
    return lines
  }

  #keep(bytes: Uint8Array): void {
    if (this.#overlong) return
    if (this.#pending.length + bytes.length > this.maxBytes + UNCOUNTED_BYTES_MAX) {
      this.#overlong = true
      this.#pending.clear()
    } else {
      this.#pending.append(bytes)
    }
  }

  #endLine(lines: Line[], torn: boolean): void {
    const number = ++this.#number
    const bytes = trimmed(this.#pending.view())
    if (this.#overlong || bytes.length > this.maxBytes) {
      lines.push({ number, refused: 'too_large', torn })
    } else {
      const text = decode(bytes)
      if (text === undefined) lines.push({ number, refused: 'bad_utf8', torn })
      else if (!isBlank(text, 0, text.length)) lines.push({ number, text, bytes: bytes.length, torn })
    }
    this.#overlong = false
    this.#pending.clear()
  }

  /** Whole lines of one chunk, decoded at once: much the fastest where lines are short. */
  #cutDecoded(whole: Uint8Array, text: string, lines: Line[]): void {
    const ascii = text.length === whole.length
    let start = 0
    let textStart = 0
    while (textStart < text.length) {
      const number = ++this.#number
      const textEnd = text.indexOf('\n', textStart)
      const end = ascii ? textEnd : whole.indexOf(LF, start)
      if (text.charCodeAt(textStart) === MARK_CHARACTER) {
        textStart++
        start += MARK.length
      }
      const cr = textEnd > textStart && text.charCodeAt(textEnd - 1) === CR ? 1 : 0
      const bytes = end - start - cr
      if (bytes > this.maxBytes) lines.push({ number, refused: 'too_large', torn: false })
      else if (!isBlank(text, textStart, textEnd))
        lines.push({ number, text: text.slice(textStart, textEnd - cr), bytes, torn: false })
      start = end + 1
      textStart = textEnd + 1
    }
  }

  /** Whole lines of one chunk, some of which are not UTF-8. */
  #cutOneByOne(whole: Uint8Array, lines: Line[]): void {
    let start = 0
    while (start < whole.length) {
      const end = whole.indexOf(LF, start)
      this.#keep(whole.subarray(start, end))
      this.#endLine(lines, false)
      start = end + 1
    }
  }
}

/** A mark inside a line is text. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

function trimmed(bytes: Uint8Array): Uint8Array {
  const start = MARK.every((byte, index) => bytes[index] === byte) ? MARK.length : 0
  const end = bytes.length > start && bytes[bytes.length - 1] === CR ? bytes.length - 1 : bytes.length
  return bytes.subarray(start, end)
}

/** Whether there is only JSON white space. */
function isBlank(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    if (code !== SPACE && code !== TAB && code !== CR && code !== LF) return false
  }
  return true
}
