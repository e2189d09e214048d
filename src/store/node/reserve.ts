/**
 * A little room that a store keeps for the day when the disk is full: to open it takes some, and who can not open it can delete
 * nothing.
 */
import { closeSync, existsSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createFile } from '../../log/storage/node-private.js'

export const RESERVE_FILE = 'reserve'
export const RESERVE_BYTES = 64 * 1024

/** Makes the reserve where it is not there; without room there is none. */
export function keepReserve(folder: string): void {
  const file = join(folder, RESERVE_FILE)
  if (existsSync(file)) return
  try {
    const fd = createFile(file, 'wx')
    try {
      // What does not compress, since some file systems do.
      const bytes = crypto.getRandomValues(new Uint8Array(RESERVE_BYTES))
      if (writeSync(fd, bytes) < bytes.length) giveUpReserve(folder)
    } finally {
      closeSync(fd)
    }
  } catch {
    giveUpReserve(folder)
  }
}

/** Frees the room. */
export function giveUpReserve(folder: string): void {
  rmSync(join(folder, RESERVE_FILE), { force: true })
}
