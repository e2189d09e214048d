/**
 * A copy of an index folder in use, for readers that take no lock: tables never change and are linked, the rest is copied.
 * The writer is not asked and does not notice.
 */
import {
  constants,
  copyFileSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errnoOf } from '../log/io-error.js'

/** A writer would have to retire files in each of them, within milliseconds. */
const TRIES = 5

export interface IndexSnapshot {
  /** to be opened as a level; nobody else has it */
  folder: string
  /** Idempotent; the process's exit does it too. */
  remove(): void
}

const toRemove = new Set<string>()

/**
 * A snapshot of the index, or undefined when there is none to be had: then the reader does without, as the log says
 * all that an index does.
 */
export function snapshotIndex(indexFolder: string): IndexSnapshot | undefined {
  for (let tries = 0; tries < TRIES; tries++) {
    const folder = makeFolder()
    if (folder === undefined) return undefined
    const outcome = tryCopy(indexFolder, folder)
    if (outcome === 'copied') return { folder, remove: () => removeFolder(folder) }
    removeFolder(folder)
    if (outcome === 'unusable') return undefined
  }
  return undefined
}

type Outcome = 'copied' | 'changed' | 'unusable'

function tryCopy(from: string, to: string): Outcome {
  let current: string
  try {
    current = readFileSync(`${from}/CURRENT`, 'latin1')
  } catch {
    return 'unusable'
  }
  const manifest = /^(MANIFEST-\d+)\n$/.exec(current)?.[1]
  if (manifest === undefined) return 'unusable'
  try {
    return copyFiles(from, to, manifest, current) ? 'copied' : 'changed'
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? 'changed' : 'unusable'
  }
}

/**
 * Copies what the manifest may name at the moment it is read: tables are linked before, since the writer may retire one
 * right after, and those that came meanwhile are linked after. False when a log was retired, and its rows with it.
 */
function copyFiles(from: string, to: string, manifest: string, current: string): boolean {
  const before = readdirSync(from)
  const linked = new Set<string>()
  for (const table of before.filter(isTable)) {
    if (takeTable(from, to, table)) linked.add(table)
  }
  copyFileSync(`${from}/${manifest}`, `${to}/${manifest}`)
  const after = readdirSync(from)
  for (const table of after.filter(isTable)) {
    if (!linked.has(table) && !takeTable(from, to, table)) return false
  }
  for (const log of after.filter(isLog)) copyFileSync(`${from}/${log}`, `${to}/${log}`)
  if (!before.filter(isLog).every((log) => after.includes(log))) return false
  if (readFileSync(`${from}/CURRENT`, 'latin1') !== current) return false
  writeFileSync(`${to}/CURRENT`, current)
  return true
}

/**
 * False when the table is gone: what the manifest says next does not need it. The link has the older of the two suffixes
 * that level reads: whoever opens the snapshot numbers its own tables from where the copied manifest ends, and would
 * otherwise open a table that the writer just made for writing, and empty it for both.
 */
function takeTable(from: string, to: string, table: string): boolean {
  const source = `${from}/${table}`
  const target = join(to, table.replace(/\.ldb$/, '.sst'))
  try {
    try {
      linkSync(source, target)
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') throw error
      // Another file system, or one that has no links, or does not give them to us.
      copyFileSync(source, target, constants.COPYFILE_FICLONE)
    }
    return true
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false
    throw error
  }
}

function isTable(name: string): boolean {
  return name.endsWith('.ldb') || name.endsWith('.sst')
}

function isLog(name: string): boolean {
  return /^\d+\.log$/.test(name)
}

function makeFolder(): string | undefined {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'asr-index-'))
    if (toRemove.size === 0) process.once('exit', removeAll)
    toRemove.add(folder)
    return folder
  } catch {
    return undefined
  }
}

function removeFolder(folder: string): void {
  try {
    // There are only files in it: to have whole trees removed takes longer than to make the snapshot.
    for (const name of readdirSync(folder)) unlinkSync(`${folder}/${name}`)
    rmdirSync(folder)
  } catch {
    rmSync(folder, { recursive: true, force: true })
  }
  toRemove.delete(folder)
  if (toRemove.size === 0) process.removeListener('exit', removeAll)
}

function removeAll(): void {
  for (const folder of toRemove) {
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch {
      // level may still be writing there; the process ends, and the system clears its temporary files
    }
  }
}
