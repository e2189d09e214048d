/**
 * The logs that lie in a store's place, by the names of their streams, as far as they are known.
 */
import { Mutex } from '../base/mutex.js'
import { isDeleted, type LogFiles, listLogs, STREAMS_FOLDER } from '../log/files/segment.js'
import type { LogStorage } from '../log/storage/storage.js'
import { byName } from './catalog.js'

export class Directory {
  private files = new Map<string, LogFiles>()
  /** held while logs are listed or deleted */
  private readonly listing = new Mutex()

  constructor(private readonly storage: LogStorage) {}

  get(name: string): LogFiles | undefined {
    return this.files.get(name)
  }

  all(): LogFiles[] {
    return [...this.files.values()]
  }

  put(files: LogFiles): void {
    this.files.set(files.identity.name, files)
  }

  remove(name: string): void {
    this.files.delete(name)
  }

  /** Does something while no logs are listed or deleted. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    return this.listing.run(work)
  }

  /** Looks at all that lies there; what is `known` of logs in use is more than a listing that began before says. */
  list(known: () => Iterable<LogFiles>): Promise<void> {
    return this.alone(async () => {
      this.files = byName(await listLogs(this.storage, STREAMS_FOLDER))
      for (const files of known()) this.put(files)
    })
  }

  /** Looks at the logs of one name, and at no others. */
  async lookFor(name: string): Promise<void> {
    const files = byName(await listLogs(this.storage, STREAMS_FOLDER, `${name}-`)).get(name)
    if (files === undefined) this.remove(name)
    else this.put(files)
  }

  /** Whether the stream of a log that was there has been deleted since. */
  isGone({ identity, segments }: LogFiles): Promise<boolean> {
    return isDeleted(this.storage, identity, segments)
  }
}
