/**
 * The logs of a store in files: published ones in `streams/`, those on their way in or out in `staging/` and `trash/`, what lies
 * beside them in `native/`.
 */
import { isAsrError } from '../../base/error.js'
import { sideFileOf } from '../../record/side-file.js'
import {
  type CreateOptions,
  type LogPlace,
  type LogPoint,
  newIdentity,
  type OpenOptions,
  type RecordLog,
  type SideFiles,
} from '../api.js'
import type { LogStorage, StoredFile } from '../storage/storage.js'
import { bears } from './bears.js'
import { FileLog } from './file-log.js'
import { cutLog, putAside, rewriteSegments, sizesNow } from './repair.js'
import {
  areDense,
  groupLogs,
  isDeleted,
  LogFiles,
  listLogs,
  offsetOf,
  parseSegmentFile,
  STAGING_FOLDER,
  STREAMS_FOLDER,
  segmentOf,
  TRASH_FOLDER,
} from './segment.js'
import { sessionOf } from './session-of.js'

export class FilePlace implements LogPlace<LogFiles> {
  readonly side: SideFiles

  constructor(readonly storage: LogStorage) {
    this.side = {
      append: (name, bytes) => storage.append(name, bytes),
      read: (name, offset, length) => storage.read(name, offset, length),
      size: (name) => storage.size(name),
      remove: (name) => storage.remove(name),
    }
  }

  list(name?: string): Promise<LogFiles[]> {
    return listLogs(this.storage, STREAMS_FOLDER, name && `${name}-`)
  }

  /** A log moves from staging to the streams and on to the trash: asked for in that order, none is missed. */
  async incarnations(): Promise<Set<string>> {
    const found = new Set<string>()
    for (const folder of [STAGING_FOLDER, STREAMS_FOLDER, TRASH_FOLDER])
      for (const { identity } of await listLogs(this.storage, folder)) found.add(identity.incarnation)
    return found
  }

  sessionOf(found: LogFiles): Promise<string | undefined> {
    return sessionOf(this.storage, found)
  }

  isDeleted({ identity, segments }: LogFiles): Promise<boolean> {
    return isDeleted(this.storage, identity, segments)
  }

  async doubtOf(found: LogFiles, point: LogPoint): Promise<string | undefined> {
    if (!areDense(found.segments)) return 'a segment of the log is missing'
    return (await bears(this.storage, found, point)) ? undefined : 'it is not of what the log holds now'
  }

  open({ identity, segments }: LogFiles, sessionId: string, { isOfAnother }: OpenOptions): FileLog {
    const own = segments.map((segment) => ({ ...segment }))
    return new FileLog(this.storage, STREAMS_FOLDER, identity, sessionId, own, { isOfAnother })
  }

  create(sessionId: string, { staged }: CreateOptions): FileLog {
    return new FileLog(this.storage, staged ? STAGING_FOLDER : STREAMS_FOLDER, newIdentity(sessionId), sessionId, [])
  }

  async publish(log: RecordLog): Promise<void> {
    await (log as FileLog).moveTo(STREAMS_FOLDER)
    await log.sync() // that they lie where they lie now
  }

  async discard(log: RecordLog): Promise<void> {
    await (log as FileLog).remove()
  }

  async endAt({ identity, segments }: LogFiles, location: number, forReading: boolean): Promise<LogFiles> {
    if (!forReading) {
      await cutLog(this.storage, segments, location)
      return new LogFiles(identity, await sizesNow(this.storage, segments))
    }
    const kept = segments.filter(({ number }) => number <= segmentOf(location)).map((segment) => ({ ...segment }))
    const last = kept[kept.length - 1]
    if (last?.number === segmentOf(location)) last.size = Math.min(last.size, offsetOf(location))
    return new LogFiles(identity, kept)
  }

  async putAside({ segments }: LogFiles): Promise<string> {
    for (const segment of segments) await putAside(this.storage, segment)
    return segments[0]?.file
  }

  async rewrite({ segments }: LogFiles, from: number): Promise<void> {
    await rewriteSegments(this.storage, segments, from)
  }

  /** Files that a recovery put aside go too. A storage that gives more than it was asked for is not believed. */
  async makings(name: string): Promise<LogFiles[]> {
    return groupLogs(await this.filesOf(name))
  }

  /**
   * The files go to the trash, are emptied there, and synced; what lies beside is removed. On a full disk the logs are emptied
   * where they are: what comes after needs room.
   */
  async retire(logs: readonly LogFiles[]): Promise<void> {
    for (const files of logs) await this.toTrash(files)
    for (const name of new Set(logs.map(({ identity }) => identity.name))) await this.removeBeside(name)
  }

  async erase({ segments }: LogFiles): Promise<void> {
    for (const { file } of segments) await this.storage.remove(file)
  }

  async leftovers(): Promise<{ found: LogFiles; isRetired: boolean }[]> {
    const leftovers: { found: LogFiles; isRetired: boolean }[] = []
    for (const folder of [STAGING_FOLDER, TRASH_FOLDER]) {
      for (const found of await listLogs(this.storage, folder))
        leftovers.push({ found, isRetired: folder === TRASH_FOLDER })
    }
    return leftovers
  }

  async takeBack({ found, isRetired }: { found: LogFiles; isRetired: boolean }): Promise<void> {
    const streams = await this.list(found.identity.name)
    const moved = streams.find(({ identity }) => identity.incarnation === found.identity.incarnation)
    if (moved !== undefined) await this.erase(moved)
    if (isRetired) await this.removeBeside(found.identity.name)
  }

  /** What was to extend a log, or to take a file's place. */
  async sweep(): Promise<void> {
    for (const folder of [STAGING_FOLDER, TRASH_FOLDER]) {
      for (const { name } of await this.storage.list(folder))
        if (parseSegmentFile(name) === undefined) await this.storage.remove(name)
    }
  }

  close() {
    return this.storage.close()
  }

  private async toTrash({ identity, segments }: LogFiles): Promise<void> {
    const { storage } = this
    const leaving = new FileLog(storage, STREAMS_FOLDER, identity, '', segments)
    try {
      await leaving.moveTo(TRASH_FOLDER)
    } catch (error) {
      if (!isAsrError(error, 'ASR_NO_SPACE')) throw error
      // Not even the folder could be made: what is to be deleted has the room. From the end, so that a beginning is left.
      for (const { file } of [...segments].reverse()) await storage.truncate(file, 0)
      await leaving.moveTo(TRASH_FOLDER)
    }
    await unlessFull(() => leaving.sync()) // else a power cut could undo the move, and with it the deletion
    for (const { file } of segments) await unlessFull(() => empty(storage, file))
  }

  /** What recovery put aside of a stream's logs, and what was recorded beside it. */
  private async removeBeside(name: string): Promise<void> {
    for (const { name: file } of await this.filesOf(name)) await this.storage.remove(file)
    if ((await this.storage.size(sideFileOf(name))) !== undefined) await this.storage.remove(sideFileOf(name))
  }

  private async filesOf(name: string): Promise<StoredFile[]> {
    const prefix = `${name}-`
    const files = await this.storage.list(STREAMS_FOLDER, prefix)
    return files.filter((file) => file.name.startsWith(`${STREAMS_FOLDER}/${prefix}`))
  }
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
