/**
 * Ways in which stored bytes go bad, and which frame of a log it meets.
 */

import { parseSegmentFile, saltOf } from '../../src/log/files/segment.js'
import { KIND } from '../../src/log/format/frame.js'
import { framesOf, type Placed } from '../log/handmade.js'
import type { Random } from './battery.js'

export const SECTOR = 512
export const PAGE = 4096

export function flippedAt(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  return bytes.with(at, bytes[at] ^ (1 << bit))
}

export function zeroed(bytes: Uint8Array, from: number, size: number): Uint8Array {
  return bytes.slice().fill(0, from, Math.min(from + size, bytes.length))
}

/** Two blocks of a file changed places. */
export function swapped(bytes: Uint8Array, one: number, other: number, size: number): Uint8Array {
  const changed = bytes.slice()
  changed.set(bytes.subarray(other, other + size), one)
  changed.set(bytes.subarray(one, one + size), other)
  return changed
}

/** One of the things a disk does to a file, at random; undefined when the file has no room for it. */
export function anyDamage(bytes: Uint8Array, older: Uint8Array, random: Random): Uint8Array | undefined {
  const block = random.pick([SECTOR, PAGE])
  const blocks = Math.floor(bytes.length / block)
  const at = random.below(Math.ceil(bytes.length / block)) * block
  switch (random.below(3)) {
    case 0:
      return zeroed(bytes, at, block)
    case 1: {
      const [one, other] = [random.below(blocks) * block, random.below(blocks) * block]
      return blocks < 2 || one === other ? undefined : swapped(bytes, one, other, block)
    }
    default: {
      const stale = bytes.slice()
      stale.set(older.subarray(at, Math.min(at + block, bytes.length)), at)
      return stale
    }
  }
}

/** The frames of a log's file, which must be sound. */
export function framesIn(file: string, bytes: Uint8Array): Placed[] {
  const parsed = parseSegmentFile(file)
  if (parsed === undefined) throw new Error(`${file} is no log`)
  return framesOf(bytes, saltOf(parsed.log))
}

export interface Hit {
  /** what `verify` has to name: the first position from which the log is damaged, and the byte */
  pos: number
  at: number
  /** the record that the frame holds, if it is one */
  record: number | undefined
  kind: number
}

/** What a change of the byte at a place in a log does. */
export function hitOf(frames: readonly Placed[], offset: number): Hit {
  const frame = frames.find(({ at, size }) => offset < at + size)!
  const isRecord = frame.kind === KIND.record
  return {
    pos: isRecord ? frame.pos : frame.pos + 1,
    at: frame.at,
    record: isRecord ? frame.pos : undefined,
    kind: frame.kind,
  }
}
