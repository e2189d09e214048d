/**
 * Reads of one log's files. A file that is missing is damage, unless the stream was deleted while it was read.
 */
import { AsrError } from '../../base/error.js'
import type { MaybePromise } from '../../base/flow.js'
import type { LogIdentity } from '../api.js'
import { errnoOf, ioError } from '../storage/io-error.js'
import type { LogStorage } from '../storage/storage.js'
import { isDeleted, type Segment } from './segment.js'

export class LogBytes {
  /** set once the stream's files are about to go: what reads that are still under way end with */
  over: AsrError | undefined
  constructor(
    private readonly storage: LogStorage,
    private readonly identity: LogIdentity,
    private readonly sessionId: string,
    private readonly segments: readonly Segment[],
    /** whether another process may delete the log: it is that process's, and only read here */
    private readonly isOfAnother: boolean,
  ) {}

  /** @throws as `missing`, ASR_IO */
  read(file: string, offset: number, length: number): MaybePromise<Uint8Array> {
    try {
      const bytes = this.storage.read(file, offset, length)
      return bytes instanceof Promise ? bytes.catch((error: unknown) => this.fail(file, error)) : bytes
    } catch (error) {
      return this.fail(file, error)
    }
  }

  private async fail(file: string, error: unknown): Promise<never> {
    const isMissing = errnoOf(error) === 'ENOENT' || errnoOf((error as Error).cause) === 'ENOENT'
    throw isMissing ? await this.missing(file, error) : ioError(error, `reading ${file}`, 'read')
  }

  /** Why a file is not there: ASR_CLOSED when this process deleted the stream, ASR_STREAM_NOT_FOUND when another did, ASR_CORRUPT. */
  async missing(file: string, cause?: unknown): Promise<AsrError> {
    if (this.over !== undefined) return this.over
    const { sessionId } = this
    const of = `stream ${JSON.stringify(sessionId)}`
    return this.isOfAnother && (await isDeleted(this.storage, this.identity, this.segments))
      ? new AsrError('ASR_STREAM_NOT_FOUND', `${of} was deleted`, { sessionId, cause })
      : new AsrError('ASR_CORRUPT', `${of}: the file ${file} of its log is missing`, { sessionId, cause })
  }
}
