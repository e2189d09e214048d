/**
 * Raw level: a row a record, JSON under its position, and a row from its id to the position. The same level as the store's.
 */
import { Level } from 'level'
import { hashText, hex64 } from '../../src/base/hash.js'
import type { AsrRecord, StoredRecord } from '../../src/main.js'
import { canonicalText } from '../../src/record/canonical.js'

interface Stored {
  hash: string
  record: StoredRecord
}

export class LevelStore {
  private constructor(
    private readonly level: Level<string, string>,
    private seq: number,
  ) {}

  static async open(folder: string): Promise<LevelStore> {
    const level = new Level<string, string>(folder)
    await level.open()
    const [last] = await level.keys({ gte: 's', lt: 't', reverse: true, limit: 1 }).all()
    return new LevelStore(level, last === undefined ? 0 : Number(last.slice(1)))
  }

  async append(records: readonly AsrRecord[]): Promise<void> {
    const rows: { type: 'put'; key: string; value: string }[] = []
    for (const given of records) {
      const seq = ++this.seq
      const record = { ...given, seq, id: given.id ?? `r${seq}` } as StoredRecord
      const value = JSON.stringify({ hash: hex64(hashText(canonicalText(record))), record } satisfies Stored)
      rows.push({ type: 'put', key: keyOf(seq), value }, { type: 'put', key: `i${record.id}`, value: keyOf(seq) })
    }
    await this.level.batch(rows)
  }

  async get(id: string): Promise<StoredRecord | undefined> {
    const key = await this.level.get(`i${id}`)
    const value = key === undefined ? undefined : await this.level.get(key)
    return value === undefined ? undefined : (JSON.parse(value) as Stored).record
  }

  /** The last compaction and what follows it, for a stream without branches. */
  async view(): Promise<StoredRecord[]> {
    const records: StoredRecord[] = []
    for await (const value of this.level.values({ gte: 's', lt: 't', reverse: true })) {
      const { record } = JSON.parse(value) as Stored
      records.push(record)
      if (record.type === 'compaction') break
    }
    return records.reverse()
  }

  async close(): Promise<void> {
    await this.level.close()
  }
}

function keyOf(seq: number): string {
  return `s${String(seq).padStart(12, '0')}`
}
