/**
 * A store in a folder: whether it is one, who holds it, its index in level, its logs in files.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import { MemoryLevel } from 'memory-level'
import { createRowCache } from '../index/row-cache.js'
import { compactRows, type IndexLevel } from '../index/rows.js'
import { guardStorage } from '../log/guarded-storage.js'
import { errnoOf, ioError } from '../log/io-error.js'
import { makeFolder } from '../log/node-make-folder.js'
import { NodeStorage } from '../log/node-storage.js'
import { NATIVE_FOLDER, STAGING_FOLDER, STREAMS_FOLDER, TRASH_FOLDER } from '../log/segment.js'
import type { LogStorage } from '../log/storage.js'
import { AsrError, type Diagnostic, isAsrError } from '../record/error.js'
import { toHex } from '../record/hash.js'
import type { StoreOptions } from './api.js'
import type { Environment } from './environment.js'
import { formatLine, parseFormatLine } from './format-file.js'
import { FolderLock, isLockFile, isOfThisBoot, lockedError } from './node-lock.js'
import { diedOpening, isOpeningMark, markOpening } from './node-opening.js'
import { processIdentity } from './node-process-identity.js'
import { snapshotIndex } from './node-snapshot.js'

const FORMAT_FILE = 'FORMAT'
const INDEX_FOLDER = 'index'
const OUR_NAMES = [
  `${FORMAT_FILE}.new`,
  INDEX_FOLDER,
  `${INDEX_FOLDER}.damaged`,
  STREAMS_FOLDER,
  NATIVE_FOLDER,
  STAGING_FOLDER,
  TRASH_FOLDER,
]

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
  const snapshot = snapshotIndex(join(folder, INDEX_FOLDER))
  const level = (snapshot && (await openOrUndefined(snapshot.folder))) ?? new MemoryLevel()
  const storage = guardStorage(new NodeStorage(folder, { readOnly: true }))
  return {
    environment: makeEnvironment(storage, level, notices, { readOnly: true, acceptLoss }, () => undefined),
    release: async () => {
      await level.close()
      snapshot?.remove()
      await storage.close()
    },
  }
}

async function openToWrite(folder: string, options: StoreOptions): Promise<OpenedFolder> {
  const state = inspect(folder)
  if (state === 'empty' && options.create === false) throw notAStore(folder, 'there is no store')
  makeFolder(folder)
  const lock = FolderLock.acquire(folder)
  const notices: Diagnostic[] = []
  let level: IndexLevel | undefined
  try {
    level = await openIndex(folder, notices)
    const left = lock.announce()
    if (state !== 'sound') writeFormat(folder, state, notices)
    const storage = guardStorage(new NodeStorage(folder))
    const environment: Environment = {
      ...makeEnvironment(storage, level, notices, options, () => lock.check()),
      powerCut: left !== undefined && !isOfThisBoot(left),
    }
    return { environment, release: () => releaseAll(folder, environment, storage, lock) }
  } catch (error) {
    await level?.close()
    lock.release()
    throw error
  }
}

async function releaseAll(
  folder: string,
  environment: Environment,
  storage: LogStorage,
  lock: FolderLock,
): Promise<void> {
  try {
    await settleIndex(environment.level, join(folder, INDEX_FOLDER))
    await environment.level.close()
    if (environment.isLevelBroken) putAside(join(folder, INDEX_FOLDER))
  } finally {
    await storage.close()
    lock.release()
  }
}

/** From so many bytes on, level's newest rows are worth a table. */
const SETTLED_BYTES = 256 * 1024
/** Behind all keys: to compact nothing has level write its newest rows, and no more. */
const BEHIND_ALL = '\uffff'

/** Has level put its newest rows into a table, as each opening would do again; without them nothing is lost. */
async function settleIndex(level: IndexLevel, folder: string): Promise<void> {
  let bytes = 0
  try {
    for (const name of readdirSync(folder)) if (name.endsWith('.log')) bytes += statSync(join(folder, name)).size
  } catch {
    return // it is about to be found out elsewhere
  }
  if (bytes >= SETTLED_BYTES) await compactRows(level, BEHIND_ALL, BEHIND_ALL)
}

function makeEnvironment(
  storage: LogStorage,
  level: IndexLevel,
  notices: Diagnostic[],
  options: StoreOptions,
  guard: () => void,
): Environment {
  return {
    storage,
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

type FolderState = 'empty' | 'sound' | 'unmarked'

/** Whether a folder is a store, may become one, or is something else. @throws ASR_FORMAT */
function inspect(folder: string): FolderState {
  let names: string[]
  try {
    if (!statSync(folder).isDirectory()) throw notAStore(folder, 'it is a file')
    names = readdirSync(folder)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'empty'
    throw error
  }
  if (names.includes(FORMAT_FILE)) {
    const storeId = parseFormatLine(readFileSync(join(folder, FORMAT_FILE), 'latin1'))
    if (storeId !== undefined) return 'sound'
    if (names.includes(STREAMS_FOLDER)) return 'unmarked'
    throw notAStore(folder, 'its FORMAT is not ours')
  }
  const others = names.filter((name) => !isLockFile(name) && !isOpeningMark(name))
  if (others.length === 0) return 'empty'
  // Without FORMAT: logs make a store; our own names without a log are a store that was never finished.
  if (others.includes(STREAMS_FOLDER) && hasLogs(folder)) return 'unmarked'
  if (others.every((name) => OUR_NAMES.includes(name))) return 'empty'
  throw notAStore(folder, 'it holds something else')
}

function hasLogs(folder: string): boolean {
  return readdirSync(join(folder, STREAMS_FOLDER)).some((name) => /^[0-9a-f]{32}-[0-9a-f]{16}-[0-9]{6}\.log/.test(name))
}

function writeFormat(folder: string, state: FolderState, notices: Diagnostic[]): void {
  const file = join(folder, FORMAT_FILE)
  const storeId = toHex(crypto.getRandomValues(new Uint8Array(16)))
  writeFileSync(`${file}.new`, formatLine(storeId), { flush: true })
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

/**
 * Level must never make a new database over an old one whose CURRENT is lost: it would delete its tables. What does not
 * open is put aside; the logs hold all it said.
 */
async function openIndex(folder: string, notices: Diagnostic[]): Promise<IndexLevel> {
  const index = join(folder, INDEX_FOLDER)
  const rebuilt = (why: string): void => {
    notices.push({ code: 'index_rebuilt', message: `${why}; ${index} is built again from the logs`, severity: 'note' })
  }
  if (isUsed(index) && diedOpening(folder)) {
    putAside(index)
    rebuilt('a process died while it opened the index')
  }
  const opened = markOpening(folder)
  try {
    if (isUsed(index)) {
      try {
        return await openLevel(folder, index, false)
      } catch (error) {
        if (isAsrError(error)) throw error // it says nothing of the index itself
        putAside(index)
        rebuilt(`the index did not open (${(error as Error).message})`)
      }
    }
    return await openLevel(folder, index, true)
  } finally {
    opened()
  }
}

/** @throws ASR_LOCKED, ASR_NO_SPACE, ASR_READ_ONLY, ASR_IO, or what level says of its own files */
async function openLevel(folder: string, index: string, createIfMissing: boolean): Promise<IndexLevel> {
  const level = makeLevel(index)
  try {
    await level.open({ createIfMissing })
    return level
  } catch (error) {
    if (isLocked(error)) throw lockedError(folder, error)
    const cause = (error as Error).cause ?? error
    throw surroundingsError(cause as Error) ?? cause
  }
}

/** What keeps level from opening, when that is not its own files' fault; level tells it in words only. */
function surroundingsError(cause: Error): AsrError | undefined {
  const { message } = cause
  if (/No space left|quota exceeded/i.test(message)) return new AsrError('ASR_NO_SPACE', message, { cause })
  if (/Permission denied|Read-only file system/.test(message)) return new AsrError('ASR_READ_ONLY', message, { cause })
  return /Too many open files/.test(message) ? new AsrError('ASR_IO', message, { cause }) : undefined
}

function makeLevel(location: string): Level<string, Uint8Array> {
  return new Level<string, Uint8Array>(location, { keyEncoding: 'utf8', valueEncoding: 'view' })
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

/** More than the lock file of a first opening. */
function isUsed(index: string): boolean {
  return existsSync(index) && readdirSync(index).some((name) => name !== 'LOCK' && name !== 'LOG' && name !== 'LOG.old')
}

function putAside(index: string): void {
  const aside = `${index}.damaged`
  rmSync(aside, { recursive: true, force: true })
  renameSync(index, aside)
}

function isLocked(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } }
  return code === 'LEVEL_LOCKED' || cause?.code === 'LEVEL_LOCKED'
}

function notAStore(folder: string, why: string): AsrError {
  return new AsrError('ASR_FORMAT', `${folder} is not a store: ${why}`)
}
