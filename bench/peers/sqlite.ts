/**
 * The same work on better-sqlite3: a row a record, found by position, by id and by entity; the record as JSON, with the
 * same content hash over the same canonical text.
 */
import { closeSync, openSync } from 'node:fs'
import { hashText } from '../../src/base/hash.js'
import type { AsrRecord, StoredRecord } from '../../src/main.js'
import { canonicalText } from '../../src/record/canonical.js'
import { statedEntityId } from '../../src/record/record.js'
import { requirePeer } from './load.js'

interface Statement {
  run(...values: unknown[]): unknown
  get(...values: unknown[]): unknown
  all(...values: unknown[]): unknown[]
  iterate(...values: unknown[]): Iterable<unknown>
}

interface Database {
  pragma(text: string): unknown
  exec(sql: string): unknown
  prepare(sql: string): Statement
  transaction<Args extends unknown[]>(work: (...args: Args) => void): (...args: Args) => void
  close(): void
}

type Opens = new (file: string) => Database

/** @throws PeerMissing */
export function loadSqlite(): Opens {
  return requirePeer('better-sqlite3') as Opens
}

const STREAM = 'bench'
const TABLE = `
  CREATE TABLE IF NOT EXISTS records (
    stream TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, parent TEXT,
    type TEXT NOT NULL, entity TEXT NOT NULL, hash INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (stream, seq), UNIQUE (stream, id)
  );
  CREATE INDEX IF NOT EXISTS entities ON records (stream, type, entity);`

interface Row {
  seq: number
  body: string
}

export class SqliteStore {
  private readonly insert: Statement
  private readonly insertAll: (records: readonly AsrRecord[]) => void
  private readonly byId: Statement
  private seq: number
  private last: string | null = null

  private constructor(
    private readonly db: Database,
    private readonly stream: string,
  ) {
    this.insert = db.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
    this.byId = db.prepare('SELECT body FROM records WHERE stream = ? AND id = ?')
    this.insertAll = db.transaction((records: readonly AsrRecord[]) => {
      for (const record of records) this.appendOne(record)
    })
    this.seq =
      (db.prepare('SELECT max(seq) AS seq FROM records WHERE stream = ?').get(stream) as { seq: number | null }).seq ??
      0
  }

  static open(file: string, stream = STREAM): SqliteStore {
    const Sqlite = loadSqlite()
    closeSync(openSync(file, 'a'))
    const db = new Sqlite(file)
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.exec(TABLE)
    return new SqliteStore(db, stream)
  }

  /** In one transaction. */
  append(records: readonly AsrRecord[]): void {
    this.insertAll(records)
  }

  appendOne(given: AsrRecord): void {
    const seq = ++this.seq
    const record = given.seq === undefined ? { ...given, seq, id: given.id ?? `r${seq}` } : given
    const id = record.id as string
    const parent = record.parentId === undefined ? this.last : record.parentId
    const hash = BigInt.asIntN(64, hashText(canonicalText(record)))
    this.insert.run(
      this.stream,
      seq,
      id,
      parent,
      record.type,
      statedEntityId(record) ?? id,
      hash,
      JSON.stringify(record),
    )
    this.last = id
  }

  get(id: string): StoredRecord | undefined {
    const row = this.byId.get(this.stream, id) as Row | undefined
    return row && (JSON.parse(row.body) as StoredRecord)
  }

  /** The last compaction and what follows it, for a stream without branches. */
  view(): StoredRecord[] {
    const find = this.db.prepare("SELECT max(seq) AS seq FROM records WHERE stream = ? AND type = 'compaction'")
    const { seq } = find.get(this.stream) as { seq: number | null }
    const rows = this.db.prepare('SELECT body FROM records WHERE stream = ? AND seq >= ? ORDER BY seq')
    return (rows.all(this.stream, seq ?? 0) as Row[]).map(({ body }) => JSON.parse(body) as StoredRecord)
  }

  /** The records from a root to the record of an id. */
  path(id: string): StoredRecord[] {
    const walk = this.db.prepare(`
      WITH RECURSIVE path (seq, parent, body) AS (
        SELECT seq, parent, body FROM records WHERE stream = @stream AND id = @id
        UNION ALL
        SELECT r.seq, r.parent, r.body FROM path JOIN records r ON r.stream = @stream AND r.id = path.parent
      ) SELECT body FROM path ORDER BY seq`)
    return (walk.all({ stream: this.stream, id }) as Row[]).map(({ body }) => JSON.parse(body) as StoredRecord)
  }

  /** Reads and decodes each record between two positions. */
  scan(from: number, to: number): number {
    const rows = this.db.prepare('SELECT body FROM records WHERE stream = ? AND seq BETWEEN ? AND ? ORDER BY seq')
    let bytes = 0
    for (const row of rows.iterate(this.stream, from, to)) bytes += (JSON.parse((row as Row).body) as StoredRecord).seq
    return bytes
  }

  close(): void {
    this.db.close()
  }
}
