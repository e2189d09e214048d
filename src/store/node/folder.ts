/**
 * A store in a folder: whether it is one, who holds it, its index in level, its logs in files.
 */

import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import 'msgpackr' // whole, for its addon: what was packed is read faster with it, in every store of the process
import { type AsrError, type Diagnostic, isAsrError } from '../../base/error.js'
import { toHex } from '../../base/hash.js'
import type { IndexLevel } from '../../index/level.js'
import { MemoryIndex } from '../../index/memory-index.js'
import { createRowCache } from '../../index/row-cache.js'
import type { LogPlace } from '../../log/api.js'
import { FilePlace } from '../../log/files/file-place.js'
import { guardStorage } from '../../log/storage/guarded-storage.js'
import { ioError } from '../../log/storage/io-error.js'
import { makeFolder } from '../../log/storage/node-make-folder.js'
import { createFile } from '../../log/storage/node-private.js'
import { NodeStorage } from '../../log/storage/node-storage.js'
import type { Environment } from '../../stream/core/environment.js'
import type { StoreOptions } from '../api.js'
import { sweep } from '../removal/deletion.js'
import { formatLine } from './format-file.js'
import {
  closeIndex,
  DAMAGED_FOLDER,
  holdIndex,
  INDEX_FOLDER,
  isUsed,
  makeLevel,
  openIndex,
  opensWithin,
  putIndexAside,
  tightenIndex,
} from './index-folder.js'
import { SNAPSHOT_PLACES, snapshotIndex, sweepSnapshots } from './index-snapshot.js'
import { FORMAT_FILE, type FolderState, hasLogs, inspect, notAStore } from './inspect.js'
import { FolderLock, isOfThisBoot } from './lock.js'
import { processIdentity } from './process-identity.js'
import { giveUpReserve, keepReserve, RESERVE_BYTES } from './reserve.js'
import { tightenStore } from './tighten.js'

export interface OpenedFolder {
  environment: Environment
  release: () => Promise<void>
}

/** @throws ASR_FORMAT (newer, or not a store), ASR_LOCKED, ASR_READ_ONLY, ASR_NO_SPACE, ASR_IO */
export async function openFolder(folder: string, options: StoreOptions): Promise<OpenedFolder> {
  try {
    return options.readOnly ? await openToRead(folder, options) : await openToWrite(folder, options)
  } catch (error) {
    throw ioError(error, `opening the store in ${folder}`, options.readOnly ? 'read' : 'write')
  }
}

async function openToRead(folder: string, { acceptLoss }: StoreOptions): Promise<OpenedFolder> {
  if (inspect(folder) === 'empty') throw notAStore(folder, 'there is no store')
  const notices: Diagnostic[] = []
  noteMissingIndex(folder, notices)
  const index = await openSnapshot(folder)
  if (index.snapshot === undefined) noteMissingCopy(folder, notices)
  await sweepSnapshots(folder, index.snapshot)
  const place = new FilePlace(guardStorage(new NodeStorage(folder, { readOnly: true })))
  return {
    environment: {
      ...makeEnvironment(place, index.level, notices, { readOnly: true, acceptLoss }, () => undefined),
      withIndexNow: async (work) => {
        const now = await openSnapshot(folder)
        return work(now.level).finally(now.close)
      },
    },
    release: async () => {
      await index.close()
      await place.close()
    },
  }
}

/** The index as it is at this moment, for whoever does not hold the store; an empty one where no copy of it opens. */
async function openSnapshot(folder: string) {
  for (const place of SNAPSHOT_PLACES) {
    const snapshot = snapshotIndex(join(folder, INDEX_FOLDER), place)
    const level = snapshot && (await openOrUndefined(snapshot.folder))
    if (snapshot && level) return { snapshot, level, close: () => level.close().finally(snapshot.remove) }
    snapshot?.remove()
  }
  const level = new MemoryIndex()
  return { level, close: () => level.close() }
}

/** Without its index a reader is right all the same, but for what only the index knew. */
function noteMissingCopy(folder: string, notices: Diagnostic[]): void {
  const index = join(folder, INDEX_FOLDER)
  if (!isUsed(index)) return
  const message = `no copy of ${index} could be made and opened; what is lost from the end of a log goes unnoticed`
  notices.push({ code: 'index_in_memory', message, severity: 'note' })
}

async function openToWrite(folder: string, options: StoreOptions): Promise<OpenedFolder> {
  const state = inspect(folder)
  if (state === 'empty' && options.create === false) throw notAStore(folder, 'there is no store')
  makeFolder(folder)
  const lock = FolderLock.acquire(folder)
  const notices: Diagnostic[] = []
  let index: HeldIndex | undefined
  try {
    noteMissingIndex(folder, notices)
    index = await openIndexWithin(folder, notices)
    const left = lock.announce()
    settleFolder(folder, state, notices)
    await sweepSnapshots(folder)
    const guard = (): void => lock.check()
    const place = new FilePlace(guardStorage(new NodeStorage(folder), guard))
    const environment: Environment = {
      ...makeEnvironment(place, index.level, notices, options, guard),
      powerCut: left !== undefined && !isOfThisBoot(left),
      forgetCopies: () => forgetCopies(folder),
      withoutIndex: index.failure,
    }
    return { environment, release: () => releaseAll(folder, environment, index as HeldIndex, lock) }
  } catch (error) {
    await index?.close()
    lock.release()
    throw error
  }
}

/** The index, and with it the kernel's lock; with a failure, the lock alone. */
interface HeldIndex {
  level: IndexLevel
  close(): Promise<void>
  failure?: AsrError
}

/**
 * The index of a folder. On a full disk the reserve is given up for it; and where even that is too little, the lock is held without
 * it, so that streams can be deleted.
 */
async function openIndexWithin(folder: string, notices: Diagnostic[]): Promise<HeldIndex> {
  const open = async (): Promise<HeldIndex> => {
    const level = await openIndex(folder, notices)
    return { level, close: () => closeIndex(folder, level) }
  }
  let failure: AsrError
  try {
    return await open()
  } catch (error) {
    if (!isFull(error)) throw error
    failure = ioError(error, 'opening the index')
  }
  giveUpReserve(folder)
  if (opensWithin(folder, RESERVE_BYTES)) return open()
  return { level: new MemoryIndex(), close: await holdIndex(folder), failure }
}

function isFull(error: unknown): boolean {
  return isAsrError(ioError(error, 'opening'), 'ASR_NO_SPACE')
}

function noteMissingIndex(folder: string, notices: Diagnostic[]): void {
  const index = join(folder, INDEX_FOLDER)
  if (isUsed(index) || !hasLogs(folder)) return
  const message = `${index} was missing; it is built again from the logs`
  notices.push({ code: 'index_rebuilt', message, severity: 'note' })
}

/** What holds of a store's folder once it is ours: it is marked as a store, and its owner's alone. */
function settleFolder(folder: string, seen: FolderState, notices: Diagnostic[]): void {
  // Another may have made a store of it while this one was on its way to the lock.
  const state = seen === 'sound' ? seen : inspect(folder)
  tightenIndex(folder)
  tightenStore(folder, state, notices)
  if (state !== 'sound') writeFormat(folder, state, notices)
  keepReserve(folder)
}

async function releaseAll(folder: string, environment: Environment, index: HeldIndex, lock: FolderLock): Promise<void> {
  const { isLevelBroken, hasDeleted, withoutIndex } = environment
  try {
    await index.close()
    if (withoutIndex !== undefined && hasDeleted) await finishDeletions(folder, environment)
    if (isLevelBroken) await putIndexAside(folder).catch(unlessTaken)
    if (isLevelBroken && hasDeleted) await forgetCopies(folder)
  } finally {
    await environment.place.close()
    lock.release()
  }
}

/** There is room now. Otherwise the next opening does it: the names of what was deleted are kept. */
async function finishDeletions(folder: string, environment: Environment): Promise<void> {
  try {
    const level = await openIndex(folder, [])
    try {
      await sweep({ ...environment, level, withoutIndex: undefined })
    } finally {
      await closeIndex(folder, level)
    }
  } catch (error) {
    if (!isFull(error)) unlessTaken(error)
  }
}

/** Copies of the index that are kept for people, or that dead readers left. */
async function forgetCopies(folder: string): Promise<void> {
  rmSync(join(folder, DAMAGED_FOLDER), { recursive: true, force: true })
  await sweepSnapshots(folder)
}

/** Who took the store the moment it was free has made up its own mind about the index. */
function unlessTaken(error: unknown): void {
  if (!isAsrError(error, 'ASR_LOCKED')) throw error
}

function makeEnvironment(
  place: LogPlace,
  level: IndexLevel,
  notices: Diagnostic[],
  options: StoreOptions,
  guard: () => void,
): Environment {
  return {
    place,
    level,
    notices,
    lifetime: { isOver: false },
    guard,
    cache: createRowCache(),
    durability: options.durability ?? 'process',
    readOnly: options.readOnly ?? false,
    acceptLoss: options.acceptLoss ?? false,
    boot: processIdentity().boot,
    powerCut: false,
    mayWriteLevel: true, // a reader's is a snapshot of its own
  }
}

function writeFormat(folder: string, state: FolderState, notices: Diagnostic[]): void {
  const file = join(folder, FORMAT_FILE)
  const storeId = toHex(crypto.getRandomValues(new Uint8Array(16)))
  const fd = createFile(`${file}.new`, 'w')
  try {
    writeSync(fd, formatLine(storeId))
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  renameSync(`${file}.new`, file)
  syncFolder(folder)
  if (state === 'unmarked')
    notices.push({
      code: 'format_rewritten',
      message: `${file} was missing or damaged, and was written again`,
      severity: 'note',
    })
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

async function openOrUndefined(location: string): Promise<IndexLevel | undefined> {
  const level = makeLevel(location)
  try {
    await level.open({ createIfMissing: false })
    return level
  } catch {
    return undefined
  }
}
