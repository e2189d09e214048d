/**
 * A stream as the library hands it out.
 */

import { argument, object, text } from '../base/arguments.js'
import { AsrError } from '../base/error.js'
import { hashPair, hex64 } from '../base/hash.js'
import { turns } from '../base/turn.js'
import { leaves } from '../heads/leaves.js'
import { HEAD_RECORD } from '../index/entry.js'
import type { StoredEntry } from '../log/api.js'
import { exactJson, parseExact } from '../record/exact.js'
import { revisedHeader } from '../record/header.js'
import { type AsrRecord, type Header, PRIMARY, type StoredRecord } from '../record/record.js'
import { snapshot, snapshots } from '../record/snapshot.js'
import type {
  AppendOptions,
  At,
  ContextView,
  Entity,
  Followed,
  Head,
  Leaf,
  Path,
  RangeOptions,
  Receipt,
  Stream,
} from './api.js'
import { AppendQueue } from './append-queue.js'
import type { StreamCore } from './core/stream-core.js'
import {
  activePathOptions,
  appendOptions,
  contextViewOptions,
  entityOptions,
  exportOptions,
  followOptions,
  recordsOptions,
} from './options.js'
import { entitiesAnywhere, entitiesOnPath } from './read/entities.js'
import { exportJsonl } from './read/export.js'
import { openPath, openView } from './read/path-view.js'
import { follow, rangeOf } from './read/range.js'
import { idsAt } from './read/record-reader.js'

export class StoredStream implements Stream {
  readonly queue: AppendQueue

  constructor(readonly core: StreamCore) {
    this.queue = new AppendQueue(core)
  }

  get sessionId(): string {
    return this.core.sessionId
  }

  get length(): number {
    return this.core.length
  }

  async header(): Promise<Header> {
    await this.ready()
    return this.headerInForce()
  }

  async reviseHeader(patch: Record<string, unknown>): Promise<Header> {
    const asked = snapshot(argument('reviseHeader', 'patch', patch, object))
    this.writable()
    let header: Header | undefined
    await this.queue.reviseHeader(async () => {
      // What the patch leaves alone stays as it is, to the digit.
      const current = parseExact(this.core.log.line(await this.storedHeader())) as Header
      const revised = revisedHeader(current, asked)
      header = revised ?? current
      return revised && { header: revised }
    })
    return JSON.parse(exactJson(header))
  }

  append(records: AsrRecord | AsrRecord[], options?: AppendOptions): Promise<Receipt> {
    try {
      const asked = appendOptions(options)
      this.writable()
      return this.queue.append(snapshots(records), asked)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async get(recordId: string): Promise<StoredRecord | undefined> {
    argument('get', 'recordId', recordId, text)
    await this.open()
    const record = await this.core.ask((lookup) => lookup.get(recordId))
    if (record === undefined && this.core.damage !== undefined) throw this.core.damage
    return record
  }

  async text(recordId?: string): Promise<string | undefined> {
    if (recordId !== undefined) argument('text', 'recordId', recordId, text)
    const { log } = this.core
    if (recordId === undefined) {
      await this.ready()
      return log.line(await this.storedHeader())
    }
    const pos = await this.position(recordId)
    return pos === undefined ? undefined : log.line(await this.core.ask((lookup) => lookup.stored(pos)))
  }

  async position(recordId: string): Promise<number | undefined> {
    argument('position', 'recordId', recordId, text)
    await this.open()
    const pos = await this.core.ask((lookup) => lookup.find(recordId))
    if (pos === 0 && this.core.damage !== undefined) throw this.core.damage
    return pos === 0 ? undefined : pos
  }

  async hash(recordId: string): Promise<string> {
    argument('hash', 'recordId', recordId, text)
    const pos = await this.position(recordId)
    if (pos === undefined) throw this.notFound(`record ${JSON.stringify(recordId)}`)
    return hex64((await this.core.ask((lookup) => lookup.stored(pos))).hash)
  }

  async digest(): Promise<string> {
    await this.ready()
    const { header, point } = this.core.state
    return hex64(hashPair(header.hash, point.chain))
  }

  records(options?: RangeOptions): AsyncIterable<StoredRecord> {
    return rangeOf(this.core, recordsOptions(options))
  }

  follow(options?: { after?: number; signal?: AbortSignal }): AsyncIterable<Followed> {
    return follow(this.core, followOptions(options))
  }

  async entity(type: string, entityId: string, options?: At & { anywhere?: true }): Promise<Entity[]> {
    argument('entity', 'type', type, text)
    argument('entity', 'entityId', entityId, text)
    const { anywhere, ...at } = entityOptions(options)
    await this.ready()
    if (anywhere) return this.core.ask((lookup) => entitiesAnywhere(lookup, type, entityId))
    const { end } = await this.pathEnd(at)
    return this.core.ask((lookup) => entitiesOnPath(lookup, type, entityId, end))
  }

  async heads(): Promise<Head[]> {
    await this.ready()
    const heads = [...this.core.state.heads].sort(([a], [b]) => (a < b ? -1 : 1))
    const ids = await idsAt(
      this.core,
      heads.map(([, pos]) => pos),
    )
    return heads.map(([name, pos], i) => ({ name, recordId: ids[i], pos }))
  }

  async leaves(): Promise<Leaf[]> {
    await this.ready()
    const names = new Map<number, string[]>()
    for (const [name, pos] of this.core.state.heads) {
      const known = names.get(pos)
      if (known === undefined) names.set(pos, [name])
      else known.push(name)
    }
    for (const known of names.values()) known.sort()
    const positions = await this.core.ask(({ index }) => leaves(index))
    const ids = await idsAt(this.core, positions)
    return positions.map((pos, i) => ({ recordId: ids[i], pos, heads: names.get(pos) ?? [] }))
  }

  async setHead(name: string, recordId: string | null): Promise<Receipt> {
    argument('setHead', 'name', name, text)
    if (recordId !== null) argument('setHead', 'recordId', recordId, text)
    return this.append({ type: 'head', name, recordId })
  }

  async activePath(at?: At): Promise<Path> {
    const asked = activePathOptions(at)
    await this.ready()
    const { end } = await this.pathEnd(asked)
    return openPath(this.core, end)
  }

  async contextView(at?: At): Promise<ContextView> {
    const asked = contextViewOptions(at)
    await this.ready()
    const { end, head } = await this.pathEnd(asked)
    return openView(this.core, end, head)
  }

  exportJsonl(options?: { salvage?: true }): AsyncIterable<Uint8Array> {
    return exportJsonl(this.core, exportOptions(options))
  }

  /** Where the path ends that a call is about (CORE-14, CORE-16). */
  private async pathEnd({ head, at }: { head?: string; at?: string }): Promise<{ end: number; head: string | null }> {
    if (head !== undefined && at !== undefined) throw new TypeError('either `head` or `at`, not both')
    if (at !== undefined) {
      const pos = await this.core.ask((lookup) => lookup.find(at))
      if (pos === 0 || ((await this.core.ask(({ index }) => index.entry(pos))).flags & HEAD_RECORD) !== 0) {
        throw this.notFound(`record ${JSON.stringify(at)} on a path`)
      }
      return { end: pos, head: null }
    }
    const name = head ?? PRIMARY
    const end = this.core.state.heads.get(name)
    if (end === undefined && name !== PRIMARY) throw this.notFound(`head ${JSON.stringify(name)}`)
    return { end: end ?? 0, head: name }
  }

  private async headerInForce(): Promise<Header> {
    return this.core.log.decode(await this.storedHeader()) as unknown as Header
  }

  private storedHeader(): Promise<StoredEntry> {
    const { log, state } = this.core
    return Promise.resolve(log.entry(state.header.location))
  }

  private async open(): Promise<void> {
    if (turns.isOver()) await turns.next()
    this.core.assertOpen()
    await this.core.refresh()
  }

  /** Open, and whole: the answer depends on all of the log (CORE-10). */
  private async ready(): Promise<void> {
    await this.open()
    if (this.core.damage !== undefined) throw this.core.damage
  }

  private writable(): void {
    this.core.assertOpen()
    if (this.core.damage !== undefined) throw this.core.damage
    if (this.core.environment.readOnly) {
      throw new AsrError('ASR_READ_ONLY', 'the store is open for reading only', { sessionId: this.sessionId })
    }
  }

  private notFound(what: string): AsrError {
    return new AsrError('ASR_NOT_FOUND', `stream ${JSON.stringify(this.sessionId)} has no ${what}`, {
      sessionId: this.sessionId,
    })
  }
}
