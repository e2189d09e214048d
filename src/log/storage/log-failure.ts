/**
 * What keeps a log from taking more: after a failed write or sync nobody knows what is there until it is opened again.
 */
import { AsrError } from '../../base/error.js'
import { ioError } from './io-error.js'

export class LogFailure {
  private failure: AsrError | undefined

  constructor(protected readonly sessionId: string) {}

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

  /** Nothing more is written: somebody else wrote to the log. */
  fence(message: string): AsrError {
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
