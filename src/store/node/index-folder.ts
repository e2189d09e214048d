/**
 * The index's level in a store's folder, and the kernel's lock on `index/LOCK` that level takes: who has the index open
 * holds the store. An opener that finds the lock taken has changed nothing of the store; and what is in `index/` is put aside
 * only by who holds the lock, which is why `LOCK` itself always stays where it is.
 *
 * Level has no call to take the lock alone. It looks at it first of all, though, and before it reads anything: that tells
 * whether it is free (`refuseWhereHeld`). And a level in another folder holds it, whose `LOCK` is the same file (`whileHeld`).
 */
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { Level } from 'level'
import { AsrError, type Diagnostic, isAsrError } from '../../base/error.js'
import type { IndexLevel } from '../../index/level.js'
import { settleRows } from '../../index/rows.js'
import { makeFolder } from '../../log/storage/node-make-folder.js'
import { createFile, FILE_MODE } from '../../log/storage/node-private.js'
import { HOLDING_PREFIX, lockedError } from './lock.js'
import { diedOpening, markOpening } from './opening-mark.js'

export const INDEX_FOLDER = 'index'
export const DAMAGED_FOLDER = `${INDEX_FOLDER}.damaged`
export const LEVEL_LOCK = 'LOCK'

/**
 * Opens the index of a folder, or makes it, and with it takes the kernel's lock. Level must never make a new database over an
 * old one whose CURRENT is lost: it would delete its tables. What does not open is put aside; the logs hold all it said.
 * @throws ASR_LOCKED, ASR_NO_SPACE, ASR_READ_ONLY, ASR_IO
 */
export async function openIndex(folder: string, notices: Diagnostic[]): Promise<IndexLevel> {
  const index = join(folder, INDEX_FOLDER)
  const rebuilt = (why: string): void => {
    notices.push({ code: 'index_rebuilt', message: `${why}; ${index} is built again from the logs`, severity: 'note' })
  }
  await refuseWhereHeld(folder)
  if (isUsed(index) && diedOpening(folder)) {
    await putIndexAside(folder)
    rebuilt('a process died while it opened the index')
  }
  const opened = markOpening(folder)
  try {
    if (isUsed(index)) {
      try {
        return await openLevel(folder, false)
      } catch (error) {
        if (isAsrError(error)) throw error // it says nothing of the index itself
        await putIndexAside(folder)
        rebuilt(`the index did not open (${(error as Error).message})`)
      }
    }
    makeFolder(index)
    return await openLevel(folder, true)
  } finally {
    opened()
  }
}

/** Moves what is in the index's folder to another, in place of what was put there before. @throws ASR_LOCKED */
export async function putIndexAside(folder: string): Promise<void> {
  const index = join(folder, INDEX_FOLDER)
  const aside = join(folder, DAMAGED_FOLDER)
  await whileHeld(folder, () => {
    rmSync(aside, { recursive: true, force: true })
    makeFolder(aside)
    for (const name of readdirSync(index)) if (name !== LEVEL_LOCK) renameSync(join(index, name), join(aside, name))
  })
}

/** From so many bytes on, level's newest rows are worth a table. */
const SETTLED_BYTES = 256 * 1024

/** Closes the index, and with it lets the kernel's lock go. */
export async function closeIndex(folder: string, level: IndexLevel): Promise<void> {
  await settle(level, join(folder, INDEX_FOLDER))
  await level.close()
  tightenIndex(folder)
}

/** Has level put its newest rows into a table, as each opening would do again; without them nothing is lost. */
async function settle(level: IndexLevel, index: string): Promise<void> {
  if (unsettledBytes(index) >= SETTLED_BYTES) await settleRows(level)
}

function unsettledBytes(index: string): number {
  try {
    const logs = readdirSync(index).filter((name) => name.endsWith('.log'))
    return logs.reduce((bytes, name) => bytes + statSync(join(index, name)).size, 0)
  } catch {
    return 0 // it is about to be found out elsewhere
  }
}

/** Room for the new files of an empty level, and for its newest rows again: what opening writes. */
const OPENING_BYTES = 24 * 1024

/** Whether an index can be opened with so much room. */
export function opensWithin(folder: string, bytes: number): boolean {
  return OPENING_BYTES + unsettledBytes(join(folder, INDEX_FOLDER)) <= bytes
}

/** Level makes its files for everybody to read; their folder keeps others out until they are mended here. */
export function tightenIndex(folder: string): void {
  const index = join(folder, INDEX_FOLDER)
  try {
    for (const name of readdirSync(index)) {
      const file = join(index, name)
      const stats = lstatSync(file)
      if (stats.isFile() && (stats.mode & 0o777) !== FILE_MODE) chmodSync(file, FILE_MODE)
    }
  } catch {
    // a file that level retired, or no rights to change modes: the folder's own mode is what counts
  }
}

/** Refuses where somebody has the index open; level looks at the lock and, with these options, at nothing else. */
async function refuseWhereHeld(folder: string): Promise<void> {
  const index = join(folder, INDEX_FOLDER)
  if (!existsSync(index)) return
  try {
    await makeLevel(index).open({ createIfMissing: false, errorIfExists: true })
  } catch (error) {
    const refusal = refusalOf(folder, error)
    if (refusal !== undefined) throw refusal
  }
}

/** Whether some process has the level of a folder open; not to be asked by a process that has. */
export async function isLevelHeld(location: string): Promise<boolean> {
  try {
    await makeLevel(location).open({ createIfMissing: false, errorIfExists: true })
    return false
  } catch (error) {
    return isLocked(error)
  }
}

/** Works on a folder's index while nobody can open it, this process neither. @throws ASR_LOCKED */
async function whileHeld(folder: string, work: () => void): Promise<void> {
  const release = await holdIndex(folder)
  try {
    work()
  } finally {
    await release()
  }
}

/** Takes the kernel's lock of a folder's index, and leaves the index alone; what is returned lets go. @throws ASR_LOCKED, ASR_NO_SPACE */
export async function holdIndex(folder: string): Promise<() => Promise<void>> {
  const lock = join(folder, INDEX_FOLDER, LEVEL_LOCK)
  const other = join(folder, `${HOLDING_PREFIX}${randomUUID()}`)
  const remove = (): void => rmSync(other, { recursive: true, force: true })
  makeFolder(other)
  try {
    if (!existsSync(lock)) closeSync(createFile(lock, 'a+'))
    sameFile(lock, join(other, LEVEL_LOCK))
    const level = makeLevel(other)
    await level.open()
    return () => level.close().finally(remove)
  } catch (error) {
    remove()
    throw refusalOf(folder, error) ?? error
  }
}

function sameFile(file: string, name: string): void {
  try {
    linkSync(file, name)
  } catch {
    symlinkSync(resolve(file), name) // a file system without links
  }
}

/** @throws ASR_LOCKED, ASR_NO_SPACE, ASR_READ_ONLY, ASR_IO, or what level says of its own files */
async function openLevel(folder: string, createIfMissing: boolean): Promise<IndexLevel> {
  const level = makeLevel(join(folder, INDEX_FOLDER))
  try {
    await level.open({ createIfMissing })
    return level
  } catch (error) {
    throw refusalOf(folder, error) ?? (error as Error).cause ?? error
  }
}

/** What keeps level from opening, when that is not its own files' fault; of most, level tells in words only. */
function refusalOf(folder: string, error: unknown): AsrError | undefined {
  if (isLocked(error)) return lockedError(folder, error)
  const cause = ((error as Error).cause ?? error) as Error
  const { message } = cause
  if (/No space left|quota exceeded/i.test(message)) return new AsrError('ASR_NO_SPACE', message, { cause })
  if (/Permission denied|Read-only file system/.test(message)) return new AsrError('ASR_READ_ONLY', message, { cause })
  return /Too many open files/.test(message) ? new AsrError('ASR_IO', message, { cause }) : undefined
}

export function makeLevel(location: string): Level<string, Uint8Array> {
  return new Level<string, Uint8Array>(location, { keyEncoding: 'utf8', valueEncoding: 'view' })
}

/** More than the lock file of a first opening. */
export function isUsed(index: string): boolean {
  return (
    existsSync(index) && readdirSync(index).some((name) => name !== LEVEL_LOCK && name !== 'LOG' && name !== 'LOG.old')
  )
}

function isLocked(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } }
  return code === 'LEVEL_LOCKED' || cause?.code === 'LEVEL_LOCKED'
}
