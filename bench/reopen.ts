/**
 * Opening again after kill -9, and building the index again from the log.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Corpora, importInto } from './corpora.js'
import { type Context, count, round, sized } from './figure.js'
import { fresh } from './fresh.js'
import { median, quantile } from './pairs.js'
import { Random } from './random.js'
import { oursAtMost, type Row } from './row.js'

const writer = fileURLToPath(new URL('endless-writer.js', import.meta.url))

export async function reopen(context: Context): Promise<Row[]> {
  const corpora = new Corpora(context)
  return [await afterKill(context, corpora), rebuilt(context, await corpora.store('linear', rebuiltRecords(context)))]
}

async function afterKill(context: Context, corpora: Corpora): Promise<Row> {
  const folder = join(context.temp, 'reopen')
  mkdirSync(folder)
  const store = join(folder, 'store')
  await importInto(store, corpora.jsonl('linear', sized(context, 10_000, 2_000)))
  const random = new Random(3)
  const times: number[] = []
  const kills = sized(context, 40, 5)
  for (let kill = 0; kill < kills; kill++) {
    const acknowledged = await writeUntilKilled(store, 20 + random.below(500))
    const { workMs, result } = fresh('asr reopen', store)
    if (result < acknowledged) throw new Error(`${acknowledged - result} acknowledged records are lost`)
    times.push(workMs)
  }
  return {
    work: 'opening after kill -9 in the middle of writing',
    ours: { value: round(median(times)), unit: 'ms' },
    target: oursAtMost(50),
    note: `median of ${kills} kills, most ${round(quantile(times, 1))} ms; no acknowledged record lost`,
  }
}

/** The last position that the writer said was stored. */
async function writeUntilKilled(store: string, ms: number): Promise<number> {
  const child = spawn(execPath, [writer, store], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.setEncoding('latin1')
  child.stdout.on('data', (text: string) => {
    said = (said + text).slice(-100)
  })
  await once(child.stdout, 'data')
  await sleep(ms)
  child.kill('SIGKILL')
  await once(child, 'close')
  return Number(/(\d+)\n[^\n]*$/.exec(said)?.[1] ?? 0)
}

function rebuiltRecords(context: Context): number {
  return sized(context, 1_000_000, 20_000)
}

function rebuilt(context: Context, store: string): Row {
  const records = rebuiltRecords(context)
  const copy = `${store}.rebuilt`
  // Nobody else may find the store in between.
  renameSync(store, copy)
  const { workMs } = fresh('asr rebuild', copy)
  renameSync(copy, store)
  return {
    work: `index built again from the log, ${count(records)} records`,
    ours: { value: round((workMs / 1_000) * (1_000_000 / records)), unit: 's' },
    target: oursAtMost(8),
    note: 'a million records',
  }
}
