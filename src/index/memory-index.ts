/**
 * An index in memory: for stores without a folder, for readers that may write nothing, and to check an index against one built from
 * scratch. It is a level as far as the index asks for one (`IndexLevel`), answers at once, and keeps its rows when it is closed.
 */
import type { IndexLevel, KeyRange, KeysRead, RowWrite } from './level.js'

type StoredRow = [key: string, value: Uint8Array]

/** A piece with more rows is cut in two: a row more or less then moves a few hundred others, however many there are. */
const PIECE_ROWS_MAX = 512

export class MemoryIndex implements IndexLevel {
  readonly supports = { getSync: true }
  /** the rows in the order of their keys; no piece is empty unless it is the only one */
  private readonly pieces: StoredRow[][] = [[]]

  private isClosed = false

  async open(): Promise<void> {
    this.isClosed = false
  }

  async close(): Promise<void> {
    this.isClosed = true
  }

  getSync(key: string): Uint8Array | undefined {
    const piece = this.pieces[this.pieceOf(key)]
    const row = piece[lowerBound(piece, key)]
    return row?.[0] === key ? row[1] : undefined
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    return this.getSync(key)
  }

  async put(key: string, value: Uint8Array): Promise<void> {
    this.set(key, value)
  }

  async del(key: string): Promise<void> {
    this.remove(key)
  }

  async batch(writes: RowWrite[]): Promise<void> {
    for (const write of writes) {
      if (write.type === 'put') this.set(write.key, write.value)
      else this.remove(write.key)
    }
  }

  /** The rows as they are at this moment, whatever is written meanwhile. */
  iterator(range: KeyRange): AsyncIterable<StoredRow> {
    return oneByOne(this.within(range))
  }

  /** The same of the keys alone. */
  keys(range: KeyRange): KeysRead {
    const keys = this.within(range).map(([key]) => key)
    return Object.assign(oneByOne(keys), { all: async () => keys })
  }

  async clear({ gt, gte, lt }: KeyRange = {}): Promise<void> {
    const from = gt === undefined ? (gte ?? '') : after(gt)
    for (let at = this.pieceOf(from); at < this.pieces.length; ) {
      const piece = this.pieces[at]
      const start = lowerBound(piece, from)
      const end = lt === undefined ? piece.length : lowerBound(piece, lt)
      const isLast = end < piece.length
      piece.splice(start, Math.max(end - start, 0))
      if (piece.length > 0 || !this.drop(at)) at++
      if (isLast) return
    }
  }

  private within({ gt, gte, lt, limit = Number.POSITIVE_INFINITY }: KeyRange): StoredRow[] {
    const from = gt === undefined ? (gte ?? '') : after(gt)
    const found: StoredRow[] = []
    for (let at = this.pieceOf(from); at < this.pieces.length; at++) {
      const piece = this.pieces[at]
      for (let i = lowerBound(piece, from); i < piece.length; i++) {
        if (found.length >= limit || (lt !== undefined && piece[i][0] >= lt)) return found
        found.push([piece[i][0], piece[i][1]])
      }
    }
    return found
  }

  private set(key: string, value: Uint8Array): void {
    const at = this.pieceOf(key)
    const piece = this.pieces[at]
    const place = lowerBound(piece, key)
    if (piece[place]?.[0] === key) piece[place][1] = value
    else piece.splice(place, 0, [key, value])
    if (piece.length > PIECE_ROWS_MAX) this.pieces.splice(at + 1, 0, piece.splice(piece.length >> 1))
  }

  private remove(key: string): void {
    const at = this.pieceOf(key)
    const piece = this.pieces[at]
    const place = lowerBound(piece, key)
    if (piece[place]?.[0] !== key) return
    piece.splice(place, 1)
    if (piece.length === 0) this.drop(at)
  }

  /** Takes an empty piece away, unless it is the only one. */
  private drop(at: number): boolean {
    if (this.pieces.length === 1) return false
    this.pieces.splice(at, 1)
    return true
  }

  /** The piece where a key is, or would be: the last that begins at or before it. Every call begins with it. @throws when closed */
  private pieceOf(key: string): number {
    if (this.isClosed) throw new Error('the index in memory is closed')
    let low = 0
    let high = this.pieces.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.pieces[middle][0][0] <= key) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** The first row of a piece whose key is not less. */
function lowerBound(piece: StoredRow[], key: string): number {
  let low = 0
  let high = piece.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (piece[middle][0] < key) low = middle + 1
    else high = middle
  }
  return low
}

/** The text that comes next. */
function after(key: string): string {
  return `${key}\0`
}

async function* oneByOne<T>(items: T[]): AsyncGenerator<T> {
  yield* items
}
