/**
 * The logs that lie in a store's place, by the names of their streams, as far as they are known.
 */
import { Mutex } from '../base/mutex.js'
import type { FoundLog, LogPlace } from '../log/api.js'
import { byName } from './catalog.js'

export class Directory {
  private files = new Map<string, FoundLog>()
  /** held while logs are listed or deleted */
  private readonly listing = new Mutex()

  constructor(private readonly place: LogPlace) {}

  get(name: string): FoundLog | undefined {
    return this.files.get(name)
  }

  all(): FoundLog[] {
    return [...this.files.values()]
  }

  put(files: FoundLog): void {
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
  list(known: () => Iterable<FoundLog>): Promise<void> {
    return this.alone(async () => {
      this.files = byName(await this.place.list())
      for (const files of known()) this.put(files)
    })
  }

  /** Looks at the logs of one name, and at no others. */
  async lookFor(name: string): Promise<void> {
    const files = byName(await this.place.list(name)).get(name)
    if (files === undefined) this.remove(name)
    else this.put(files)
  }
}
