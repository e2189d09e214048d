/**
 * What the index knows of one record without reading it.
 */

/** The record participates in context by its own fields (CORE-22). */
export const PARTICIPATES = 1
/** It is of type `head`: on no path (CORE-14). */
export const HEAD_RECORD = 2
export const ORPHAN = 4
export const GAP = 8
/** A compaction whose status is `completed` or none (CORE-23). */
export const COMPLETED = 16
/** Its id is `r<pos>` and needs no key. */
export const DEFAULT_ID = 32
/** It states its entity id itself (CORE-20). */
export const STATED_ID = 64

/** The extent of a compaction names something that no earlier record is. */
export const BAD_TARGET = -1

export interface Entry {
  pos: number
  /** where its frame lies in the log */
  location: number
  type: string
  flags: number
  /** position of the parent; 0: a root, or a head record */
  parent: number
  /** the run it stands in */
  run: Run
  /** the first record of its entity's chain; itself when it founds one (CORE-17) */
  founder: number
  /** tombstone: the founder of the entity it ends. compaction: T, or BAD_TARGET. Otherwise, or unstated, 0 */
  target: number
  /** the nearest of a kind on the way to the root, itself included; 0: none */
  landmarks: Landmarks
}

/** A run of positions where each record's parent is the one before. A head record is a run by itself, of depth 0. */
export interface Run {
  start: number
  /** the parent of the run's first record */
  parent: number
  /** number of records from the root to the run's first, both included */
  depth: number
}

export interface Landmarks {
  root: number
  compaction: number
  tombstone: number
  /** a record that is not the first of its entity */
  revision: number
  gap: number
  info: number
}

export const LANDMARK_NAMES = [
  'root',
  'compaction',
  'tombstone',
  'revision',
  'gap',
  'info',
] as const satisfies (keyof Landmarks)[]

export const NO_LANDMARKS: Landmarks = { root: 0, compaction: 0, tombstone: 0, revision: 0, gap: 0, info: 0 }
