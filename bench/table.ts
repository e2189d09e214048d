/**
 * Rows as a table for people, on the terminal and in the README.
 */
import Table from 'cli-table3'
import { isMet, type Measure, type Row, type Target } from './row.js'

const HEAD = ['work', 'asr-store', 'peer', '', 'ratio', 'to reach', '']

const WIDTHS = [46, 12, 34, 12, 10, 12, 8]

/** A peer behind the other, without saying the work again. */
export function terminalTable(rows: readonly Row[]): string {
  const table = new Table({
    head: HEAD,
    style: { head: [], border: [] },
    wordWrap: true,
    colWidths: WIDTHS,
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  })
  rows.forEach((row, number) => {
    const [work, ...others] = cells(row)
    table.push([work === (number > 0 ? cells(rows[number - 1])[0] : undefined) ? '' : work, ...others])
  })
  return table.toString()
}

/** The rows with something to reach, as Markdown. */
export function markdownTable(rows: readonly Row[]): string {
  const line = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`
  const body = rows.filter(({ target }) => target !== undefined).map((row) => line(cells(row)))
  return [line(HEAD), line(HEAD.map(() => '---')), ...body].join('\n')
}

function cells(row: Row): string[] {
  const { work, ours, peer, ratio, target, note } = row
  const met = isMet(row)
  return [
    note === undefined ? work : `${work} (${note})`,
    ours ? measureText(ours) : '',
    peer?.name ?? '',
    peer ? measureText(peer) : '',
    ratio === undefined ? '' : `${ratio.toPrecision(3)} x`,
    target ? targetText(target, ours) : '',
    met === undefined ? '' : met ? 'met' : 'missed',
  ]
}

function measureText({ value, unit }: Measure): string {
  return `${value} ${unit === 'us' ? 'µs' : unit}`
}

function targetText({ bound, value, of }: Target, ours: Measure | undefined): string {
  const sign = bound === 'at least' ? '≥' : '≤'
  return of === 'ratio' ? `${sign} ${value} x` : `${sign} ${measureText({ value, unit: ours?.unit ?? 'ms' })}`
}
