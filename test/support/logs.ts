/**
 * Log storages that watch, change or fail what goes through them.
 */

import type { MaybePromise } from '../../src/base/flow.js'
import type { LogStorage } from '../../src/log/storage/storage.js'

export interface CountingLog extends LogStorage {
  bytesRead: number
}

/** Passes everything on, and counts the bytes read. */
export function countingLog(log: LogStorage): CountingLog {
  return {
    ...passing(log),
    bytesRead: 0,
    async read(name, offset, length) {
      const bytes = await log.read(name, offset, length)
      this.bytesRead += bytes.length
      return bytes
    },
  }
}

/** Fails appends while `broken`, as a disk that takes nothing. */
export interface BreakableLog extends LogStorage {
  broken: boolean
}

export function breakableLog(log: LogStorage): BreakableLog {
  return {
    ...passing(log),
    broken: false,
    append(name: string, bytes: Uint8Array): MaybePromise<number> {
      if (this.broken) throw Object.assign(new Error('i/o error'), { code: 'EIO' })
      return log.append(name, bytes)
    },
  }
}

function passing(log: LogStorage): LogStorage {
  return {
    append: (name, bytes) => log.append(name, bytes),
    read: (name, offset, length) => log.read(name, offset, length),
    size: (name) => log.size(name),
    sync: (name) => log.sync(name),
    truncate: (name, size) => log.truncate(name, size),
    rename: (from, to) => log.rename(from, to),
    remove: (name) => log.remove(name),
    list: (folder) => log.list(folder),
    close: () => log.close(),
  }
}

/** The only log file of a store with one stream, and its bytes. */
export async function onlyLogFile(log: LogStorage): Promise<{ name: string; bytes: Uint8Array }> {
  const files = (await log.list('streams')).filter(({ name }) => name.endsWith('.log'))
  if (files.length !== 1) throw new Error(`${files.length} log files`)
  const [{ name, size }] = files
  return { name, bytes: await log.read(name, 0, size) }
}

/** Puts other bytes in the file's place. */
export async function overwrite(log: LogStorage, name: string, bytes: Uint8Array): Promise<void> {
  await log.truncate(name, 0)
  await log.append(name, bytes)
}

/** Where a text stands in bytes. */
export function indexOfText(bytes: Uint8Array, text: string): number {
  const wanted = new TextEncoder().encode(text)
  for (let at = bytes.indexOf(wanted[0]); at !== -1; at = bytes.indexOf(wanted[0], at + 1)) {
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return at
  }
  throw new Error(`${text} is not in the log`)
}
