/**
 * A storage whose failures are the engine's own errors, whoever made it; and which changes nothing for a writer whose store was
 * taken over.
 */
import { AsrError } from '../../base/error.js'
import type { MaybePromise } from '../../base/flow.js'
import { ioError } from './io-error.js'
import type { LogStorage } from './storage.js'

/**
 * The same storage; what it throws is named by `ioError`. `guard` is asked before what is there is cut, renamed or removed;
 * before an append, whoever appends asks, and asks again behind it. Once closed it does nothing more: it would open files that
 * nobody closes.
 */
export function guardStorage(storage: LogStorage, guard: () => void = () => undefined): LogStorage {
  let isClosed = false
  const guarded = <T>(doing: string, access: 'read' | 'write', call: () => MaybePromise<T>): MaybePromise<T> => {
    if (isClosed) throw new AsrError('ASR_CLOSED', `the store was closed before ${doing}`)
    try {
      const result = call()
      if (!(result instanceof Promise)) return result
      return result.catch((error: unknown) => {
        throw ioError(error, doing, access)
      })
    } catch (error) {
      throw ioError(error, doing, access)
    }
  }
  const changing = <T>(doing: string, call: () => MaybePromise<T>): MaybePromise<T> =>
    guarded(doing, 'write', () => {
      guard()
      return call()
    })
  return {
    append: (name, bytes) => guarded(`writing ${name}`, 'write', () => storage.append(name, bytes)),
    read: (name, offset, length) => guarded(`reading ${name}`, 'read', () => storage.read(name, offset, length)),
    size: (name) => guarded(`looking at ${name}`, 'read', () => storage.size(name)),
    sync: (name) => guarded(`syncing ${name}`, 'write', () => storage.sync(name)),
    ...(storage.rewrite && {
      rewrite: (name: string, from: number) => changing(`writing ${name} again`, () => storage.rewrite?.(name, from)),
    }),
    truncate: (name, size) => changing(`cutting ${name}`, () => storage.truncate(name, size)),
    rename: (from, to) => changing(`renaming ${from}`, () => storage.rename(from, to)),
    remove: (name) => changing(`removing ${name}`, () => storage.remove(name)),
    list: (folder, prefix) => guarded(`listing ${folder}`, 'read', () => storage.list(folder, prefix)),
    close: () => {
      if (isClosed) return
      const closed = guarded('closing the storage', 'write', () => storage.close())
      isClosed = true
      return closed
    },
  }
}
