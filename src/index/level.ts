/**
 * What the index asks of a level: the part of `AbstractLevel` (of the package `abstract-level`) that it uses, so that every level
 * serves, and an index in memory needs no package.
 */

export type RowWrite = { type: 'put'; key: string; value: Uint8Array } | { type: 'del'; key: string }

/** From the first key that is asked for to the last, in the order of keys. */
export interface KeyRange {
  gt?: string
  gte?: string
  lt?: string
  limit?: number
}

/** The index states its encodings at each call, whatever the level's own are. */
export interface KeyEncoding {
  keyEncoding: 'utf8'
}
export interface Encodings extends KeyEncoding {
  valueEncoding: 'view'
}

export interface KeysRead extends AsyncIterable<string> {
  all(): Promise<string[]>
}

export interface IndexLevel {
  /** `getSync`: whether it can read at once, as not every level can */
  readonly supports: object
  open(): Promise<void>
  close(): Promise<void>
  get(key: string, encodings: Encodings): Promise<Uint8Array | undefined>
  getSync(key: string, encodings: Encodings): Uint8Array | undefined
  put(key: string, value: Uint8Array, encodings: Encodings): Promise<void>
  del(key: string, encodings: KeyEncoding): Promise<void>
  /** All or none. */
  batch(writes: RowWrite[], encodings: Encodings): Promise<void>
  iterator(range: KeyRange & Encodings): AsyncIterable<[string, Uint8Array]>
  keys(range: KeyRange & KeyEncoding): KeysRead
  /** Deletes the rows. */
  clear(range?: KeyRange & KeyEncoding): Promise<void>
}
