/**
 * A log's bytes in files. The calls are synchronous: a write takes a twentieth of the time that a promise of one takes. A sync
 * alone waits for the disk, for as long as that takes, and would hold the event loop: it is a promise.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { AsrError } from '../../base/error.js'
import { turns } from '../../base/turn.js'
import { assertFileName } from './file-name.js'
import { errnoOf } from './io-error.js'
import { makeFolder } from './node-make-folder.js'
import { createFile } from './node-private.js'
import type { LogStorage, StoredFile } from './storage.js'

/** A store of many streams stays far below the usual limit of 1,024 descriptors a process. */
const DESCRIPTORS_MAX = 256
const REWRITE_BYTES = 1024 * 1024

interface OpenFile {
  fd: number
  /** tells whether the name still means this file */
  inode: number
  /** how many syncs of it are under way: it is closed behind the last */
  syncs: number
  isForgotten: boolean
}

/** Failures are Node's own errors, with their `code`; `ioError` names them for the engine. */
export class NodeStorage implements LogStorage {
  readonly #root: string
  readonly #readOnly: boolean
  /** falls when the process or the machine has no more: others need some, too */
  #descriptorsMax: number
  /** In order of use, the latest last. */
  readonly #open = new Map<string, OpenFile>()
  /** Names whose folder entries are not known to survive a power cut yet. */
  readonly #unsynced = new Set<string>()

  constructor(root: string, options: { readOnly?: boolean; descriptors?: number } = {}) {
    this.#root = resolve(root)
    this.#readOnly = options.readOnly ?? false
    this.#descriptorsMax = options.descriptors ?? DESCRIPTORS_MAX
  }

  append(name: string, bytes: Uint8Array): number {
    this.#assertWritable()
    const { fd } = this.#file(name, true)
    let written = 0
    while (written < bytes.length) written += writeSync(fd, bytes, written, bytes.length - written)
    const { size, nlink } = fstatSync(fd)
    if (nlink === 0) throw absent(name)
    return size
  }

  read(name: string, offset: number, length: number): Uint8Array {
    const { fd } = this.#file(name, false)
    // Not of Buffer's shared pool, and not zeroed only to be overwritten.
    const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer)
    let filled = 0
    while (filled < length) {
      const count = readSync(fd, bytes, filled, length - filled, offset + filled)
      if (count === 0) return bytes.slice(0, filled)
      filled += count
    }
    return bytes
  }

  size(name: string): number | undefined {
    return this.#seen(name, statSync(this.#path(name), { throwIfNoEntry: false }))
  }

  /** The size of what lies at a name now. Where another process put a new file in place, what is read next is of that one. */
  #seen(name: string, stats: Stats | undefined): number | undefined {
    if (stats !== undefined && this.#open.has(name) && this.#open.get(name)?.inode !== stats.ino) this.#forget(name)
    return stats?.isFile() ? stats.size : undefined
  }

  async sync(name: string): Promise<void> {
    this.#assertWritable()
    const file = this.#file(name, false)
    file.syncs++
    try {
      await called((done) => fdatasync(file.fd, done))
    } finally {
      file.syncs--
      closeUnused(file)
    }
    if (!this.#unsynced.has(name)) return
    const home = dirname(name)
    // With the folder all entries are synced that are in it by now, of however many files.
    const entries = [...this.#unsynced].filter((other) => dirname(other) === home)
    for (let folder = dirname(this.#path(name)); ; folder = dirname(folder)) {
      await this.syncFolder(folder)
      if (folder === this.#root) break
    }
    for (const entry of entries) this.#unsynced.delete(entry)
  }

  async rewrite(name: string, from: number): Promise<void> {
    this.#assertWritable()
    // The descriptor that is held writes at the file's end, wherever it is told to.
    const fd = this.#withDescriptors(() => openSync(this.#path(name), 'r+'))
    try {
      for (let at = from; ; ) {
        const bytes = this.read(name, at, REWRITE_BYTES)
        if (bytes.length === 0) return
        for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, at + done)
        at += bytes.length
        turns.spend(bytes.length)
        if (turns.isOver()) await turns.next()
      }
    } finally {
      closeSync(fd)
    }
  }

  truncate(name: string, size: number): void {
    this.#assertWritable()
    ftruncateSync(this.#file(name, false).fd, size)
  }

  rename(from: string, to: string): void {
    this.#assertWritable()
    const target = this.#path(to)
    makeFolder(dirname(target))
    renameSync(this.#path(from), target)
    this.#forget(to)
    const file = this.#open.get(from)
    if (file !== undefined) {
      this.#open.delete(from)
      this.#open.set(to, file)
    }
    this.#unsynced.delete(from)
    this.#unsynced.add(to)
  }

  remove(name: string): void {
    this.#assertWritable()
    unlinkSync(this.#path(name))
    this.#forget(name)
    this.#unsynced.delete(name)
  }

  async list(folder: string, prefix = ''): Promise<StoredFile[]> {
    const path = folder === '' ? this.#root : this.#path(folder)
    const files: StoredFile[] = []
    for (const entry of this.#withDescriptors(() => entriesOf(path))) {
      if (!entry.name.startsWith(prefix) || !entry.isFile()) continue
      if (turns.isOver()) await turns.next()
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`
      const size = this.#seen(name, statSync(join(path, entry.name), { throwIfNoEntry: false }))
      if (size !== undefined) files.push({ name, size })
    }
    return files
  }

  /** Has the names in a folder survive a power cut. */
  protected async syncFolder(path: string): Promise<void> {
    const fd = this.#withDescriptors(() => openSync(path, 'r'))
    try {
      await called((done) => fsync(fd, done))
    } finally {
      closeSync(fd)
    }
  }

  close(): void {
    for (const name of [...this.#open.keys()]) this.#forget(name)
  }

  #path(name: string): string {
    assertFileName(name)
    return `${this.#root}/${name}` // as `join` makes it of a sound name, without looking at each character
  }

  #assertWritable(): void {
    if (this.#readOnly) throw new AsrError('ASR_READ_ONLY', `${this.#root} is open for reading only`)
  }

  #file(name: string, create: boolean): OpenFile {
    const held = this.#open.get(name)
    if (held !== undefined) {
      this.#open.delete(name)
      this.#open.set(name, held)
      return held
    }
    this.#rest(this.#descriptorsMax - 1)
    const fd = this.#withDescriptors(() => this.#openFd(name, create))
    const file = { fd, inode: fstatSync(fd).ino, syncs: 0, isForgotten: false }
    this.#open.set(name, file)
    return file
  }

  /** Closes the files that rest the longest, until so many are open. */
  #rest(count: number): void {
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= count) return
      this.#forget(oldest)
    }
  }

  /** Opens something; where no descriptor is left, files that rest are closed for it, and fewer are held from then on. */
  #withDescriptors<T>(open: () => T): T {
    for (;;) {
      try {
        return open()
      } catch (error) {
        if (!['EMFILE', 'ENFILE'].includes(errnoOf(error) ?? '') || this.#open.size === 0) throw error
        this.#descriptorsMax = Math.max(1, Math.floor(this.#open.size / 2))
        this.#rest(this.#descriptorsMax - 1)
      }
    }
  }

  #openFd(name: string, create: boolean): number {
    const path = this.#path(name)
    try {
      return openSync(path, this.#readOnly ? constants.O_RDONLY : constants.O_RDWR | constants.O_APPEND)
    } catch (error) {
      if (!create || errnoOf(error) !== 'ENOENT') throw error
    }
    makeFolder(dirname(path))
    const fd = createFile(path, 'a+')
    this.#unsynced.add(name)
    return fd
  }

  #forget(name: string): void {
    const file = this.#open.get(name)
    if (file === undefined) return
    this.#open.delete(name)
    file.isForgotten = true
    closeUnused(file)
  }
}

function closeUnused({ fd, syncs, isForgotten }: OpenFile): void {
  if (isForgotten && syncs === 0) closeSync(fd)
}

/** A call of Node that takes a callback, as a promise. */
function called(call: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => call((error) => (error ? reject(error) : resolve())))
}

function entriesOf(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

function absent(name: string): Error {
  return Object.assign(new Error(`${name} was removed while it was written to`), { code: 'ENOENT' })
}
