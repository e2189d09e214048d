/**
 * A store: the streams of one place, open or not, and who may write to them.
 */

import { throwIfAborted } from '../base/abort.js'
import { argument, chunks as chunksKind, text } from '../base/arguments.js'
import { AsrError, type Diagnostic, isAsrError } from '../base/error.js'
import { name128 } from '../base/hash.js'
import { KeyedMutex } from '../base/mutex.js'
import { Steps } from '../base/steps.js'
import { turns } from '../base/turn.js'
import { purgeAll } from '../index/rows.js'
import type { FoundLog, SideFiles } from '../log/api.js'
import { newHeader } from '../record/header.js'
import type { Header } from '../record/record.js'
import { snapshot } from '../record/snapshot.js'
import { badSessionId } from '../record/validate.js'
import type { LongCall, Stream } from '../stream/api.js'
import { type Environment, note } from '../stream/core/environment.js'
import type { StreamCore } from '../stream/core/stream-core.js'
import { makeLog } from '../stream/open/new-log.js'
import { isAsFound, openLog } from '../stream/open/recovery.js'
import { StoredStream } from '../stream/stream.js'
import type { ImportOptions, ImportReport, Store, StreamInfo, VerifyReport } from './api.js'
import { infoOf, listed, rootsKnown, unreadable } from './catalog.js'
import { Directory } from './directory.js'
import { importJsonl } from './import/import.js'
import { importOptions, rebuildOptions, verifyOptions } from './options.js'
import { deleteLogs, deleteRows, discardLog, sweep } from './removal/deletion.js'
import { lostStreams, type StreamReport, unopened, verifyStream } from './verify.js'

/** Not every browser has the symbol yet: there the method has no name that anybody could know. */
const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol('asyncDispose')

export class StreamStore implements Store {
  private readonly streamsOpen = new Map<string, StoredStream>()
  /** held while a stream comes, goes or is opened: opening one may take long, and no other waits for it */
  private readonly sessionLocks = new KeyedMutex()
  private readonly directory: Directory
  private readonly imports = new Set<Promise<unknown>>()
  private closing: Promise<void> | undefined

  constructor(
    readonly environment: Environment,
    /** releases what the place holds: level, lock, files */
    private readonly release: () => Promise<void>,
    /** see `importJsonl` */
    private readonly extensionBatch?: number,
  ) {
    this.directory = new Directory(environment.place)
  }

  get notices(): readonly Diagnostic[] {
    return this.environment.notices
  }

  get sideFiles(): SideFiles {
    return this.environment.place.side
  }

  /** Looks at what is there, and removes what was left half done. */
  async open(): Promise<this> {
    if (!this.environment.readOnly) await sweep(this.environment)
    await this.list()
    return this
  }

  async createStream(header: Header): Promise<Stream> {
    this.assertWritable()
    const stored = newHeader(snapshot(header))
    return this.sessionLocks.run(stored.sessionId, async () => {
      this.assertOpen()
      if (await this.find(stored.sessionId)) throw this.exists(stored.sessionId)
      const core = await this.make(stored, { staged: false })
      return this.register(core)
    })
  }

  async stream(sessionId: string): Promise<Stream> {
    return this.openStream(sessionId)
  }

  async openStream(sessionId: string): Promise<StoredStream> {
    argument('stream', 'sessionId', sessionId, text)
    this.assertOpen()
    const fault = badSessionId(sessionId)
    if (fault !== undefined) throw new AsrError('ASR_STREAM_NOT_FOUND', fault)
    return this.sessionLocks.run(sessionId, async () => {
      this.assertOpen()
      const stream = await this.find(sessionId)
      if (stream === undefined) throw this.notFound(sessionId)
      return stream
    })
  }

  /** A stream by its session, opened if need be; undefined when there is none. */
  private async find(sessionId: string): Promise<StoredStream | undefined> {
    const open = this.streamsOpen.get(sessionId)
    const { readOnly } = this.environment
    if (open !== undefined && !readOnly && !open.core.log.isPoisoned) return open
    const isSound = open?.core.judged === undefined
    if (open !== undefined && readOnly && isSound && !(await this.environment.place.isDeleted(open.core.log)))
      return open
    if (this.environment.withoutIndex !== undefined) throw this.environment.withoutIndex
    const name = name128(sessionId)
    if (readOnly || open !== undefined) await this.directory.lookFor(name)
    if (open !== undefined && !open.core.log.isPoisoned && isAsFound(open.core, this.directory.get(name))) return open
    // A reader's old handle lives on, to say that its stream was deleted, or what is damaged in it.
    if (readOnly) this.streamsOpen.delete(sessionId)
    else if (open !== undefined) await this.forget(open)
    const files = this.directory.get(name)
    if (files === undefined) return undefined
    // What a failed sync left may never have reached the disk, though it can be read.
    if (open?.core.log.syncFailed) await this.environment.place.rewrite(files, open.core.durable)
    const core = await openLog(this.environment, sessionId, files).catch(async (error: unknown) => {
      if (!(await this.environment.place.isDeleted(files))) throw error
    })
    if (core === undefined || (core.damage !== undefined && (await this.environment.place.isDeleted(files)))) {
      this.directory.remove(name)
      return undefined
    }
    return this.register(core)
  }

  streams(): AsyncIterable<StreamInfo> {
    return new Steps(this.infos(), () => this.assertOpen())
  }

  private async *infos(): AsyncGenerator<StreamInfo> {
    await this.list()
    const infos: StreamInfo[] = []
    const open = new Map([...this.streamsOpen.values()].map((stream) => [stream.core.log.identity.incarnation, stream]))
    for (const files of this.directory.all()) {
      if (turns.isOver()) await turns.next()
      const stream = open.get(files.identity.incarnation)
      const info = await this.infoOf(files, stream?.core.closed ? undefined : stream)
      if (info !== undefined) infos.push(info)
    }
    yield* infos.sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1))
  }

  private async infoOf(files: FoundLog, open: StoredStream | undefined): Promise<StreamInfo | undefined> {
    const known = open === undefined ? await listed(this.environment, files) : undefined
    if (known !== undefined) return known
    let sessionId = open?.sessionId
    try {
      await open?.core.refresh()
      sessionId ??= await this.environment.place.sessionOf(files)
      if (sessionId === undefined) return undefined
      const stream = open ?? (await this.existing(sessionId))
      return stream && (await infoOf(stream.core))
    } catch (error) {
      if (await this.environment.place.isDeleted(files)) return undefined
      if (sessionId === undefined || !isAsrError(error)) throw error
      return unreadable(sessionId, files, error)
    }
  }

  /** Whether a failure says that a stream has been deleted since it was listed: then the others go on. */
  private isOfDeleted(error: unknown): boolean {
    return isAsrError(error, 'ASR_STREAM_NOT_FOUND') || (isAsrError(error, 'ASR_CLOSED') && this.closing === undefined)
  }

  async importJsonl(chunks: Parameters<Store['importJsonl']>[0], options?: ImportOptions): Promise<ImportReport> {
    argument('importJsonl', 'chunks', chunks, chunksKind)
    const asked = importOptions(options)
    this.assertWritable()
    const importing = importJsonl(this, chunks, asked, this.extensionBatch)
    this.imports.add(importing)
    return importing.finally(() => this.imports.delete(importing))
  }

  async verify(given?: { sessionId?: string } & LongCall): Promise<VerifyReport> {
    const options = verifyOptions(given)
    const streams: VerifyReport['streams'] = []
    for await (const report of this.each(options, (sessionId) => this.verifyOne(sessionId, options)))
      streams.push(report)
    if (options.sessionId === undefined) for (const lost of await lostStreams(this.environment)) streams.push(lost)
    return { ok: streams.every(({ ok }) => ok), streams }
  }

  private async verifyOne(sessionId: string, options: LongCall): Promise<StreamReport> {
    try {
      return await verifyStream((await this.openStream(sessionId)).core, options)
    } catch (error) {
      return unopened(this.environment, sessionId, error)
    }
  }

  async rebuildIndex(given?: { sessionId?: string } & LongCall): Promise<void> {
    const options = rebuildOptions(given)
    this.assertWritable()
    const damages: AsrError[] = []
    // First: what writing damaged tables anew loses is then built again.
    if (options.sessionId === undefined) await this.purge()
    for await (const damage of this.each(options, (sessionId) => this.rebuildOne(sessionId, options)))
      if (damage !== undefined) damages.push(damage)
    if (damages.length > 0) throw damages[0]
  }

  /** The damage that keeps the index from being built of the whole log, if any. */
  private async rebuildOne(sessionId: string, { signal, onProgress }: LongCall): Promise<AsrError | undefined> {
    const { core } = await this.openStream(sessionId)
    if (core.damage !== undefined) return core.damage
    await core.writing.run(() => {
      core.assertOpen()
      return core.rebuild({ signal, onBlock: (done) => onProgress?.({ done, unit: 'records' }) })
    })
    return core.damage
  }

  /** What versions before this one deleted may still stand in tables that nothing was written over. */
  private async purge(): Promise<void> {
    const { environment } = this
    await purgeAll(environment.level).catch((error: Error) => note(environment, 'index_not_written', error.message))
    await environment.forgetCopies?.()
  }

  /** Deletes a stream without opening it: that may take room, and the stream may be damaged. */
  async deleteStream(sessionId: string): Promise<void> {
    argument('deleteStream', 'sessionId', sessionId, text)
    this.assertWritable()
    await this.sessionLocks.run(sessionId, async () => {
      this.assertOpen()
      const name = name128(sessionId)
      const remove = async (): Promise<boolean> => this.directory.alone(() => deleteLogs(this.environment, name))
      const stream = this.streamsOpen.get(sessionId)
      const wasThere = await (stream === undefined ? remove() : this.retire(stream, remove))
      this.directory.remove(name)
      if (wasThere) return
      const lost = (await rootsKnown(this.environment.level)).find(({ root }) => root.sessionId === sessionId)
      if (lost === undefined) throw this.notFound(sessionId)
      await deleteRows(this.environment, lost.log)
    })
  }

  /** Ends a stream's use for good before its files go: nothing of it is written any more, by whoever holds it still. */
  private async retire(stream: StoredStream, remove: () => Promise<boolean>): Promise<boolean> {
    stream.core.retire()
    await this.forget(stream)
    return stream.core.writing.run(remove)
  }

  close(): Promise<void> {
    if (this.closing === undefined) {
      this.environment.lifetime.isOver = true
      this.closing = this.closeAll()
    }
    return this.closing
  }

  [asyncDispose](): Promise<void> {
    return this.close()
  }

  private async closeAll(): Promise<void> {
    await Promise.allSettled(this.imports)
    await this.sessionLocks.idle()
    await this.directory.alone(async () => {
      const failures: unknown[] = []
      for (const { queue, core } of this.streamsOpen.values()) {
        await queue.idle()
        await core.close().catch((error: unknown) => failures.push(error))
      }
      await this.release()
      if (failures.length > 0) throw failures[0]
    })
  }

  /** A log in the making, that nobody sees until `adopt`. */
  async stage(header: Header, text?: string): Promise<StreamCore> {
    this.assertOpen()
    return this.make(header, { staged: true, text })
  }

  /** Makes a staged log the stream of its session, unless there is one, which is what it gives then. */
  async adopt(core: StreamCore): Promise<{ stream: StoredStream; isAdopted: boolean }> {
    return this.sessionLocks.run(core.sessionId, async () => {
      this.assertOpen()
      const existing = await this.find(core.sessionId)
      if (existing !== undefined) return { stream: existing, isAdopted: false }
      await core.sync()
      await this.environment.place.publish(core.log)
      return { stream: this.register(core), isAdopted: true }
    })
  }

  async discard(core: StreamCore): Promise<void> {
    await core.detach()
    await discardLog(this.environment, core)
  }

  /** The stream of a session, or undefined. */
  async existing(sessionId: string): Promise<StoredStream | undefined> {
    return this.sessionLocks.run(sessionId, () => this.find(sessionId))
  }

  private async make(header: Header, options: Parameters<typeof makeLog>[2]): Promise<StreamCore> {
    try {
      return await makeLog(this.environment, header, options)
    } catch (error) {
      await this.directory.lookFor(name128(header.sessionId)).catch(() => undefined)
      throw error
    }
  }

  private register(core: StreamCore): StoredStream {
    const stream = new StoredStream(core)
    this.streamsOpen.set(core.sessionId, stream)
    this.directory.put(core.log)
    return stream
  }

  private async forget({ core, queue }: StoredStream): Promise<void> {
    this.streamsOpen.delete(core.sessionId)
    core.closed = true
    await queue.idle()
    await core.detach()
  }

  private list(): Promise<void> {
    const { readOnly } = this.environment
    return this.directory.list(() => (readOnly ? [] : [...this.streamsOpen.values()].map(({ core }) => core.log)))
  }

  /** Does something with one stream, or with each; of each, what is deleted meanwhile is left out. */
  private async *each<T>(
    { sessionId: only, signal }: { sessionId?: string } & LongCall,
    work: (sessionId: string) => Promise<T>,
  ): AsyncGenerator<T> {
    const sessions: string[] = only === undefined ? [] : [only]
    if (only === undefined) for await (const { sessionId } of this.streams()) sessions.push(sessionId)
    for (const sessionId of sessions) {
      throwIfAborted(signal)
      try {
        yield await work(sessionId)
      } catch (error) {
        if (only !== undefined || !this.isOfDeleted(error)) throw error
      }
    }
  }

  private assertOpen(): void {
    if (this.closing !== undefined) throw new AsrError('ASR_CLOSED', 'the store is closed')
  }

  private assertWritable(): void {
    this.assertOpen()
    if (this.environment.readOnly) throw new AsrError('ASR_READ_ONLY', 'the store is open for reading only')
  }

  private notFound(sessionId: string): AsrError {
    return new AsrError('ASR_STREAM_NOT_FOUND', `no stream of session ${JSON.stringify(sessionId)}`, { sessionId })
  }

  private exists(sessionId: string): AsrError {
    return new AsrError('ASR_STREAM_EXISTS', `there is a stream of session ${JSON.stringify(sessionId)} already`, {
      sessionId,
    })
  }
}
