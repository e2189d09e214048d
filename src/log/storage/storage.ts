/**
 * What the log asks of the place where its bytes lie: Node files, memory, a browser's storage, in tests a faulty one.
 * Names are relative, with `/`. Nothing here knows what the bytes mean.
 */
import type { MaybePromise } from '../../base/flow.js'

export interface StoredFile {
  name: string
  size: number
}

export interface LogStorage {
  /** Adds bytes at the file's end, creating it when absent. Resolves with the size afterwards: another size than expected is another writer. */
  append(name: string, bytes: Uint8Array): MaybePromise<number>
  /** At most `length` bytes from `offset`; fewer only where the file ends. The caller may keep them. Rejects when the file is absent. */
  read(name: string, offset: number, length: number): MaybePromise<Uint8Array>
  /** Undefined when the file is absent. */
  size(name: string): MaybePromise<number | undefined>
  /** After this the file's bytes, and that it exists, survive a power cut. */
  sync(name: string): MaybePromise<void>
  /**
   * Writes what reads give from an offset on to the same place again, taking no room, so that the next sync passes over none of
   * it: after a sync that failed, a system may hold bytes as written that never were. Without it the file is copied.
   */
  rewrite?(name: string, from: number): MaybePromise<void>
  truncate(name: string, size: number): MaybePromise<void>
  rename(from: string, to: string): MaybePromise<void>
  remove(name: string): MaybePromise<void>
  /**
   * The files directly in a folder, in no order; empty when the folder is absent. With a prefix only those are asked for whose
   * names there begin so: a storage may spare itself the others.
   */
  list(folder: string, prefix?: string): MaybePromise<StoredFile[]>
  /** Releases what is held open. */
  close(): MaybePromise<void>
}
