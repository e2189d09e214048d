/**
 * The benchmarks: `npm run bench -- [NAME…] [--quick] [--plot] [--table]`.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argv, stderr, stdout } from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { measureCurves } from './curves.js'
import type { Context } from './figure.js'
import { FIGURES } from './figures.js'
import { installPeers } from './peers/load.js'
import { plot } from './plot.js'
import { putFigure, readResults, resultsFile, writeResults } from './results.js'
import { isMet, type Row } from './row.js'
import { markdownTable, terminalTable } from './table.js'

const child = fileURLToPath(new URL('figure-child.js', import.meta.url))

const USAGE = `npm run bench -- [NAME…] [--quick] [--plot] [--table]
NAME     ${Object.keys(FIGURES).join(', ')}; default all
--quick  small sizes, to see that it works; results go to bench/results.local.json
--plot   the growth curves instead, drawn into bench/growth.svg
--table  measures nothing: what bench/results.json holds, as Markdown
`

/** In a process of its own, so that no figure runs on the heap that another one left. */
async function measure(name: string, context: Context): Promise<Row[]> {
  const running = fork(child, [name, JSON.stringify(context)], { execArgv: ['--enable-source-maps'] })
  let rows: Row[] | undefined
  running.on('message', (message) => {
    rows = message as Row[]
  })
  await once(running, 'close')
  if (rows === undefined) throw new Error(`${name} failed`)
  return rows
}

async function measureAll(names: readonly string[], context: Context): Promise<Row[]> {
  const results = readResults(context.quick)
  const all: Row[] = []
  for (const name of names) {
    const started = performance.now()
    const rows = await measure(name, context)
    all.push(...rows)
    putFigure(results, name, rows)
    writeResults(results, context.quick)
    stdout.write(`\n${name}, ${Math.round((performance.now() - started) / 1_000)} s\n${terminalTable(rows)}\n`)
  }
  return all
}

function summary(rows: readonly Row[], { quick }: Context): string {
  const judged = rows.filter((row) => isMet(row) !== undefined)
  const missed = judged.filter((row) => isMet(row) === false)
  const lines = [
    `${judged.length - missed.length} of ${judged.length} figures reached${quick ? ', at sizes that say little' : ''}`,
  ]
  for (const { work } of missed) lines.push(`missed: ${work}`)
  return `${lines.join('\n')}\n${resultsFile(quick)}\n`
}

async function drawCurves(context: Context): Promise<void> {
  const results = readResults(context.quick)
  const curves = await measureCurves(context)
  results.curves = { date: new Date().toISOString(), curves }
  writeResults(results, context.quick)
  stdout.write(`${plot(curves, context.quick)}\n`)
}

/** A folder for what the benchmarks make; gone when the process ends. */
function temporaryFolder(): string {
  const temp = mkdtempSync(join(tmpdir(), 'asr-bench-'))
  process.on('exit', () => rmSync(temp, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
  return temp
}

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  plot: { type: 'boolean', default: false },
  table: { type: 'boolean', default: false },
} as const

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ args: argv.slice(2), options: OPTIONS, allowPositionals: true })
  const unknown = positionals.filter((name) => !(name in FIGURES))
  if (unknown.length > 0) {
    stderr.write(`no such figure: ${unknown.join(', ')}\n${USAGE}`)
    process.exitCode = 2
    return
  }
  const { quick } = values
  if (values.table) {
    const rows = Object.values(readResults(quick).figures).flatMap((figure) => figure.rows)
    stdout.write(`${markdownTable(rows)}\n`)
    return
  }
  installPeers()
  const context = { temp: temporaryFolder(), quick }
  if (values.plot) return drawCurves(context)
  const names = positionals.length > 0 ? positionals : Object.keys(FIGURES)
  stdout.write(summary(await measureAll(names, context), context))
}

await main()
