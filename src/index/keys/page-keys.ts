/**
 * The keys of a page that is still growing, with what look-ups need to confirm its newest records without reading them.
 */
import type { KeyRun } from './key-run.js'

/** What tells a record of the log's newest part apart. */
export interface RecordName {
  id: string
  /** the entity id that the record states itself */
  stated: string | undefined
}

/** A table of open addresses: a `Map` of numbers beyond 31 bits makes an object of each. */
const FIRST_SLOTS = 256

export class PageKeys {
  private readonly keys: number[] = []
  private readonly positions: number[] = []
  /** 1 + the place in `keys`, 0 where free; found by the key's low bits, or behind */
  private slots: Uint32Array = new Uint32Array(FIRST_SLOTS)
  /** of the records from `firstNamed` on, in order */
  private readonly names: RecordName[] = []
  private firstNamed = 0

  static from(run: KeyRun): PageKeys {
    const keys = new PageKeys()
    for (let i = 0; i < run.keys.length; i++) keys.add(run.keys[i], run.base + run.offsets[i])
    return keys
  }

  add(key: number, pos: number): void {
    this.keys.push(key)
    this.positions.push(pos)
    if (this.keys.length * 2 > this.slots.length) this.grow()
    else this.settle(this.keys.length)
  }

  /** Names the record behind the one named last. */
  name(pos: number, name: RecordName): void {
    if (this.names.length === 0) this.firstNamed = pos
    this.names.push(name)
  }

  nameOf(pos: number): RecordName | undefined {
    return this.names[pos - this.firstNamed]
  }

  /** Adds the positions that a key leads to, in the order they were added. */
  collect(key: number, into: number[]): void {
    const { slots, keys, positions } = this
    for (let slot = key & (slots.length - 1); slots[slot] > 0; slot = (slot + 1) & (slots.length - 1)) {
      const place = slots[slot] - 1
      if (keys[place] === key) into.push(positions[place])
    }
  }

  toRun(): KeyRun {
    const keys = Float64Array.from(this.keys).sort()
    const positions: number[] = []
    for (let i = 0; i < keys.length; i++) if (i === 0 || keys[i] !== keys[i - 1]) this.collect(keys[i], positions)
    const base = positions.length === 0 ? 0 : positions.reduce((least, pos) => Math.min(least, pos))
    return { keys, offsets: Uint32Array.from(positions, (pos) => pos - base), base }
  }

  private settle(place: number): void {
    const { slots } = this
    let slot = this.keys[place - 1] & (slots.length - 1)
    while (slots[slot] > 0) slot = (slot + 1) & (slots.length - 1)
    slots[slot] = place
  }

  private grow(): void {
    this.slots = new Uint32Array(this.slots.length * 2)
    for (let place = 1; place <= this.keys.length; place++) this.settle(place)
  }
}
