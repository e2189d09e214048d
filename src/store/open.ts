/**
 * Opens a store, in a folder or in what the caller brings.
 */
import { argument, place } from '../base/arguments.js'
import { probeDescriptors } from '../base/host.js'
import type { IndexLevel } from '../index/level.js'
import { MemoryIndex } from '../index/memory-index.js'
import { createRowCache } from '../index/row-cache.js'
import type { LogPlace } from '../log/api.js'
import { FilePlace } from '../log/files/file-place.js'
import { guardStorage } from '../log/storage/guarded-storage.js'
import { ioError } from '../log/storage/io-error.js'
import { MemoryStorage } from '../log/storage/memory-storage.js'
import type { LogStorage } from '../log/storage/storage.js'
import type { Environment } from '../stream/core/environment.js'
import type { Store, StoreLocation, StoreOptions } from './api.js'
import { openOptions } from './options.js'
import { StreamStore } from './store.js'

/**
 * More than loading what opens folders ever has open at a time. Node remembers a file that did not load, so a process that is out of
 * descriptors at its first opening could never open a store: it is not tried unless so many are left.
 */
const DESCRIPTORS_TO_LOAD = 16

/** What opens folders, with level and its addon: loaded by the first opening of a folder, since it costs as much as all the rest. */
let folders: Promise<typeof import('./node/folder.js')> | undefined

/**
 * Opens, or makes, a store in a folder, or in any log storage, or any place of logs, with a level for the index.
 * @throws ASR_FORMAT (newer, or not a store), ASR_LOCKED (with the holder), ASR_READ_ONLY, ASR_NO_SPACE, ASR_IO
 */
export async function openStore(location: StoreLocation, given?: StoreOptions): Promise<Store> {
  argument('openStore', 'location', location, place)
  const options = openOptions(given)
  if (typeof location === 'string') {
    const { openFolder } = await foldersLoaded()
    const { environment, release } = await openFolder(location, options)
    return openOrRelease(new StreamStore(environment, release), release)
  }
  const { index, boot = 'memory' } = location
  await index.open()
  const environment: Environment = {
    place: placeOf(location),
    level: index,
    notices: [],
    lifetime: { isOver: false },
    guard: () => undefined,
    cache: createRowCache(),
    durability: options.durability ?? 'process',
    readOnly: options.readOnly ?? false,
    acceptLoss: options.acceptLoss ?? false,
    boot,
    powerCut: false,
    mayWriteLevel: options.readOnly !== true,
  }
  return new StreamStore(environment, async () => undefined).open()
}

function placeOf({ place: own, log }: { place?: LogPlace; log?: LogStorage }): LogPlace {
  return own ?? new FilePlace(guardStorage(log as LogStorage))
}

async function foldersLoaded(): Promise<typeof import('./node/folder.js')> {
  try {
    if (folders === undefined) probeDescriptors(DESCRIPTORS_TO_LOAD)
    folders ??= import('./node/folder.js')
    return await folders
  } catch (error) {
    folders = undefined
    throw ioError(error, 'loading what opens folders', 'read')
  }
}

async function openOrRelease(store: StreamStore, release: () => Promise<void>): Promise<Store> {
  try {
    return await store.open()
  } catch (error) {
    await release()
    throw error
  }
}

/** A fresh place in memory; it can be opened again after `close`, and is gone with the process. */
export function memoryLocation(): { log: MemoryStorage; index: IndexLevel } {
  return { log: new MemoryStorage(), index: new MemoryIndex() }
}
