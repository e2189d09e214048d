/**
 * Streams made for the benchmark, as JSONL and in each kind of store. Each is made once a run, on first demand.
 */
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { openStore, type StoredRecord } from '../src/main.js'
import { type Context, projectRoot } from './figure.js'
import { headerOf, Records, type RecordsOptions } from './generate.js'
import { LineWriter } from './line-writer.js'
import { batchesOf } from './peers/jsonl.js'
import { LevelStore } from './peers/level.js'
import { writePiSession } from './peers/pi.js'
import { SqliteStore } from './peers/sqlite.js'

export const SESSION = 'bench'
/** What stands behind the compaction, alike in every stream. */
const TAIL_RECORDS = 200

/** `linear`: short records; `real`: the real shape; `branchy`: a real branched session over and over. */
export type Kind = 'linear' | 'real' | 'branchy'

export class Corpora {
  private readonly folder: string

  constructor(context: Context) {
    this.folder = join(context.temp, 'corpora')
    mkdirSync(this.folder, { recursive: true })
  }

  jsonl(kind: Kind, records: number): string {
    return this.once(`${kind}-${records}.jsonl`, (file) => {
      const writer = new LineWriter(file)
      writer.write(headerOf(SESSION))
      if (kind === 'branchy') writeBranchy(writer, records, this.session('claude-branched'))
      else writeLinear(writer, records, kind === 'linear' ? 'short' : 'real')
      writer.close()
    })
  }

  /** A session of real shape: the real one where it lies beside the project, else the one with made words. */
  session(name: string): string {
    const real = join(projectRoot, '..', 'shared', 'data', `${name}.asr.jsonl`)
    if (existsSync(real)) return real
    const made = join(projectRoot, 'test', 'corpus', `${name}.asr.jsonl.gz`)
    return this.once(`${name}.asr.jsonl`, (file) => writeFileSync(file, gunzipSync(readFileSync(made))))
  }

  async store(kind: Kind, records: number): Promise<string> {
    const jsonl = this.jsonl(kind, records)
    return this.onceLater(`${kind}-${records}.store`, (folder) => importInto(folder, jsonl))
  }

  sqlite(kind: Kind, records: number): string {
    const jsonl = this.jsonl(kind, records)
    return this.once(`${kind}-${records}.sqlite`, (file) => {
      const store = SqliteStore.open(file)
      for (const batch of batchesOf(jsonl)) store.append(batch)
      store.close()
    })
  }

  async level(kind: Kind, records: number): Promise<string> {
    const jsonl = this.jsonl(kind, records)
    return this.onceLater(`${kind}-${records}.level`, async (folder) => {
      const store = await LevelStore.open(folder)
      for (const batch of batchesOf(jsonl)) await store.append(batch)
      await store.close()
    })
  }

  pi(kind: Kind, records: number): string {
    const jsonl = this.jsonl(kind, records)
    return this.once(`${kind}-${records}.pi.jsonl`, (file) => writePiSession(jsonl, file))
  }

  private once(name: string, make: (path: string) => void): string {
    const path = join(this.folder, name)
    if (existsSync(path)) return path
    make(`${path}.new`)
    renameSync(`${path}.new`, path)
    return path
  }

  private async onceLater(name: string, make: (path: string) => Promise<void>): Promise<string> {
    const path = join(this.folder, name)
    if (existsSync(path)) return path
    await make(`${path}.new`)
    renameSync(`${path}.new`, path)
    return path
  }
}

export async function importInto(folder: string, jsonl: string): Promise<void> {
  const store = await openStore(folder)
  await store.importJsonl(createReadStream(jsonl, { highWaterMark: 1024 * 1024 }))
  await store.close()
}

/** Bytes of a file, or of all files below a folder. */
export function bytesOf(path: string): number {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}

function writeLinear(writer: LineWriter, records: number, shape: RecordsOptions['shape']): void {
  const before = new Records({ seed: 1, shape, ids: 'uuid' })
  for (let n = records - 1 - TAIL_RECORDS; n > 0; n--) writer.write(before.next())
  writeTail(writer)
}

function writeTail(writer: LineWriter): void {
  const tail = new Records({ seed: 2, shape: 'short', ids: 'uuid' })
  writer.write(tail.compaction())
  for (const record of tail.take(TAIL_RECORDS)) writer.write(record)
}

/** The branched session again and again, each copy's first record a child of the last record before it. */
function writeBranchy(writer: LineWriter, records: number, branched: string): void {
  const lines = readFileSync(branched, 'utf8').trimEnd().split('\n').slice(1)
  let last: string | null = null
  for (let written = 0, copy = 0; written < records - 1 - TAIL_RECORDS; copy++) {
    for (const line of lines.slice(0, records - 1 - TAIL_RECORDS - written)) {
      const record = copyOf(JSON.parse(line) as StoredRecord, copy)
      if (record.parentId === null) record.parentId = last
      writer.write(record)
      if (record.type !== 'head') last = record.id
      written++
    }
  }
  writeTail(writer)
}

const NAMES = ['id', 'parentId', 'supersedes', 'targetId', 'recordId', 'messageId', 'callId', 'planId']

function copyOf(record: StoredRecord, copy: number): StoredRecord {
  const renamed: StoredRecord = { ...record }
  delete (renamed as { seq?: number }).seq
  for (const name of NAMES) if (typeof renamed[name] === 'string') renamed[name] = `${renamed[name]}~${copy}`
  return renamed
}
