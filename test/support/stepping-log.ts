/**
 * A log storage that lets a test in before each of its calls.
 */
import type { LogStorage } from '../../src/log/storage/storage.js'

type Step = (method: string, name: string) => unknown

export class SteppingLog implements LogStorage {
  /** asked before each call, which waits for it */
  onStep: Step | undefined

  constructor(private readonly inner: LogStorage) {}

  append = (name: string, bytes: Uint8Array) => {
    const kept = bytes.slice() // the caller uses its buffer again
    return this.pass('append', name, () => this.inner.append(name, kept))
  }
  read = (name: string, offset: number, length: number) =>
    this.pass('read', name, () => this.inner.read(name, offset, length))
  size = (name: string) => this.pass('size', name, () => this.inner.size(name))
  sync = (name: string) => this.pass('sync', name, () => this.inner.sync(name))
  truncate = (name: string, size: number) => this.pass('truncate', name, () => this.inner.truncate(name, size))
  rename = (from: string, to: string) => this.pass('rename', from, () => this.inner.rename(from, to))
  remove = (name: string) => this.pass('remove', name, () => this.inner.remove(name))
  list = (folder: string) => this.pass('list', folder, () => this.inner.list(folder))
  close = () => this.inner.close()

  private async pass<T>(method: string, name: string, call: () => T | Promise<T>): Promise<T> {
    await this.onStep?.(method, name)
    return call()
  }
}
