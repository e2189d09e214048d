/**
 * Records by the dice, the same for the same seed.
 */
import type { AsrRecord } from '../record/record.js'

/** Whole numbers from 0 to less than a limit (mulberry32). */
export type Dice = (limit: number) => number

export function diceOf(seed: number): Dice {
  let state = seed >>> 0
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

const TEXTS = ['', 'a', 'é😀', 'line\nline', '\u0000', '"', 'word '.repeat(900), '__proto__', '-0', '\u2028']
const NUMBERS = [0, -0, 1, -1, 0.1, 1e21, 5e-324, 2 ** 53 - 1, 1.5e300]
const KEYS = ['a', 'b', 'content', '', '1', '__proto__', 'toJSON', 'a b', 'length']

function anyValue(dice: Dice, depth: number): unknown {
  switch (dice(depth > 3 ? 4 : 6)) {
    case 0:
      return TEXTS[dice(TEXTS.length)]
    case 1:
      return NUMBERS[dice(NUMBERS.length)]
    case 2:
      return dice(2) === 0
    case 3:
      return null
    case 4:
      return Array.from({ length: dice(4) }, () => anyValue(dice, depth + 1))
    default:
      return Object.fromEntries(
        Array.from({ length: dice(5) }, () => [KEYS[dice(KEYS.length)], anyValue(dice, depth + 1)]),
      )
  }
}

/** A record; of those before, it may be the child of one, revise one, or move a head to one. */
export function recordOf(dice: Dice, ids: readonly string[], id: string): AsrRecord {
  const before = ids.length === 0 ? undefined : ids[dice(ids.length)]
  const kind = dice(8)
  if (kind === 0 && before !== undefined)
    return { type: 'head', id, name: ['primary', 'other'][dice(2)], recordId: before }
  return {
    type: ['message', 'tool_call', 'note'][dice(3)],
    id,
    data: anyValue(dice, 0),
    ...(kind === 1 && before !== undefined && { parentId: before }),
    ...(kind === 2 && before !== undefined && { supersedes: before }),
    ...(kind === 3 && { head: 'other' }),
  } as AsrRecord
}
