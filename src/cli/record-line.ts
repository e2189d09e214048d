/**
 * One line for one record: what somebody who looks through a log wants to see of it.
 */
import type { StoredRecord } from '../main.js'
import { jsonOf } from './json.js'
import type { Span } from './output.js'
import type { Colours } from './style.js'
import { clip, cut, oneLine, pad, printable, width } from './text.js'

/** What is shown of a record, by type, in order. */
const SHOWN: ReadonlyMap<string, readonly string[]> = new Map([
  ['message', ['role', 'content']],
  ['tool_call', ['name', 'title', 'input']],
  ['tool_result', ['status', 'displayContent', 'content']],
  ['file_change', ['status', 'changes']],
  ['permission', ['title', 'status', 'decision']],
  ['input_request', ['message', 'status']],
  ['plan', ['planId', 'entries', 'content', 'uri']],
  ['terminal', ['command', 'status', 'exitCode']],
  ['state', ['state', 'stopReason']],
  ['compaction', ['status', 'summary']],
  ['subagent', ['childSession', 'title']],
  ['head', ['name', 'recordId']],
  ['tombstone', ['targetId']],
])

const SHOWN_OF_OTHERS = ['title', 'name', 'status', 'text', 'message', 'description', 'content'] as const

/** Code units for each column that a value is looked at for: its text may hold megabytes, and marks that take no column. */
const UNITS_A_COLUMN = 4

/** What the record says, as one printable line for so many columns, which it may pass. */
export function gist(record: StoredRecord, columns: number): string {
  const units = columns * UNITS_A_COLUMN
  const shown: string[] = []
  for (const field of SHOWN.get(record.type) ?? SHOWN_OF_OTHERS) {
    const text = show(record[field], units)
    if (text !== '') shown.push(text)
  }
  return shown.join(' ')
}

function show(value: unknown, units: number): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return printable(oneLine(clip(value.trimStart(), units)).trim())
  if (Array.isArray(value) && value.every(isBlock))
    return value
      .map((block) => showBlock(block, units))
      .join(' ')
      .trim()
  return printable(clip(jsonOf(value), units))
}

interface Block {
  type: string
  text?: unknown
}

function isBlock(value: unknown): value is Block {
  return typeof value === 'object' && value !== null && typeof (value as Block).type === 'string'
}

/** Content blocks: their text, or their kind where they are no text. */
function showBlock(block: Block, units: number): string {
  return typeof block.text === 'string' ? show(block.text, units) : `[${printable(block.type)}]`
}

export interface LineOptions {
  /** stands in front: a position or a seq */
  number: number
  numberColumns: number
  columns: number
}

/** Number, id, type and gist, cut at the width of the line. */
export function recordLine(record: StoredRecord, options: LineOptions): Span[] {
  const parts: [string, keyof Colours | undefined][] = [
    [String(options.number).padStart(options.numberColumns), 'dim'],
    [pad(printable(record.id), 8), undefined],
    [pad(printable(record.type), 12), 'cyan'],
    [gist(record, options.columns), undefined],
  ]
  let left = options.columns
  const line: { text: string; colour?: keyof Colours }[] = []
  for (const [text, colour] of parts) {
    const fitting = cut(text, left)
    if (fitting === '') break
    line.push({ text: line.length === 0 ? fitting : `  ${fitting}`, colour })
    left -= width(fitting) + 2
  }
  const last = line.at(-1)
  if (last !== undefined) last.text = last.text.trimEnd()
  return line
}
