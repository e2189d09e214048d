/**
 * A page: the entries of 4,096 positions as columns. Page k holds positions 4096k … 4096k+4095; its bounds are fixed, so
 * that a rebuild yields the same bytes. What holds from before a page is repeated in it: each page stands for itself.
 */
import { Column, joinPieces, RisingColumn, splitPieces } from './column.js'
import { type Entry, LANDMARK_NAMES, type Landmarks, type Run } from './entry.js'
import { floorIndex, Sparse, Steps } from './sparse.js'

export const PAGE_POSITIONS = 4_096

export function pageOf(pos: number): number {
  return Math.floor(pos / PAGE_POSITIONS)
}

/** The first position of a page; there is no position 0. */
export function firstOf(page: number): number {
  return Math.max(1, page * PAGE_POSITIONS)
}

export class Page {
  private constructor(
    readonly number: number,
    private readonly locations = new RisingColumn(),
    private readonly typeNames = new TypeNames(),
    private readonly types = new Column(),
    private readonly flagBits = new Column(),
    /** the first may begin in an earlier page */
    private readonly runs = { starts: new RisingColumn(), parents: new Column(), depths: new Column() },
    private readonly founders = new Sparse(),
    private readonly targets = new Sparse(),
    private readonly landmarks: { [name in keyof Landmarks]: Steps } = {
      root: new Steps(),
      compaction: new Steps(),
      tombstone: new Steps(),
      revision: new Steps(),
      gap: new Steps(),
      info: new Steps(),
    },
  ) {}

  static empty(number: number): Page {
    return new Page(number)
  }

  get first(): number {
    return firstOf(this.number)
  }

  /** The last position it holds; `first - 1` when empty. */
  get last(): number {
    return this.first + this.locations.values.length - 1
  }

  push(entry: Entry): void {
    const { pos, run } = entry
    this.locations.values.push(entry.location)
    this.types.values.push(this.typeNames.idOf(entry.type))
    this.flagBits.values.push(entry.flags)
    const { starts, parents, depths } = this.runs
    if (run.start === pos || starts.values.length === 0) {
      starts.values.push(run.start)
      parents.values.push(run.parent)
      depths.values.push(run.depth)
    }
    if (entry.founder !== pos) this.founders.push(pos, entry.founder)
    if (entry.target !== 0) this.targets.push(pos, entry.target)
    for (const name of LANDMARK_NAMES) this.landmarks[name].push(pos, entry.landmarks[name])
  }

  location(pos: number): number {
    return this.locations.at(pos - this.first)
  }

  type(pos: number): string {
    return this.typeNames.name(this.types.at(pos - this.first))
  }

  flags(pos: number): number {
    return this.flagBits.at(pos - this.first)
  }

  founder(pos: number): number {
    return this.founders.at(pos) ?? pos
  }

  target(pos: number): number {
    return this.targets.at(pos) ?? 0
  }

  landmark(name: keyof Landmarks, pos: number): number {
    return this.landmarks[name].at(pos)
  }

  /** The run that holds a position; it may begin in an earlier page. */
  run(pos: number): Run {
    return this.runAt(floorIndex(this.runs.starts.values, pos))
  }

  /** The runs that begin in this page, in order. */
  *runsBegun(): Iterable<Run> {
    const starts = this.runs.starts.values
    for (let i = 0; i < starts.length; i++) if (starts[i] >= this.first) yield this.runAt(i)
  }

  private runAt(index: number): Run {
    const { starts, parents, depths } = this.runs
    return { start: starts.values[index], parent: parents.values[index], depth: depths.values[index] }
  }

  parent(pos: number): number {
    const run = this.run(pos)
    return pos === run.start ? run.parent : pos - 1
  }

  entry(pos: number): Entry {
    const run = this.run(pos)
    return {
      pos,
      location: this.location(pos),
      type: this.type(pos),
      flags: this.flags(pos),
      parent: pos === run.start ? run.parent : pos - 1,
      run,
      founder: this.founder(pos),
      target: this.target(pos),
      landmarks: {
        root: this.landmark('root', pos),
        compaction: this.landmark('compaction', pos),
        tombstone: this.landmark('tombstone', pos),
        revision: this.landmark('revision', pos),
        gap: this.landmark('gap', pos),
        info: this.landmark('info', pos),
      },
    }
  }

  encode(): Uint8Array {
    const { starts, parents, depths } = this.runs
    const sparse = [this.founders, this.targets, ...LANDMARK_NAMES.map((name) => this.landmarks[name])]
    const count = new Column()
    count.values.push(this.locations.values.length)
    const columns = [
      count,
      this.locations,
      this.typeNames,
      this.types,
      this.flagBits,
      starts,
      parents,
      depths,
      ...sparse.flatMap(({ positions, values }) => [positions, values]),
    ]
    return joinPieces(columns.map((column) => column.encode()))
  }

  /** The inverse of `encode`, for bytes whose check held. */
  static decode(number: number, bytes: Uint8Array): Page {
    const [counted, locations, typeNames, types, flags, starts, parents, depths, ...sparse] = splitPieces(bytes)
    const count = new Column(counted).at(0)
    const pair = (i: number): [RisingColumn, Column] => [new RisingColumn(sparse[2 * i]), new Column(sparse[2 * i + 1])]
    return new Page(
      number,
      new RisingColumn(locations),
      new TypeNames(typeNames),
      new Column(types, count),
      new Column(flags, count),
      { starts: new RisingColumn(starts), parents: new Column(parents), depths: new Column(depths) },
      new Sparse(...pair(0)),
      new Sparse(...pair(1)),
      {
        root: new Steps(...pair(2)),
        compaction: new Steps(...pair(3)),
        tombstone: new Steps(...pair(4)),
        revision: new Steps(...pair(5)),
        gap: new Steps(...pair(6)),
        info: new Steps(...pair(7)),
      },
    )
  }
}

/** The types of a page's records, by the order in which they came. */
class TypeNames {
  private held: string[] | undefined
  private ids: Map<string, number> | undefined

  constructor(private readonly bytes?: Uint8Array) {}

  private get names(): string[] {
    this.held ??= this.bytes === undefined ? [] : (JSON.parse(new TextDecoder().decode(this.bytes)) as string[])
    return this.held
  }

  name(id: number): string {
    return this.names[id]
  }

  /** A name's number; a new one is added. */
  idOf(name: string): number {
    this.ids ??= new Map(this.names.map((each, id) => [each, id]))
    let id = this.ids.get(name)
    if (id === undefined) {
      id = this.names.push(name) - 1
      this.ids.set(name, id)
    }
    return id
  }

  encode(): Uint8Array {
    return new TextEncoder().encode(JSON.stringify(this.names))
  }
}
