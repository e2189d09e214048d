/**
 * A storage that fails on demand, and that forgets what was not synced when the power is cut.
 */

import type { MaybePromise } from '../../src/base/flow.js'
import type { LogStorage, StoredFile } from '../../src/log/storage/storage.js'

export type Method = Exclude<keyof LogStorage, 'close'>

export interface Fault {
  method: Method
  /** the first call to fail, from 1, counted from when the fault is set */
  call?: number
  /** the system's name for the failure */
  code?: string
  /** all later calls fail too, until `heal` */
  forGood?: boolean
  /** of an append: so many bytes are written before it fails */
  written?: number
  /** only calls for such files count */
  name?: RegExp
}

/**
 * What a power cut leaves of bytes that were not synced: nothing (nor the file, when it was never synced), the first
 * half, zeros, or all but a page that begins them.
 */
export const DAMAGES = ['drop', 'half', 'zero', 'hole'] as const
export type Damage = (typeof DAMAGES)[number]

const PAGE_BYTES = 4096

/** Of a file: what survives a power cut. */
interface Durable {
  exists: boolean
  bytes: number
  /** Ranges whose sync failed: a later sync that succeeds does not write them again. */
  lost: [from: number, to: number][]
}

/** Answers at once where the storage inside does. Renames and removals survive a power cut without a sync. */
export class FaultyStorage implements LogStorage {
  readonly #faults = new Map<Fault, number>()
  readonly #calls = new Map<Method, number>()
  readonly #durable = new Map<string, Durable>()

  constructor(readonly inner: LogStorage) {}

  /** Adds a fault: by default the next call fails, once, with EIO. */
  fail(fault: Fault): void {
    this.#faults.set(fault, 0)
  }

  heal(): void {
    this.#faults.clear()
  }

  /** How often a method was called, failures included. */
  calls(method: Method): number {
    return this.#calls.get(method) ?? 0
  }

  /** Leaves in the storage inside what would be on the disk; what is there afterwards is durable. */
  async powerCut(damage: Damage): Promise<void> {
    for (const [name, durable] of this.#durable) {
      const size = await this.inner.size(name)
      if (size === undefined) continue
      if (damage === 'drop' && !durable.exists) {
        await this.inner.remove(name)
        continue
      }
      const bytes = damaged(await this.inner.read(name, 0, size), durable, damage)
      await this.inner.truncate(name, 0)
      await this.inner.append(name, bytes)
    }
    this.#durable.clear()
  }

  append(name: string, bytes: Uint8Array): MaybePromise<number> {
    const fault = this.#due('append', name)
    return after(this.#track(name), () => {
      if (fault === undefined) return this.inner.append(name, bytes)
      if (fault.written === undefined) throw failure(fault, name)
      return after(this.inner.append(name, bytes.subarray(0, fault.written)), () => {
        throw failure(fault, name)
      })
    })
  }

  read(name: string, offset: number, length: number): MaybePromise<Uint8Array> {
    this.#throwIfDue('read', name)
    return this.inner.read(name, offset, length)
  }

  size(name: string): MaybePromise<number | undefined> {
    this.#throwIfDue('size', name)
    return this.inner.size(name)
  }

  sync(name: string): MaybePromise<void> {
    const fault = this.#due('sync', name)
    return after(this.inner.size(name), (size) => {
      const durable = this.#durable.get(name)
      if (fault !== undefined) {
        if (durable !== undefined && size !== undefined) durable.lost.push([durable.bytes, size])
        throw failure(fault, name)
      }
      return after(this.inner.sync(name), () => {
        if (durable === undefined || size === undefined) return
        durable.exists = true
        durable.bytes = size
      })
    })
  }

  rewrite(name: string, from: number): MaybePromise<void> {
    this.#throwIfDue('rewrite', name)
    return after(this.inner.rewrite?.(name, from), () => {
      const durable = this.#durable.get(name)
      if (durable === undefined) return
      const again = durable.lost.filter(([, to]) => to > from)
      durable.lost = durable.lost.filter(([, to]) => to <= from)
      durable.bytes = again.reduce((least, [start]) => Math.min(least, start), durable.bytes)
    })
  }

  truncate(name: string, size: number): MaybePromise<void> {
    this.#throwIfDue('truncate', name)
    return after(this.#track(name), () =>
      after(this.inner.truncate(name, size), () => {
        const durable = this.#durable.get(name)
        if (durable === undefined) return
        durable.bytes = Math.min(durable.bytes, size)
        durable.lost = durable.lost.map(([from, to]) => [Math.min(from, size), Math.min(to, size)])
      }),
    )
  }

  rename(from: string, to: string): MaybePromise<void> {
    this.#throwIfDue('rename', from)
    return after(this.inner.rename(from, to), () => {
      const durable = this.#durable.get(from)
      this.#durable.delete(from)
      this.#durable.delete(to)
      if (durable !== undefined) this.#durable.set(to, durable)
    })
  }

  remove(name: string): MaybePromise<void> {
    this.#throwIfDue('remove', name)
    return after(this.inner.remove(name), () => {
      this.#durable.delete(name)
    })
  }

  list(folder: string, prefix?: string): MaybePromise<StoredFile[]> {
    this.#throwIfDue('list', folder)
    return this.inner.list(folder, prefix)
  }

  close(): MaybePromise<void> {
    return this.inner.close()
  }

  /** Counts the call; a fault when it is to fail. */
  #due(method: Method, name: string): Fault | undefined {
    this.#calls.set(method, this.calls(method) + 1)
    let due: Fault | undefined
    for (const [fault, seen] of this.#faults) {
      if (fault.method !== method || fault.name?.test(name) === false) continue
      this.#faults.set(fault, seen + 1)
      const first = fault.call ?? 1
      if (seen + 1 === first || (fault.forGood === true && seen + 1 > first)) due ??= fault
    }
    return due
  }

  #throwIfDue(method: Method, name: string): void {
    const fault = this.#due(method, name)
    if (fault !== undefined) throw failure(fault, name)
  }

  /** What a file holds before its first change here counts as durable. */
  #track(name: string): MaybePromise<void> {
    if (this.#durable.has(name)) return
    return after(this.inner.size(name), (size) => {
      this.#durable.set(name, { exists: size !== undefined, bytes: size ?? 0, lost: [] })
    })
  }
}

function damaged(bytes: Uint8Array, durable: Durable, damage: Damage): Uint8Array {
  const unsynced = bytes.length - durable.bytes
  for (const [from, to] of durable.lost) bytes.fill(0, from, to)
  if (damage === 'drop') return bytes.subarray(0, durable.bytes)
  if (damage === 'half') return bytes.subarray(0, durable.bytes + Math.floor(unsynced / 2))
  return bytes.fill(0, durable.bytes, damage === 'zero' ? bytes.length : durable.bytes + PAGE_BYTES)
}

function after<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

function failure({ method, code = 'EIO' }: Fault, name: string): Error {
  return Object.assign(new Error(`${code}: injected into ${method} of ${name}`), { code, syscall: method })
}
