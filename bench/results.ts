/**
 * bench/results.json: the rows of each figure with the day they were measured, and what they were measured on.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { arch, platform, versions } from 'node:process'
import type { Curve } from './curves.js'
import { projectRoot } from './figure.js'
import { peerVersion } from './peers/load.js'
import { isMet, type Row } from './row.js'

const PEERS = ['better-sqlite3', '@mariozechner/pi-coding-agent', '@langchain/langgraph-checkpoint-sqlite']

export interface Results {
  machine: { cpu: string; cores: number; memoryGiB: number; system: string; node: string }
  versions: { [name: string]: string }
  figures: { [name: string]: { date: string; rows: (Row & { met?: boolean })[] } }
  curves?: { date: string; curves: Curve[] }
}

/** Quick runs are for trying: they leave the results alone. */
export function resultsFile(quick: boolean): string {
  return join(projectRoot, 'bench', quick ? 'results.local.json' : 'results.json')
}

/** What is there, with the facts of now. */
export function readResults(quick: boolean): Results {
  const file = resultsFile(quick)
  const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : undefined
  return { figures: {}, ...earlier, machine: machine(), versions: packageVersions() }
}

export function putFigure(results: Results, name: string, rows: readonly Row[]): void {
  results.figures[name] = { date: new Date().toISOString(), rows: rows.map(rounded) }
}

export function writeResults(results: Results, quick: boolean): void {
  const { machine, versions, figures, curves } = results
  writeFileSync(resultsFile(quick), `${JSON.stringify({ machine, versions, figures, curves }, null, 2)}\n`)
}

function rounded(row: Row): Row & { met?: boolean } {
  const short = (value: number): number => Number(value.toFixed(3))
  const { ratio, spread } = row
  return {
    ...row,
    ratio: ratio === undefined ? undefined : short(ratio),
    spread: spread && { low: short(spread.low), high: short(spread.high) },
    met: isMet(row),
  }
}

function machine(): Results['machine'] {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform} ${release()} ${arch}`,
    node: versions.node,
  }
}

function packageVersions(): { [name: string]: string } {
  const found: { [name: string]: string } = {}
  const { name, version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    name: string
    version: string
  }
  found[name] = version
  for (const own of ['level', 'classic-level', 'msgpackr']) {
    const file = join(projectRoot, 'node_modules', own, 'package.json')
    if (existsSync(file)) found[own] = (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
  }
  for (const peer of PEERS) found[peer] = peerVersion(peer) ?? 'not installed'
  return found
}
