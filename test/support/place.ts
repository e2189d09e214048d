/**
 * The files behind a store's place, where it has such.
 */
import type { FileLog } from '../../src/log/files/file-log.js'
import type { FilePlace } from '../../src/log/files/file-place.js'
import type { LogStorage } from '../../src/log/storage/storage.js'
import type { Store } from '../../src/main.js'
import type { StreamStore } from '../../src/store/store.js'
import type { StreamCore } from '../../src/stream/core/stream-core.js'

export function storageOf(store: Store): LogStorage {
  return ((store as StreamStore).environment.place as FilePlace).storage
}

export function fileLogOf({ log }: StreamCore): FileLog {
  return log as FileLog
}
