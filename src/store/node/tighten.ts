/**
 * Stores that were made when others could still read them.
 */
import { chmodSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic } from '../../base/error.js'
import { STREAMS_FOLDER } from '../../log/files/segment.js'
import { errnoOf } from '../../log/storage/io-error.js'
import { FILE_MODE, FOLDER_MODE } from '../../log/storage/node-private.js'
import { FORMAT_FILE, type FolderState, isOurs } from './inspect.js'

const OTHERS = 0o077

/**
 * Closes a store to everybody but its owner, and says so where it was open. Of a store that was there before, FORMAT comes last
 * and tells that it was done: who opens the folder to others afterwards means it, and is let be.
 */
export function tightenStore(folder: string, state: FolderState, notices: Diagnostic[]): void {
  const format = join(folder, FORMAT_FILE)
  const witness = state === 'sound' ? format : join(folder, STREAMS_FOLDER)
  if (process.platform === 'win32' || (state !== 'empty' && !isOpenToOthers(witness))) return
  try {
    chmodSync(folder, FOLDER_MODE)
    if (state === 'empty') return
    for (const name of readdirSync(folder)) if (isOurs(name)) tighten(join(folder, name))
    if (state === 'sound') chmodSync(format, FILE_MODE)
  } catch {
    return // another user's folder, or a file system without modes: not ours to close
  }
  const message = `others could read ${folder}; its files are now 0600 and its folders 0700. Open it again as you like: this is done once`
  notices.push({ code: 'permissions_tightened', message, severity: 'note' })
}

/** A link may lead anywhere: what it names is not the store's to close. A reader's copy of the index may go on the way. */
function tighten(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined || stats.isSymbolicLink()) return
  try {
    chmodSync(path, stats.isDirectory() ? FOLDER_MODE : FILE_MODE)
    if (stats.isDirectory()) for (const name of readdirSync(path)) tighten(join(path, name))
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

function isOpenToOthers(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) !== 0
}
