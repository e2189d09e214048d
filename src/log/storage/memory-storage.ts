/**
 * A log's bytes in memory: for tests, and for stores that need not outlive their process.
 */

import { GrowableBytes } from '../../base/growable-bytes.js'
import { assertFileName } from './file-name.js'
import type { LogStorage, StoredFile } from './storage.js'

export class MemoryStorage implements LogStorage {
  readonly #files = new Map<string, GrowableBytes>()

  append(name: string, bytes: Uint8Array): number {
    let file = this.#files.get(name)
    if (file === undefined) {
      assertFileName(name)
      file = new GrowableBytes()
      this.#files.set(name, file)
    }
    file.append(bytes)
    return file.length
  }

  read(name: string, offset: number, length: number): Uint8Array {
    return this.#existing(name)
      .view(offset, offset + length)
      .slice()
  }

  size(name: string): number | undefined {
    assertFileName(name)
    return this.#files.get(name)?.length
  }

  sync(name: string): void {
    this.#existing(name)
  }

  rewrite(name: string): void {
    this.#existing(name)
  }

  truncate(name: string, size: number): void {
    this.#existing(name).resize(size)
  }

  rename(from: string, to: string): void {
    assertFileName(to)
    const file = this.#existing(from)
    this.#files.delete(from)
    this.#files.set(to, file)
  }

  remove(name: string): void {
    this.#existing(name)
    this.#files.delete(name)
  }

  list(folder: string, prefix = ''): StoredFile[] {
    if (folder !== '') assertFileName(folder)
    const above = folder === '' ? '' : `${folder}/`
    const files: StoredFile[] = []
    for (const [name, file] of this.#files) {
      if (name.startsWith(above + prefix) && !name.includes('/', above.length)) files.push({ name, size: file.length })
    }
    return files
  }

  /** Holds nothing open: the bytes stay, for whoever opens a store on them again. */
  close(): void {}

  #existing(name: string): GrowableBytes {
    assertFileName(name)
    const file = this.#files.get(name)
    if (file === undefined) throw Object.assign(new Error(`no such file: ${name}`), { code: 'ENOENT' })
    return file
  }
}
