/**
 * Tables without borders, cut to the width of the output.
 */
import type { Line } from './output.js'
import { outputWidth } from './style.js'
import { cut, printable, width } from './text.js'

export interface Column {
  name: string
  align?: 'right'
}

const GAP = '  '
const LEAST = 8

/** Rows under their column names; only the last column is cut. */
export function table(columns: readonly Column[], rows: string[][]): Line[] {
  const last = columns.length - 1
  const cells = rows.map((row) => row.map(printable))
  const widths = columns.slice(0, last).map(({ name }, column) => widest(cells, column, name))
  const left = widths.reduce((room, taken) => room - taken - GAP.length, outputWidth())
  for (const row of cells) row[last] = cut(row[last], Math.max(left, LEAST))
  widths.push(widest(cells, last, columns[last].name))
  const drawn = (row: readonly string[]): string =>
    columns
      .map(({ align }, column) => padded(row[column], widths[column], align))
      .join(GAP)
      .trimEnd()
  const head = columns.map(({ name }) => name)
  return [[{ text: drawn(head), colour: 'dim' }], ...cells.map(drawn)]
}

function padded(text: string, columns: number, align: Column['align']): string {
  const room = ' '.repeat(columns - width(text))
  return align === 'right' ? room + text : text + room
}

function widest(rows: string[][], column: number, name: string): number {
  return rows.reduce((most, row) => Math.max(most, width(row[column])), width(name))
}

/** Thousands, millions and so on of bytes, for people. */
export function humanBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let value = bytes / 1_000
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000
    unit++
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`
}
