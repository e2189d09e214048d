/**
 * Deleting a log for good: its files, what stands beside them, and its rows in the index, as far as level still holds any value
 * of them. The files wait in `trash/` meanwhile, so that whoever opens the store after a crash knows what was going, and goes on.
 */

import { isAsrError } from '../../base/error.js'
import { purgeLog } from '../../index/rows.js'
import { RecordLog } from '../../log/files/record-log.js'
import type { LogFiles } from '../../log/files/segment.js'
import { groupLogs, listLogs, nativeFile, STREAMS_FOLDER, TRASH_FOLDER } from '../../log/files/segment.js'
import type { LogStorage, StoredFile } from '../../log/storage/storage.js'
import { type Environment, noteBrokenLevel } from '../../stream/core/environment.js'
import type { StreamCore } from '../../stream/core/stream-core.js'

/**
 * Deletes all files under a stream's name: every making of its log, what recovery put aside of it, and what was recorded beside it;
 * and its rows. On a full disk the logs are emptied where they lie: what comes after needs room. False when there was no log.
 * @throws ASR_FENCED, ASR_READ_ONLY, ASR_IO; then the stream may be there, or the next opening completes what was begun
 */
export async function deleteLogs(environment: Environment, name: string): Promise<boolean> {
  const { storage } = environment
  const logs = groupLogs(await filesOf(storage, name))
  if (logs.length === 0) return false
  environment.hasDeleted = true
  for (const files of logs) await toTrash(environment, files)
  await removeBeside(environment, name)
  for (const files of logs) await eraseLog(environment, files)
  await environment.forgetCopies?.()
  return true
}

/** Has the index forget a log whose files are gone. */
export async function deleteRows(environment: Environment, incarnation: string): Promise<void> {
  environment.hasDeleted = true
  await eraseRows(environment, incarnation)
  await environment.forgetCopies?.()
}

/** Removes a log in the making, of which rows may have been written already. */
export async function discardLog(environment: Environment, { log, index }: StreamCore): Promise<void> {
  const files = { identity: log.identity, segments: log.segments }
  if (index.persisted.length > 0) await eraseLog(environment, files)
  else await log.remove()
}

/** Completes what was on its way out, or takes back what was on its way in, when the store was last closed. */
export async function sweepLogs(environment: Environment, folder: string): Promise<void> {
  const { storage } = environment
  const moving = await listLogs(storage, folder)
  if (moving.length === 0) return
  const streams = await listLogs(storage, STREAMS_FOLDER)
  for (const files of moving) {
    const moved = streams.find((other) => other.identity.incarnation === files.identity.incarnation)?.segments ?? []
    for (const { file } of moved) await storage.remove(file)
    if (folder === TRASH_FOLDER) await removeBeside(environment, files.identity.name)
    await eraseLog(environment, files)
  }
  if (folder !== TRASH_FOLDER) return
  environment.hasDeleted = true
  await environment.forgetCopies?.()
}

async function toTrash({ storage }: Environment, { identity, segments }: LogFiles): Promise<void> {
  const leaving = new RecordLog(storage, STREAMS_FOLDER, identity, '', segments)
  try {
    await leaving.moveTo(TRASH_FOLDER)
  } catch (error) {
    if (!isAsrError(error, 'ASR_NO_SPACE')) throw error
    // Not even the folder could be made: what is to be deleted has the room. From behind, so that a beginning is left.
    for (const { file } of [...segments].reverse()) await storage.truncate(file, 0)
    await leaving.moveTo(TRASH_FOLDER)
  }
  await unlessFull(() => leaving.sync()) // else a power cut could undo the move, and with it the deletion
  for (const { file } of segments) await unlessFull(() => empty(storage, file))
}

/** Puts an empty file in place, which keeps the name; who has the old one open reads on. */
async function empty(storage: LogStorage, file: string): Promise<void> {
  await storage.append(`${file}.new`, new Uint8Array(0))
  await storage.rename(`${file}.new`, file)
}

async function unlessFull(call: () => Promise<void>): Promise<void> {
  try {
    await call()
  } catch (error) {
    const { cause } = error as { cause?: unknown }
    if (!isAsrError(error, 'ASR_NO_SPACE') && !isAsrError(cause, 'ASR_NO_SPACE')) throw error
  }
}

/** Where its rows can't be erased now, the names of its files stay, and the next opening tries again. */
async function eraseLog(environment: Environment, { identity, segments }: LogFiles): Promise<void> {
  if (!(await eraseRows(environment, identity.incarnation))) return
  for (const { file } of segments) await environment.storage.remove(file)
}

/** Whether level holds no value of the log any more. */
async function eraseRows(environment: Environment, incarnation: string): Promise<boolean> {
  if (environment.withoutIndex !== undefined) return false
  try {
    await purgeLog(environment.level, incarnation)
    return true
  } catch (error) {
    noteBrokenLevel(environment, error, incarnation)
    return false
  }
}

/** The files under a stream's name. They are about to go: a storage that gives more than it was asked for is not believed. */
async function filesOf(storage: LogStorage, name: string): Promise<StoredFile[]> {
  const prefix = `${name}-`
  const files = await storage.list(STREAMS_FOLDER, prefix)
  return files.filter((file) => file.name.startsWith(`${STREAMS_FOLDER}/${prefix}`))
}

/** What recovery put aside of the stream's logs, and what was recorded beside it. */
async function removeBeside({ storage }: Environment, name: string): Promise<void> {
  for (const { name: file } of await filesOf(storage, name)) await storage.remove(file)
  if ((await storage.size(nativeFile(name))) !== undefined) await storage.remove(nativeFile(name))
}
