/**
 * Columns that hold few values: positions in rising order, each with a value.
 */

/** A column whose values stand at single positions. */
export class Sparse {
  constructor(
    readonly positions: number[] = [],
    readonly values: number[] = [],
  ) {}

  push(pos: number, value: number): void {
    this.positions.push(pos)
    this.values.push(value)
  }

  /** The value at a position, or undefined. */
  at(pos: number): number | undefined {
    const index = floorIndex(this.positions, pos)
    return index >= 0 && this.positions[index] === pos ? this.values[index] : undefined
  }
}

/** A column whose values hold from their position up to the next one. */
export class Steps {
  constructor(
    readonly positions: number[] = [],
    readonly values: number[] = [],
  ) {}

  /** Sets the value from a position on; nothing is added when it stays the same. */
  push(pos: number, value: number): void {
    if (this.values.length > 0 && this.values[this.values.length - 1] === value) return
    this.positions.push(pos)
    this.values.push(value)
  }

  at(pos: number): number {
    return this.values[floorIndex(this.positions, pos)] ?? 0
  }
}

/** The last index whose position is at most `pos`, or -1. */
export function floorIndex(positions: readonly number[], pos: number): number {
  let low = 0
  let high = positions.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (positions[middle] <= pos) low = middle + 1
    else high = middle
  }
  return low - 1
}
