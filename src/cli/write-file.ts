/**
 * A file that is there whole or not at all.
 */
import { open, realpath, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AsrError } from '../base/error.js'

/** What people and agents said is nobody else's to read; a file that is there keeps the mode that it was given. */
const MODE = 0o600
const PERMISSIONS = 0o777

/** Writes beside the file, then takes its place; a device or pipe is written as it is. @throws ASR_IO */
export async function writeWhole(file: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const target = await realpath(file).catch(() => file)
  const there = await stat(target).catch(() => undefined)
  if (there && !there.isFile()) return writeTo(target, 'w', undefined, chunks)
  const beside = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`)
  try {
    await writeTo(beside, 'wx', there === undefined ? MODE : there.mode & PERMISSIONS, chunks)
    await rename(beside, target).catch((error: Error) => {
      throw unwritable(target, error)
    })
  } catch (error) {
    await unlink(beside).catch(() => {})
    throw error
  }
}

async function writeTo(
  file: string,
  flags: string,
  mode: number | undefined,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  const handle = await open(file, flags, mode).catch((error: Error) => {
    throw unwritable(file, error)
  })
  try {
    // The umask took what it takes; where the file system has no modes, that is all there is.
    if (mode !== undefined) await handle.chmod(mode).catch(() => {})
    for await (const chunk of chunks) {
      await handle.writeFile(chunk).catch((error: Error) => {
        throw unwritable(file, error)
      })
    }
  } finally {
    await handle.close()
  }
}

function unwritable(file: string, error: Error): AsrError {
  return new AsrError('ASR_IO', `cannot write ${file}: ${error.message}`, { cause: error })
}
