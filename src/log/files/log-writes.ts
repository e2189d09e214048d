/**
 * Writes to one log's files and what of them is on the disk. After a failure nothing more is written: what is there is then
 * not known, until the log is opened again.
 */
import { AsrError } from '../../base/error.js'
import type { MaybePromise } from '../../base/flow.js'
import { ioError } from '../storage/io-error.js'
import type { LogStorage } from '../storage/storage.js'
import type { Segment } from './segment.js'

export class LogWrites {
  /** it was a sync that failed: what is in the files may never have reached the disk */
  syncFailed = false
  private failure: AsrError | undefined
  private readonly unsynced = new Set<Segment>()
  private syncing: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly storage: LogStorage,
    private readonly sessionId: string,
  ) {}

  get isPoisoned(): boolean {
    return this.failure !== undefined
  }

  /** @throws ASR_POISONED */
  assertSound(): void {
    if (this.failure === undefined) return
    const { sessionId, failure: cause } = this
    const message = `stream ${JSON.stringify(sessionId)} failed before (${cause.message}); open it again`
    throw new AsrError('ASR_POISONED', message, { cause, sessionId })
  }

  /** Has the next sync take up a segment. */
  distrust(segment: Segment): void {
    this.unsynced.add(segment)
  }

  /** @throws ASR_IN_DOUBT, ASR_FENCED */
  append(segment: Segment, bytes: Uint8Array): MaybePromise<void> {
    const expected = segment.size + bytes.length
    const failed = (error: unknown): never => {
      throw this.fail(error, 'a write failed')
    }
    let size: MaybePromise<number>
    try {
      size = this.storage.append(segment.file, bytes)
    } catch (error) {
      return failed(error)
    }
    if (typeof size === 'number') return this.grown(segment, size, expected)
    return size.then((now) => this.grown(segment, now, expected), failed)
  }

  private grown(segment: Segment, size: number, expected: number): void {
    if (size !== expected) throw this.fenced(segment.file, size, expected)
    segment.size = size
    this.unsynced.add(segment)
  }

  /** After this everything appended survives a power cut. @throws ASR_IN_DOUBT, ASR_POISONED */
  sync(): Promise<void> {
    // One after the other: what the one under way has taken up is not synced before it ends.
    const synced = this.syncing.then(() => this.syncNow())
    this.syncing = synced.catch(() => undefined)
    return synced
  }

  private async syncNow(): Promise<void> {
    this.assertSound()
    const segments = [...this.unsynced]
    this.unsynced.clear() // what comes in meanwhile is for the next sync
    try {
      for (const segment of segments) await this.storage.sync(segment.file)
    } catch (error) {
      this.syncFailed = true
      throw this.fail(error, 'a sync failed')
    }
  }

  /** Nothing more is written: somebody else wrote to a file. */
  fenced(file: string, size: number | undefined, expected: number): AsrError {
    const message = `${file} has ${size ?? 0} bytes instead of ${expected}: somebody else wrote to it`
    this.failure = new AsrError('ASR_FENCED', message, { sessionId: this.sessionId })
    return this.failure
  }

  /** Nothing more is written: what was written last may be there or not. */
  abandon(cause: AsrError): void {
    this.failure = cause
  }

  /** The same; the error of the call that failed. */
  fail(error: unknown, what: string): AsrError {
    const { sessionId } = this
    const cause = ioError(error, what)
    this.failure = cause
    const message = `stream ${JSON.stringify(sessionId)}: ${what} (${cause.message}); the append may or may not be stored. Open the stream again and retry with the same ids`
    return new AsrError('ASR_IN_DOUBT', message, { cause, sessionId })
  }
}
