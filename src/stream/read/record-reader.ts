/**
 * Records of a stream by position, one after the other.
 */

import { turns } from '../../base/turn.js'
import { DEFAULT_ID } from '../../index/entry.js'
import { type Page, pageOf } from '../../index/page.js'
import type { StoredEntry } from '../../log/api.js'
import type { StoredRecord } from '../../record/record.js'
import type { StreamCore } from '../core/stream-core.js'

export class RecordReader {
  private readonly entries
  private page: Page | undefined

  constructor(private readonly core: StreamCore) {
    this.entries = core.log.reader()
  }

  async stored(pos: number): Promise<StoredEntry> {
    const page = await this.pageAt(pos)
    return this.core.log.entry(page.location(pos), pos, this.entries)
  }

  async record(pos: number): Promise<StoredRecord> {
    return this.core.log.decode(await this.stored(pos)) as unknown as StoredRecord
  }

  /** The record at a position when it is in what was read last, else undefined. */
  held(pos: number): StoredRecord | undefined {
    const { page } = this
    if (page === undefined || page.first > pos || page.last < pos) return undefined
    const entry = this.entries.held(page.location(pos))
    return entry && (this.core.log.decode(this.core.log.sound(entry, pos)) as unknown as StoredRecord)
  }

  /** The id of the record at a position, which is read only when that is no default one. */
  async id(pos: number): Promise<string> {
    const page = await this.pageAt(pos)
    return (page.flags(pos) & DEFAULT_ID) === 0 ? (await this.record(pos)).id : `r${pos}`
  }

  /** The page that holds a position: columns can be looked at before a record is read. */
  async pageAt(pos: number): Promise<Page> {
    if (turns.isOver()) await turns.next()
    const number = pageOf(pos)
    if (this.page?.number === number && this.page.last >= pos) return this.page
    const page = await this.core.ask(({ index }) => index.page(number))
    this.page = page
    return page
  }
}

/** The ids of records at positions, without reading those whose id is the default one. */
export async function idsAt(core: StreamCore, positions: Iterable<number>): Promise<string[]> {
  const ids: string[] = []
  const reader = new RecordReader(core)
  for (const pos of positions) ids.push(await reader.id(pos))
  return ids
}
