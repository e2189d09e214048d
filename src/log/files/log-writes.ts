/**
 * Writes to one log's files and what of them is on the disk. After a failure nothing more is written: what is there is then
 * not known, until the log is opened again.
 */
import type { AsrError } from '../../base/error.js'
import type { MaybePromise } from '../../base/flow.js'
import { LogFailure } from '../storage/log-failure.js'
import type { LogStorage } from '../storage/storage.js'
import type { Segment } from './segment.js'

export class LogWrites extends LogFailure {
  /** it was a sync that failed: what is in the files may never have reached the disk */
  syncFailed = false
  private readonly unsynced = new Set<Segment>()
  private syncing: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly storage: LogStorage,
    sessionId: string,
  ) {
    super(sessionId)
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
    return this.fence(`${file} has ${size ?? 0} bytes instead of ${expected}: somebody else wrote to it`)
  }
}
