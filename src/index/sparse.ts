/**
 * Columns that hold few values: positions in rising order, each with a value.
 */
import { Column, RisingColumn } from './column.js'

/** A column whose values stand at single positions. */
export class Sparse {
  constructor(
    readonly positions = new RisingColumn(),
    readonly values = new Column(),
  ) {}

  push(pos: number, value: number): void {
    this.positions.values.push(pos)
    this.values.values.push(value)
  }

  /** The value at a position, or undefined. */
  at(pos: number): number | undefined {
    const positions = this.positions.values
    const index = floorIndex(positions, pos)
    return index >= 0 && positions[index] === pos ? this.values.values[index] : undefined
  }
}

/** A column whose values hold from their position up to the next one. */
export class Steps {
  constructor(
    readonly positions = new RisingColumn(),
    readonly values = new Column(),
  ) {}

  /** Sets the value from a position on; nothing is added when it stays the same. */
  push(pos: number, value: number): void {
    const { values } = this.values
    if (values.length > 0 && values[values.length - 1] === value) return
    this.positions.values.push(pos)
    values.push(value)
  }

  at(pos: number): number {
    return this.values.values[floorIndex(this.positions.values, pos)] ?? 0
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
