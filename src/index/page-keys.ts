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

export class PageKeys {
  private readonly byKey = new Map<number, number | number[]>()
  private readonly names = new Map<number, RecordName>()

  static from(run: KeyRun): PageKeys {
    const keys = new PageKeys()
    for (let i = 0; i < run.keys.length; i++) keys.add(run.keys[i], run.positions[i])
    return keys
  }

  add(key: number, pos: number): void {
    const there = this.byKey.get(key)
    if (there === undefined) this.byKey.set(key, pos)
    else if (typeof there === 'number') this.byKey.set(key, [there, pos])
    else there.push(pos)
  }

  name(pos: number, name: RecordName): void {
    this.names.set(pos, name)
  }

  nameOf(pos: number): RecordName | undefined {
    return this.names.get(pos)
  }

  collect(key: number, into: number[]): void {
    const there = this.byKey.get(key)
    if (there === undefined) return
    if (typeof there === 'number') into.push(there)
    else into.push(...there)
  }

  toRun(): KeyRun {
    const keys: number[] = []
    const positions: number[] = []
    for (const key of Float64Array.from(this.byKey.keys()).sort()) {
      const there = this.byKey.get(key) as number | number[]
      for (const pos of typeof there === 'number' ? [there] : there) {
        keys.push(key)
        positions.push(pos)
      }
    }
    return { keys: Float64Array.from(keys), positions: Float64Array.from(positions) }
  }
}
