/**
 * From nothing to the context view, in a fresh process: what it costs to go on with a session.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Corpora, type Kind, SESSION } from './corpora.js'
import { type Context, count, pairsOf, projectRoot, round, sized } from './figure.js'
import { fresh, freshMedian, runNode } from './fresh.js'
import { median, quantile } from './pairs.js'
import { PI } from './peers/pi.js'
import { atLeast, atMost, type Row, rowOrReason } from './row.js'

const workMs = ({ workMs }: { workMs: number }): number => workMs

export async function coldView(context: Context): Promise<Row[]> {
  const corpora = new Corpora(context)
  const large = sized(context, 1_000_000, 20_000)
  const small = sized(context, 10_000, 2_000)
  const rows = [
    await growth(context, corpora, 'linear', large, small, 1.2),
    await growth(context, corpora, 'branchy', large, small, 1.5),
  ]
  const jsonlMs = freshMedian(context.quick ? 2 : 3, workMs, 'jsonl view', corpora.jsonl('linear', large))
  rows.push(...(await commandLine(context, corpora, large, jsonlMs)))
  rows.push(importing(context, 'asr-store', 0.6), importing(context, 'asr-store/acp'))
  rows.push(...(await besidePeers(context, corpora, large, jsonlMs)))
  rows.push(await rowOrReason('beside pi', () => besidePi(context, corpora, small)))
  if (!context.quick) rows.push(await rowOrReason('beside pi', () => besidePi(context, corpora, 100_000)))
  return rows
}

/** Opening and view without the loading of code, of a large stream against a small one with the same tail. */
async function growth(
  context: Context,
  corpora: Corpora,
  kind: Kind,
  large: number,
  small: number,
  limit: number,
): Promise<Row> {
  const [grown, young] = [await corpora.store(kind, large), await corpora.store(kind, small)]
  const pairs = Array.from({ length: pairsOf(context, 50) }, () => ({
    grown: fresh('asr view', grown).workMs,
    young: fresh('asr view', young).workMs,
  }))
  const ratios = pairs.map((pair) => pair.grown / pair.young)
  return {
    work: `${kind} stream, ${count(large)} against ${count(small)} records`,
    ours: { value: round(median(pairs.map((pair) => pair.grown))), unit: 'ms' },
    peer: { name: `itself, ${count(small)}`, value: round(median(pairs.map((pair) => pair.young))), unit: 'ms' },
    ratio: median(ratios),
    spread: { low: quantile(ratios, 0.25), high: quantile(ratios, 0.75) },
    pairs: pairs.length,
    target: atMost(limit),
    note: 'without loading the code',
  }
}

/** `asr context`, as a person or a script runs it. */
async function commandLine(context: Context, corpora: Corpora, records: number, jsonlMs: number): Promise<Row[]> {
  const program = join(projectRoot, 'dist', 'cli.cjs')
  const work = `asr context, ${count(records)} records`
  if (!existsSync(program)) return [{ work, note: 'dist/cli.cjs is not built' }]
  const store = await corpora.store('linear', records)
  const pairs = Array.from({ length: pairsOf(context, 50) }, () => ({
    node: runNode(['--eval', '0']),
    asr: runNode([program, 'context', SESSION, '--store', store]),
  }))
  const shares = pairs.map(({ node, asr }) => (asr.cpuMs - node.cpuMs) / node.cpuMs)
  const beyond = (figure: 'cpuMs' | 'wallMs'): number =>
    median(pairs.map(({ node, asr }) => asr[figure] - node[figure]))
  const spread = { low: quantile(shares, 0.25), high: quantile(shares, 0.75) }
  return [
    {
      work: `${work}: CPU beyond Node's start`,
      ours: { value: round(beyond('cpuMs')), unit: 'ms' },
      peer: { name: "Node's own start", value: round(median(pairs.map(({ node }) => node.cpuMs))), unit: 'ms' },
      ratio: median(shares),
      spread,
      pairs: pairs.length,
      target: atMost(0.7),
    },
    {
      work: `${work}: time beyond Node's start`,
      ours: { value: round(beyond('wallMs')), unit: 'ms' },
      peer: { name: 'JSONL read again', value: round(jsonlMs), unit: 'ms' },
      ratio: jsonlMs / beyond('wallMs'),
      target: atLeast(100),
    },
  ]
}

/** What a program pays for the library before it has done anything with it: an entry as it is built. */
function importing(context: Context, entry: string, limit?: number): Row {
  const run = (text: string) => runNode(['--input-type=module', '--eval', text])
  const pairs = Array.from({ length: pairsOf(context, 50) }, () => ({
    node: run('0'),
    asr: run(`import ${JSON.stringify(entry)}`),
  }))
  const shares = pairs.map(({ node, asr }) => (asr.cpuMs - node.cpuMs) / node.cpuMs)
  return {
    work: `import '${entry}': CPU beyond Node's start`,
    ours: { value: round(median(pairs.map(({ node, asr }) => asr.cpuMs - node.cpuMs))), unit: 'ms' },
    peer: { name: "Node's own start", value: round(median(pairs.map(({ node }) => node.cpuMs))), unit: 'ms' },
    ratio: median(shares),
    spread: { low: quantile(shares, 0.25), high: quantile(shares, 0.75) },
    pairs: pairs.length,
    ...(limit !== undefined && { target: atMost(limit) }),
  }
}

/** Library against library, without the loading of code. */
async function besidePeers(context: Context, corpora: Corpora, records: number, jsonlMs: number): Promise<Row[]> {
  const times = context.quick ? 3 : 15
  const ours = freshMedian(times, workMs, 'asr view', await corpora.store('linear', records))
  const work = `open and view, ${count(records)} records`
  const row = (name: string, ms: number): Row => ({
    work,
    ours: { value: round(ours), unit: 'ms' },
    peer: { name, value: round(ms), unit: 'ms' },
    ratio: ms / ours,
    note: 'without loading the code',
  })
  return [
    row('JSONL read again', jsonlMs),
    await rowOrReason(work, async () =>
      row('better-sqlite3', freshMedian(times, workMs, 'sqlite view', corpora.sqlite('linear', records))),
    ),
    row('raw level', freshMedian(times, workMs, 'level view', await corpora.level('linear', records))),
  ]
}

/** At the sizes pi bears: building its context takes time by the square of the path. */
async function besidePi(context: Context, corpora: Corpora, records: number): Promise<Row> {
  const times = context.quick ? 3 : 5
  const peer = freshMedian(times, workMs, 'pi view', corpora.pi('linear', records))
  const ours = freshMedian(times, workMs, 'asr view', await corpora.store('linear', records))
  return {
    work: `open and view, ${count(records)} records`,
    ours: { value: round(ours), unit: 'ms' },
    peer: { name: PI, value: round(peer), unit: 'ms' },
    ratio: peer / ours,
    note: 'without loading the code',
  }
}
