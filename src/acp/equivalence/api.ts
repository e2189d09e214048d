/**
 * What a comparison of two streams says.
 */
import type { At } from '../../stream/api.js'

export interface CompareOptions {
  /** where the path of the first stream ends; default primary */
  a?: At
  /** where the path of the second stream ends; default primary */
  b?: At
  /** how many differences are told, the first ones; default 100 */
  limit?: number
  signal?: AbortSignal
}

export interface Comparison {
  /** the views have the same entities in the same order, but for what was left out */
  equal: boolean
  /** how many entities both have */
  compared: number
  /** the first differences, in the order of the first stream */
  differences: Difference[]
  /** how many entities differ */
  differing: number
  leftOut: LeftOut[]
}

export type ComparedKind = 'compaction' | 'user_message' | 'agent_message' | 'agent_thought' | 'tool_call'

export interface Difference {
  kind: ComparedKind
  /** the id that ACP knows the entity by */
  id: string
  /** it is in one stream alone, stands elsewhere, or says something else */
  what: 'only_in_a' | 'only_in_b' | 'order' | 'value'
  /** where in what is compared of the entity, as a JSON pointer; empty: the whole */
  pointer: string
  a?: DifferenceSide
  b?: DifferenceSide
}

export interface DifferenceSide {
  recordId: string
  /** what stands there; absent when nothing does */
  value?: unknown
}

/** Something that is not compared (CORE-28, CORE-29). */
export interface LeftOut {
  /** a name as in ReplayLoss */
  category: string
  why: string
  a?: LeftOutOfOne
  b?: LeftOutOfOne
}

export interface LeftOutOfOne {
  count: number
  /** the first record it was met at */
  recordId: string | null
}
