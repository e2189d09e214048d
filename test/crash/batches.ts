/**
 * What the children write, so that whoever killed them knows it too.
 */
import type { AsrRecord } from '../../src/main.js'
import { Random } from '../fault/battery.js'
import { anyRecord } from '../fault/written.js'

export const STREAMS = ['a', 'b', 'c', 'd']

/** The n-th append on a stream: 1 to 10 records, each with an id. */
export function batchOf(seed: number, session: string, n: number): AsrRecord[] {
  const random = new Random(seed, session.charCodeAt(0), session.length, n)
  return Array.from({ length: 1 + random.below(10) }, (_, i) => {
    const id = `${session}-${n}.${i}`
    return { ...anyRecord(random, id), id }
  })
}

/** What the n-th extension of a stream adds: far more than is written at once. */
export function extensionOf(seed: number, session: string, n: number): AsrRecord[] {
  return Array.from({ length: EXTENSION_BATCHES }, (_, i) =>
    batchOf(seed, session, 1 + n * EXTENSION_BATCHES + i),
  ).flat()
}

const EXTENSION_BATCHES = 400
