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
export async function table(columns: readonly Column[], rows: string[][]): Promise<Line[]> {
  const { default: Table } = await import('cli-table3')
  const last = columns.length - 1
  const cells = rows.map((row) => row.map(printable))
  let left = outputWidth()
  for (let i = 0; i < last; i++) left -= widest(cells, i, columns[i].name) + GAP.length
  for (const row of cells) row[last] = cut(row[last], Math.max(left, LEAST))
  const drawn = new Table({
    head: columns.map((column) => column.name),
    colAligns: columns.map((column) => column.align ?? 'left'),
    chars: { ...BORDERLESS, middle: GAP },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  })
  drawn.push(...cells)
  const [head, ...drawnRows] = drawn
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
  return [[{ text: head, colour: 'dim' }], ...drawnRows]
}

function widest(rows: string[][], column: number, name: string): number {
  return rows.reduce((most, row) => Math.max(most, width(row[column])), width(name))
}

const BORDERLESS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
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
