/**
 * Growth curves as SVG: a chart beside the other, both axes logarithmic, legible on light and on dark ground.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChartName, Curve } from './curves.js'
import { projectRoot } from './figure.js'

interface Chart {
  name: ChartName
  title: string
  /** what a tick says */
  tick: (value: number) => string
}

const CHARTS: readonly Chart[] = [
  { name: 'cold view', title: 'Open and context view', tick: (ms) => time(ms * 1_000) },
  { name: 'append', title: 'Append one record', tick: time },
  {
    name: 'memory',
    title: 'Memory of the view',
    tick: (megabytes) => (megabytes < 1_000 ? `${megabytes} MB` : `${megabytes / 1_000} GB`),
  },
]

const COLOURS: readonly { light: string; dark: string }[] = [
  { light: '#c2410c', dark: '#ff8c5a' },
  { light: '#1d5fa8', dark: '#6fb1f5' },
  { light: '#0f7b5f', dark: '#45c9a0' },
  { light: '#a23f8d', dark: '#e08bd0' },
  { light: '#8a6d00', dark: '#e0c04a' },
  { light: '#5b5f97', dark: '#a9adf0' },
]

const SIZE = { width: 1_140, height: 430 }
const PLOT = { top: 56, width: 300, height: 270, left: 66, step: 376 }
const LEGEND = { top: 398, step: 178 }
const LEAST = 1

/** Draws the curves, and returns the file. */
export function plot(curves: readonly Curve[], quick: boolean): string {
  const file = join(projectRoot, 'bench', quick ? 'results.local.svg' : 'growth.svg')
  writeFileSync(file, drawn(curves))
  return file
}

function drawn(curves: readonly Curve[]): string {
  const names = [...new Set(curves.map(({ name }) => name))]
  const charts = CHARTS.map((chart, number) => {
    const own = curves.filter((curve) => curve.chart === chart.name)
    return `<g transform="translate(${PLOT.left + number * PLOT.step} ${PLOT.top})">\n${chartOf(chart, own, names)}\n</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" aria-label="Growth with the records of a stream">
<style>
${styleOf(names)}
</style>
${charts.join('\n')}
<g transform="translate(${PLOT.left} ${LEGEND.top})">
${legendOf(names)}
</g>
</svg>
`
}

function styleOf(names: readonly string[]): string {
  const colours = (tone: 'light' | 'dark'): string =>
    names.map((_, number) => `.c${number} { color: ${COLOURS[number % COLOURS.length][tone]} }`).join('\n')
  return `text { font: 14px system-ui, sans-serif; fill: #3a3f47 }
.title { font-weight: 600; font-size: 16px }
.grid { stroke: #8a919c; stroke-opacity: 0.28 }
.line { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round }
.own { stroke-width: 3.5 }
.dot { fill: currentColor }
${colours('light')}
@media (prefers-color-scheme: dark) {
text { fill: #d4d9e0 }
${colours('dark')}
}`
}

function chartOf({ title, tick }: Chart, curves: readonly Curve[], names: readonly string[]): string {
  const points = curves.flatMap((curve) => curve.points)
  const x = decades(points.map(({ records }) => records))
  const y = decades(points.map(({ value }) => Math.max(value, LEAST)))
  const left = (records: number): number => place(records, x) * PLOT.width
  const top = (value: number): number => PLOT.height - place(Math.max(value, LEAST), y) * PLOT.height
  const parts = [`<text class="title" x="${PLOT.width / 2}" y="-24" text-anchor="middle">${title}</text>`]
  for (const value of y) {
    parts.push(`<line class="grid" x2="${PLOT.width}" y1="${shown(top(value))}" y2="${shown(top(value))}"/>`)
    parts.push(`<text x="-8" y="${shown(top(value) + 5)}" text-anchor="end">${tick(value)}</text>`)
  }
  for (const records of x) {
    parts.push(`<line class="grid" y2="${PLOT.height}" x1="${shown(left(records))}" x2="${shown(left(records))}"/>`)
    parts.push(
      `<text x="${shown(left(records))}" y="${PLOT.height + 20}" text-anchor="middle">${recordsTick(records)}</text>`,
    )
  }
  parts.push(`<text x="${PLOT.width / 2}" y="${PLOT.height + 40}" text-anchor="middle">records</text>`)
  for (const curve of [...curves].reverse()) {
    const number = names.indexOf(curve.name)
    const places = curve.points.map(({ records, value }) => [shown(left(records)), shown(top(value))])
    const dots = places.map(([cx, cy]) => `<circle class="dot" cx="${cx}" cy="${cy}" r="3"/>`).join('')
    const path = places.map((at) => at.join(' ')).join(' L ')
    parts.push(`<g class="c${number}"><path class="line${number === 0 ? ' own' : ''}" d="M ${path}"/>${dots}</g>`)
  }
  return parts.join('\n')
}

function legendOf(names: readonly string[]): string {
  return names
    .map((name, number) => {
      const line = `<path class="line${number === 0 ? ' own' : ''}" d="M 0 0 H 20"/><circle class="dot" cx="10" cy="0" r="3"/>`
      return `<g class="c${number}" transform="translate(${number * LEGEND.step - 40} 0)">${line}<text x="26" y="5">${name}</text></g>`
    })
    .join('\n')
}

/** The powers of ten around values. */
function decades(values: readonly number[]): number[] {
  const from = Math.floor(Math.log10(Math.min(...values)))
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))))
  return Array.from({ length: to - from + 1 }, (_, step) => 10 ** (from + step))
}

/** Where a value lies between the first and the last power of ten, from 0 to 1. */
function place(value: number, powers: readonly number[]): number {
  const [first, last] = [Math.log10(powers[0]), Math.log10(powers[powers.length - 1])]
  return (Math.log10(value) - first) / (last - first)
}

function shown(value: number): number {
  return Number(value.toFixed(1))
}

function time(microseconds: number): string {
  if (microseconds < 1_000) return `${microseconds} µs`
  return microseconds < 1_000_000 ? `${microseconds / 1_000} ms` : `${microseconds / 1_000_000} s`
}

function recordsTick(records: number): string {
  return records < 1_000_000 ? `${records / 1_000}k` : `${records / 1_000_000}M`
}
