/**
 * A copy of an index folder in use, for readers that take no lock: tables never change and are linked, the rest is copied.
 * The writer is not asked and does not notice. It lies in the store, where nobody but the store's owner can read it; readers that
 * can not write there have theirs among the system's temporary files. What a killed reader leaves, the next opening removes.
 */
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
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
import { basename, dirname, join } from 'node:path'
import { errnoOf } from '../../log/storage/io-error.js'
import { makeFolder } from '../../log/storage/node-make-folder.js'
import { exactly, FILE_MODE, FOLDER_MODE } from '../../log/storage/node-private.js'
import { isLevelHeld, LEVEL_LOCK } from './index-folder.js'
import { isOpenHere } from './lock.js'
import { isDead, isRunningHere, type ProcessIdentity, processIdentity } from './process-identity.js'

export const READERS_FOLDER = 'readers'
const TEMPORARY_PREFIX = 'asr-index-'

/** A writer would have to retire files in each of them, within milliseconds. */
const TRIES = 5

export interface IndexSnapshot {
  /** to be opened as a level; nobody else has it */
  folder: string
  /** Idempotent; the process's exit does it too. */
  remove(): void
}

const toRemove = new Set<string>()

/** Where a copy can lie, the better place first: the store may have no room for it, or not be ours to write to. */
export const SNAPSHOT_PLACES = ['store', 'temporary'] as const
export type SnapshotPlace = (typeof SNAPSHOT_PLACES)[number]

/** A snapshot of the index, or undefined when there is none to be had there. */
export function snapshotIndex(indexFolder: string, place: SnapshotPlace = 'store'): IndexSnapshot | undefined {
  for (let tries = 0; tries < TRIES; tries++) {
    const folder = makeSnapshotFolder(dirname(indexFolder), place)
    if (folder === undefined) return undefined
    const outcome = tryCopy(indexFolder, folder)
    if (outcome === 'copied') return { folder, remove: () => removeFolder(folder) }
    removeFolder(folder)
    if (outcome === 'unusable') return undefined
  }
  return undefined
}

/** Removes what dead readers left in a store; and among the temporary files, where a snapshot had to be made there. */
export async function sweepSnapshots(store: string, snapshot?: IndexSnapshot): Promise<void> {
  const parent = join(store, READERS_FOLDER)
  await sweep(parent, '')
  removeIfEmpty(parent)
  if (snapshot !== undefined && dirname(snapshot.folder) !== parent) await sweep(tmpdir(), TEMPORARY_PREFIX)
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
  writeFileSync(`${to}/CURRENT`, current, { mode: FILE_MODE })
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

function makeSnapshotFolder(store: string, place: SnapshotPlace): string | undefined {
  if (place === 'temporary') return tryMakeFolder(tmpdir(), TEMPORARY_PREFIX)
  for (let tries = 0; tries < TRIES; tries++) {
    const folder = tryMakeFolder(join(store, READERS_FOLDER), '')
    if (folder !== undefined) return folder
  }
  return undefined
}

/** Undefined where it can't be made: it is not ours to write there, or another reader is just removing the folder above. */
function tryMakeFolder(parent: string, prefix: string): string | undefined {
  try {
    makeFolder(parent)
    const folder = mkdtempSync(join(parent, `${prefix}${nameOf(processIdentity())}.`))
    exactly(() => chmodSync(folder, FOLDER_MODE))
    if (toRemove.size === 0) process.once('exit', removeAll)
    toRemove.add(folder)
    return folder
  } catch {
    return undefined
  }
}

/** Removes snapshots that nobody uses any more. */
async function sweep(parent: string, prefix: string): Promise<void> {
  for (const name of namesIn(parent)) {
    const folder = join(parent, name)
    const reader = name.startsWith(prefix) ? readerOf(name.slice(prefix.length)) : undefined
    if (reader === undefined || toRemove.has(folder) || (await isInUse(folder, reader))) continue
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A process that runs may have lost the thread that read, or have the number of one that is dead: the lock tells. */
async function isInUse(folder: string, reader: ProcessIdentity): Promise<boolean> {
  if (isDead(reader)) return false
  const lock = join(folder, LEVEL_LOCK)
  if (!existsSync(lock)) return isRunningHere(reader) // in the making
  return nameOf(reader) === nameOf(processIdentity()) ? isOpenHere(lock) : isLevelHeld(folder)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function nameOf({ pid, start, boot, pidNamespace }: ProcessIdentity): string {
  return [pid, start, boot, pidNamespace].join('.')
}

/** The inverse of `nameOf`, with what is random behind it; undefined for any other name. */
function readerOf(name: string): ProcessIdentity | undefined {
  const match = /^(\d+)\.(\d+)\.([0-9a-f-]*)\.(\d*)\.\w+$/.exec(name)
  return match === null ? undefined : { pid: Number(match[1]), start: match[2], boot: match[3], pidNamespace: match[4] }
}

function removeFolder(folder: string): void {
  try {
    // There are only files in it: to have whole trees removed takes longer than to make the snapshot.
    for (const name of readdirSync(folder)) unlinkSync(`${folder}/${name}`)
    rmdirSync(folder)
  } catch {
    rmSync(folder, { recursive: true, force: true })
  }
  if (basename(dirname(folder)) === READERS_FOLDER) removeIfEmpty(dirname(folder))
  toRemove.delete(folder)
  if (toRemove.size === 0) process.removeListener('exit', removeAll)
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // another reader has its own there
  }
}

function removeAll(): void {
  for (const folder of [...toRemove]) {
    try {
      removeFolder(folder)
    } catch {
      // level may still be writing there; the process ends, and the system clears its temporary files
    }
  }
}
