/**
 * What is made on a disk is its owner's alone, whatever the umask of the process: transcripts hold what people typed and
 * what agents read.
 */
import { fchmodSync, openSync } from 'node:fs'

export const FILE_MODE = 0o600
export const FOLDER_MODE = 0o700

/** Makes a file and opens it, with flags of `open` that create one. */
export function createFile(path: string, flags: 'wx' | 'a+' | 'w'): number {
  const fd = openSync(path, flags, FILE_MODE)
  exactly(() => fchmodSync(fd, FILE_MODE))
  return fd
}

/** The mode asked for lets nobody else in. This only gives back what a strange umask took from the owner, where the system can. */
export function exactly(change: () => void): void {
  try {
    change()
  } catch {
    // a file system without modes
  }
}
