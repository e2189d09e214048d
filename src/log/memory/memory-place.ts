/**
 * The logs of a store in memory, for tests and for stores that need not outlive their process.
 */
import { sideFileOf } from '../../record/side-file.js'
import {
  type CreateOptions,
  type FoundLog,
  type LogPlace,
  type LogPoint,
  newIdentity,
  type OpenOptions,
  type RecordLog,
  type SideFiles,
} from '../api.js'
import { MemoryStorage } from '../storage/memory-storage.js'
import { bears, bytesOf, entriesBefore, type KeptLog, locationAfter, shorten } from './kept-log.js'
import { MemoryLog, type PutAside } from './memory-log.js'

export class MemoryPlace implements LogPlace {
  readonly #logs = new Map<string, KeptLog>()
  /** lines that were cut off, by the names of their logs: they go with these */
  readonly #aside = new Map<string, string[]>()
  readonly #side = new MemoryStorage()
  readonly side: SideFiles = {
    append: (name, bytes) => this.#side.append(name, bytes),
    read: (name, offset, length) => this.#side.read(name, offset, length),
    size: (name) => this.#side.size(name),
    remove: (name) => this.#side.remove(name),
  }

  async list(name?: string): Promise<FoundLog[]> {
    return this.#found((log) => isListed(log) && (name === undefined || log.identity.name === name))
  }

  async incarnations(): Promise<Set<string>> {
    return new Set(this.#found(({ stage }) => stage !== 'making').map(({ identity }) => identity.incarnation))
  }

  async sessionOf(found: FoundLog): Promise<string | undefined> {
    const kept = this.#logs.get(found.identity.incarnation)
    return kept !== undefined && kept.entries.length > 0 ? kept.sessionId : undefined
  }

  async isDeleted({ identity }: FoundLog): Promise<boolean> {
    const kept = this.#logs.get(identity.incarnation)
    return kept === undefined || kept.stage === 'retired' || kept.stage === 'aside'
  }

  async doubtOf({ identity }: FoundLog, point: LogPoint): Promise<string | undefined> {
    const entries = this.#logs.get(identity.incarnation)?.entries ?? []
    return bears(entries, point) ? undefined : 'it is not of what the log holds now'
  }

  open(found: FoundLog, sessionId: string, options: OpenOptions): MemoryLog {
    const { identity, storedEnd } = found
    const kept = this.#logs.get(identity.incarnation) ?? gone(found, sessionId)
    return new MemoryLog(kept, storedEnd, this.#putAside, options)
  }

  create(sessionId: string, { staged }: CreateOptions): MemoryLog {
    const identity = newIdentity(sessionId)
    const begins = staged ? 'staged' : 'published'
    const kept: KeptLog = { identity, sessionId, entries: [], bytes: 0, stage: 'making', begins }
    this.#logs.set(identity.incarnation, kept)
    return new MemoryLog(kept, 0, this.#putAside, { isOfAnother: false })
  }

  async publish(log: RecordLog): Promise<void> {
    const { kept } = log as MemoryLog
    kept.stage = 'published'
  }

  async discard(log: RecordLog): Promise<void> {
    await this.erase(log)
  }

  async endAt(found: FoundLog, location: number, forReading: boolean): Promise<FoundLog> {
    const { identity } = found
    const kept = this.#logs.get(identity.incarnation) ?? gone(found, '')
    if (!forReading) await new MemoryLog(kept, found.storedEnd, this.#putAside, { isOfAnother: false }).cut(location)
    const left = kept.entries.slice(0, entriesBefore(Math.min(location, found.storedEnd)))
    return { identity, bytes: bytesOf(left), storedEnd: locationAfter(left.length) }
  }

  async putAside({ identity }: FoundLog): Promise<string> {
    const kept = this.#logs.get(identity.incarnation)
    if (kept !== undefined) kept.stage = 'aside'
    return `the log ${identity.name}-${identity.incarnation}`
  }

  /** What is in memory needs no writing again. */
  async rewrite(): Promise<void> {}

  async retire(logs: readonly FoundLog[]): Promise<void> {
    for (const { identity } of logs) {
      const kept = this.#logs.get(identity.incarnation)
      if (kept === undefined) continue
      kept.stage = 'retired'
      shorten(kept, 0)
    }
    for (const name of new Set(logs.map(({ identity }) => identity.name))) this.#removeBeside(name)
  }

  async makings(name: string): Promise<FoundLog[]> {
    return this.#found(({ identity, stage }) => identity.name === name && (stage === 'published' || stage === 'aside'))
  }

  async erase({ identity }: FoundLog): Promise<void> {
    const kept = this.#logs.get(identity.incarnation)
    if (kept === undefined) return
    kept.stage = 'gone'
    shorten(kept, 0)
    this.#logs.delete(identity.incarnation)
  }

  async leftovers(): Promise<{ found: FoundLog; isRetired: boolean }[]> {
    const leftovers: { found: FoundLog; isRetired: boolean }[] = []
    for (const isRetired of [false, true]) {
      const stage = isRetired ? 'retired' : 'staged'
      for (const found of this.#found((log) => log.stage === stage)) leftovers.push({ found, isRetired })
    }
    return leftovers
  }

  async takeBack({ found, isRetired }: { found: FoundLog; isRetired: boolean }): Promise<void> {
    if (isRetired) this.#removeBeside(found.identity.name)
  }

  /** Logs of which nothing was ever written. */
  async sweep(): Promise<void> {
    for (const { identity } of this.#found(({ stage }) => stage === 'making')) this.#logs.delete(identity.incarnation)
  }

  /** Holds nothing open: the logs stay, for whoever opens a store on them again. */
  close(): void {}

  #found(isWanted: (log: KeptLog) => boolean): FoundLog[] {
    const found: FoundLog[] = []
    for (const log of this.#logs.values()) if (isWanted(log)) found.push(foundOf(log))
    return found
  }

  readonly #putAside: PutAside = ({ identity }, entries) => {
    const aside = this.#aside.get(identity.name) ?? []
    for (const { line } of entries) aside.push(line)
    this.#aside.set(identity.name, aside)
  }

  #removeBeside(name: string): void {
    this.#aside.delete(name)
    for (const { identity } of this.#found((log) => log.identity.name === name && log.stage === 'aside'))
      this.#logs.delete(identity.incarnation)
    if (this.#side.size(sideFileOf(name)) !== undefined) this.#side.remove(sideFileOf(name))
  }
}

function isListed({ stage, entries }: KeptLog): boolean {
  return stage === 'published' && entries.length > 0
}

function foundOf({ identity, bytes, entries }: KeptLog): FoundLog {
  return { identity, bytes, storedEnd: locationAfter(entries.length) }
}

/** A log that was removed meanwhile. */
function gone({ identity }: FoundLog, sessionId: string): KeptLog {
  return { identity, sessionId, entries: [], bytes: 0, stage: 'gone', begins: 'published' }
}
