/**
 * The rows of one log in level. Every row but the root is named, with its check, by a row above it; what is not named,
 * or does not match, is not believed. The root carries its own check.
 */
import { type Flow, wait } from '../base/flow.js'
import { check32 } from '../base/hash.js'
import { turns } from '../base/turn.js'
import type { IndexLevel, RowWrite } from './level.js'
import { formatKey, logRange, type RowKey } from './row-key.js'

const ENCODINGS = { keyEncoding: 'utf8', valueEncoding: 'view' } as const

/** A row is missing or is not what was written: the index is to be built again. */
export class IndexDamaged extends Error {}

/** Rows to be written together. */
export class RowBatch {
  private readonly operations: RowWrite[] = []

  /** Adds a row and returns the check to name it by. */
  put(key: RowKey, value: Uint8Array): number {
    this.operations.push({ type: 'put', key: formatKey(key), value })
    return check32(value)
  }

  delete(key: RowKey): void {
    this.operations.push({ type: 'del', key: formatKey(key) })
  }

  async write(level: IndexLevel): Promise<void> {
    await level.batch(this.operations, ENCODINGS)
  }
}

/** A row's bytes. @throws IndexDamaged */
export function* readRow(level: IndexLevel, key: RowKey, check: number): Flow<Uint8Array> {
  const bytes = yield* getRow(level, key)
  if (bytes === undefined || check32(bytes) !== check)
    throw new IndexDamaged(`row ${formatKey(key)} is missing or damaged`)
  return bytes
}

/** The same without a check; undefined when there is none. At once where level can. @throws IndexDamaged */
export function* getRow(level: IndexLevel, key: RowKey): Flow<Uint8Array | undefined> {
  try {
    // To have another thread read it takes ten times as long as to read it.
    if (canReadAtOnce(level)) return level.getSync(formatKey(key), ENCODINGS)
    return yield* wait(level.get(formatKey(key), ENCODINGS))
  } catch (cause) {
    throw new IndexDamaged(`row ${formatKey(key)} can't be read`, { cause })
  }
}

/** Not every level can, and the manifest's type does not tell of it. */
function canReadAtOnce({ supports }: IndexLevel): boolean {
  return (supports as { getSync?: boolean }).getSync === true
}

/** Every row of a log, in key order. @throws IndexDamaged */
export async function* logRows(level: IndexLevel, incarnation: string): AsyncGenerator<[string, Uint8Array]> {
  try {
    for await (const [key, value] of level.iterator({ ...logRange(incarnation), ...ENCODINGS })) {
      if (turns.isOver()) await turns.next()
      turns.spend(value.length)
      yield [key, value]
    }
  } catch (cause) {
    throw new IndexDamaged(`the rows of ${incarnation} can't be read`, { cause })
  }
}

/** The first key at or behind a text, or undefined. @throws IndexDamaged */
export async function firstKey(level: IndexLevel, from: string): Promise<string | undefined> {
  try {
    const [key] = await level.keys({ gte: from, limit: 1, keyEncoding: 'utf8' }).all()
    return key
  } catch (cause) {
    throw new IndexDamaged("the index's keys can't be read", { cause })
  }
}

/** What LevelDB can do, and other levels need not. */
type CompactRange = (from: string, to: string, options: { keyEncoding: 'utf8' }) => Promise<void>

async function compact(level: IndexLevel, from: string, to: string): Promise<void> {
  const { compactRange } = level as { compactRange?: CompactRange }
  await compactRange?.call(level, from, to, { keyEncoding: 'utf8' })
}

/** Has level drop what is left of rows that were written again, where it can. Nothing depends on it. */
export async function compactRows(level: IndexLevel, from: string, to: string): Promise<void> {
  await compact(level, from, to).catch(() => undefined)
}

const BEFORE_ALL = '!'
/** Behind all keys: to compact nothing has level write its newest rows, and no more. */
const BEHIND_ALL = '\uffff'

/** Has level put its newest rows into a table. */
export async function settleRows(level: IndexLevel): Promise<void> {
  await compactRows(level, BEHIND_ALL, BEHIND_ALL)
}

/** Deletes every row of a log. @throws IndexDamaged when level can't */
export function clearLog(level: IndexLevel, incarnation: string): Promise<void> {
  return clearRange(level, incarnation, logRange(incarnation))
}

/** The same but for the root, which bears witness of the log until another takes its place. @throws IndexDamaged */
export async function clearBelowRoot(level: IndexLevel, incarnation: string): Promise<void> {
  try {
    // The root stays, so clearing does not pass over it: a damaged key there, said only at the end, would spoil what is built.
    for await (const _ of level.keys({ ...logRange(incarnation), keyEncoding: 'utf8' }));
  } catch (cause) {
    throw new IndexDamaged(`the rows of ${incarnation} can't be gone through`, { cause })
  }
  const { gte, lt } = logRange(incarnation)
  const root = formatKey({ incarnation, kind: 'root' })
  await clearRange(level, incarnation, { gte, lt: root }) // there are none, unless a key was damaged
  await clearRange(level, incarnation, { gt: root, lt })
}

async function clearRange(
  level: IndexLevel,
  incarnation: string,
  range: { gte?: string; gt?: string; lt: string },
): Promise<void> {
  try {
    await level.clear({ ...range, keyEncoding: 'utf8' })
  } catch (cause) {
    throw new IndexDamaged(`the rows of ${incarnation} can't be deleted`, { cause })
  }
}

/** Behind the keys of a log's rows, and before those of any other log. */
const LAST_OF_LOG = '~'

/**
 * Deletes every row of a log, and has level write the tables anew that hold any value of one, deleted before or now. Level drops
 * values only when tables meet that overlap: the newest rows are made a table first, so that the deletions lie above them, and
 * the deletions reach from end to end. The cost is that of the log's own tables, and of two neighbours at each level.
 * @throws IndexDamaged when level can't
 */
export async function purgeLog(level: IndexLevel, incarnation: string): Promise<void> {
  await purge(level, `${incarnation}/`, `${incarnation}/${LAST_OF_LOG}`, () => clearLog(level, incarnation))
}

/** Has level drop every value that is not in force any more, of whatever log; all its tables are written anew. @throws IndexDamaged */
export async function purgeAll(level: IndexLevel): Promise<void> {
  await purge(level, BEFORE_ALL, BEHIND_ALL, async () => undefined)
}

async function purge(level: IndexLevel, first: string, last: string, clear: () => Promise<void>): Promise<void> {
  try {
    await compact(level, BEHIND_ALL, BEHIND_ALL)
    await clear()
    const ends = [first, last].map((key) => ({ type: 'del' as const, key }))
    await level.batch(ends, ENCODINGS)
    await compact(level, first, last)
  } catch (cause) {
    throw cause instanceof IndexDamaged ? cause : new IndexDamaged('deleted rows can not be purged', { cause })
  }
}
