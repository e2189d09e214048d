/**
 * What a store does to its log files and its index, step by step, and the disks that a power cut could leave at any of them.
 */
import type { IndexLevel } from '../../src/index/level.js'
import { MemoryStorage } from '../../src/log/storage/memory-storage.js'
import type { LogStorage, StoredFile } from '../../src/log/storage/storage.js'
import type { Random } from './battery.js'
import { type Files, type Rows, rowsOf } from './place.js'

type DiskStep =
  | { kind: 'append'; name: string; bytes: Uint8Array }
  | { kind: 'sync'; name: string }
  | { kind: 'truncate'; name: string; size: number }
  | { kind: 'rename'; from: string; to: string }
  | { kind: 'remove'; name: string }

/** `note`: what the test knows from here on, as a change of its expectations. */
export type Step<Known> = DiskStep | { kind: 'index'; rows: Rows } | { kind: 'note'; change: (known: Known) => void }

/** Passes everything on to a memory, and remembers every change. */
export class RecordingStorage<Known> implements LogStorage {
  readonly steps: Step<Known>[] = []

  constructor(readonly inner = new MemoryStorage()) {}

  note(change: (known: Known) => void): void {
    this.steps.push({ kind: 'note', change })
  }

  append(name: string, bytes: Uint8Array): number {
    this.steps.push({ kind: 'append', name, bytes: bytes.slice() })
    return this.inner.append(name, bytes)
  }

  sync(name: string): void {
    this.inner.sync(name)
    this.steps.push({ kind: 'sync', name })
  }

  truncate(name: string, size: number): void {
    this.steps.push({ kind: 'truncate', name, size })
    this.inner.truncate(name, size)
  }

  rename(from: string, to: string): void {
    this.steps.push({ kind: 'rename', from, to })
    this.inner.rename(from, to)
  }

  remove(name: string): void {
    this.steps.push({ kind: 'remove', name })
    this.inner.remove(name)
  }

  read(name: string, offset: number, length: number): Uint8Array {
    return this.inner.read(name, offset, length)
  }

  size(name: string): number | undefined {
    return this.inner.size(name)
  }

  list(folder: string): StoredFile[] {
    return this.inner.list(folder)
  }

  close(): void {}

  /** Remembers the level as it is after each of its changes. */
  async watch(level: IndexLevel): Promise<IndexLevel> {
    await level.open()
    const batch = level.batch.bind(level) as (...args: unknown[]) => Promise<void>
    const clear = level.clear.bind(level) as (...args: unknown[]) => Promise<void>
    const remembering =
      (call: typeof batch) =>
      async (...args: unknown[]) => {
        await call(...args)
        this.steps.push({ kind: 'index', rows: await rowsOf(level) })
      }
    Object.assign(level, { batch: remembering(batch), clear: remembering(clear) })
    return level
  }
}

/**
 * What a power cut does to each file: nothing; all unsynced is gone, names too; of unsynced bytes the first half is there, or
 * zeros, or all but a page; or of each file and name something else.
 */
export const CUTS = ['keep', 'drop', 'half', 'zero', 'hole', 'mixed'] as const
export type Cut = (typeof CUTS)[number]

interface Inode {
  synced: Uint8Array
  current: Uint8Array
}

const PAGE = 4096

/** Files, their names, and of both what is known to outlive the machine. */
export class Disk {
  #names = new Map<string, Inode>()
  #durableNames = new Map<string, Inode>()

  static of(files: Files): Disk {
    const disk = new Disk()
    for (const [name, bytes] of files) {
      const inode = { synced: bytes, current: bytes }
      disk.#names.set(name, inode)
      disk.#durableNames.set(name, inode)
    }
    return disk
  }

  apply(step: DiskStep): void {
    switch (step.kind) {
      case 'append': {
        const inode = this.#names.get(step.name) ?? { synced: new Uint8Array(0), current: new Uint8Array(0) }
        const grown = new Uint8Array(inode.current.length + step.bytes.length)
        grown.set(inode.current)
        grown.set(step.bytes, inode.current.length)
        inode.current = grown
        this.#names.set(step.name, inode)
        return
      }
      case 'sync': {
        const inode = this.#inode(step.name)
        inode.synced = inode.current
        for (const [name, other] of this.#durableNames) if (other === inode) this.#durableNames.delete(name)
        this.#durableNames.set(step.name, inode)
        return
      }
      case 'truncate': {
        const inode = this.#inode(step.name)
        inode.current = inode.current.slice(0, step.size)
        return
      }
      case 'rename': {
        const inode = this.#inode(step.from)
        this.#names.delete(step.from)
        this.#names.set(step.to, inode)
        return
      }
      default:
        this.#names.delete(step.name)
    }
  }

  /** The files that are there after the machine came up again. */
  after(cut: Cut, random: Random): Files {
    const names = new Map<Inode, string>()
    const inodes = new Set([...this.#names.values(), ...this.#durableNames.values()])
    for (const inode of inodes) {
      const isUndone = cut === 'drop' || (cut === 'mixed' && random.chance(0.5))
      const name = nameIn(isUndone ? this.#durableNames : this.#names, inode)
      if (name !== undefined) names.set(inode, name)
    }
    const taken = new Set(names.values())
    for (const [name, inode] of this.#durableNames) {
      // A file is replaced as its successor takes the name, and not before.
      if (!names.has(inode) && !taken.has(name) && this.#names.has(name)) names.set(inode, name)
    }
    const files: Files = new Map()
    for (const [inode, name] of names) {
      const how = cut === 'mixed' ? random.pick(CUTS.slice(0, 5)) : cut
      // Of two files that would have one name now, the one that was renamed to it.
      if (!files.has(name) || this.#names.get(name) === inode) files.set(name, contentAfter(inode, how))
    }
    return files
  }

  #inode(name: string): Inode {
    const inode = this.#names.get(name)
    if (inode === undefined) throw new Error(`no file ${name}`)
    return inode
  }
}

function nameIn(names: ReadonlyMap<string, Inode>, inode: Inode): string | undefined {
  for (const [name, other] of names) if (other === inode) return name
  return undefined
}

function contentAfter({ synced, current }: Inode, cut: Cut): Uint8Array {
  if (cut === 'keep') return current
  const isLonger = current.length >= synced.length && synced.every((byte, at) => current[at] === byte)
  if (cut === 'drop' || !isLonger) return synced
  const unsynced = current.length - synced.length
  if (cut === 'half') return current.slice(0, synced.length + Math.floor(unsynced / 2))
  const page = cut === 'zero' ? unsynced : Math.min(PAGE, Math.ceil(unsynced / 2))
  return current.slice().fill(0, synced.length, synced.length + page)
}

/** The disk, the index and the knowledge at a step; where that is an append, so many of its bytes are written. */
export interface Moment<Known> {
  disk: Disk
  /** every state the index had, the last one last */
  indexes: Rows[]
  known: Known
}

export function momentOf<Known>(
  before: Files,
  steps: readonly Step<Known>[],
  count: number,
  known: Known,
  part = 1,
): Moment<Known> {
  const disk = Disk.of(before)
  const indexes: Rows[] = []
  for (const [n, step] of steps.slice(0, count).entries()) {
    if (step.kind === 'index') indexes.push(step.rows)
    else if (step.kind === 'note') step.change(known)
    else if (step.kind !== 'append' || n < count - 1) disk.apply(step)
    else disk.apply({ ...step, bytes: step.bytes.subarray(0, Math.ceil(step.bytes.length * part)) })
  }
  return { disk, indexes, known }
}
