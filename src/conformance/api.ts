/**
 * What the conformance suites take and give. They need no test framework: each case is a name and a promise.
 */
import type { MaybePromise } from '../base/flow.js'
import type { FoundLog, LogPlace } from '../log/api.js'
import type { LogStorage } from '../log/storage/storage.js'

/** One promise, held to. */
export interface ConformanceCase {
  name: string
  /** why it is not run, in words, where the place is declared unable */
  skipped?: string
  /** Rejects, and says what was found instead, when the promise is not kept. Of a skipped case it does nothing. */
  run(): Promise<void>
}

export interface StorageConformanceOptions {
  /** An empty storage, another one at each call. The case closes it. */
  make(): MaybePromise<LogStorage>
}

export interface PlaceConformanceOptions {
  /** An empty place, another one at each call. The case closes it. */
  make(): MaybePromise<LogPlace>
  /** what the place can do, and what can be done to it; cases that need what is not there are skipped, and say so */
  supports?: PlaceSupports
}

export interface PlaceSupports {
  /** false: a log is opened once at a time: nobody reads it beside its writer, and a second writer is not noticed */
  sharing?: boolean
  /** false: it keeps no files beside the logs */
  sideFiles?: boolean
  /** Changes what is stored as the value of the entry at a location. */
  damage?(place: LogPlace, found: FoundLog, location: number): MaybePromise<void>
  /** Takes away the end of the entry at a location, and all after it, as a dying process leaves an append. */
  tear?(place: LogPlace, found: FoundLog, location: number): MaybePromise<void>
  /** The place as another process would open it, which remembers nothing; without it the place itself is used again. */
  reopen?(place: LogPlace): MaybePromise<LogPlace>
}
