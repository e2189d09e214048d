/**
 * A page: the entries of 4,096 positions as columns. Page k holds positions 4096k … 4096k+4095; its bounds are fixed, so
 * that a rebuild yields the same bytes. What holds from before a page is repeated in it: each page stands for itself.
 */
import { Packr } from 'msgpackr'
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
  private readonly typeIds = new Map<string, number>()

  private constructor(
    readonly number: number,
    private readonly locations: number[],
    private readonly typeNames: string[],
    private readonly types: number[],
    private readonly flagBits: number[],
    private readonly runPositions: number[],
    private readonly runs: Run[],
    private readonly founders: Sparse,
    private readonly targets: Sparse,
    private readonly landmarks: { [name in keyof Landmarks]: Steps },
  ) {
    typeNames.forEach((name, id) => {
      this.typeIds.set(name, id)
    })
  }

  static empty(number: number): Page {
    const landmarks = {
      root: new Steps(),
      compaction: new Steps(),
      tombstone: new Steps(),
      revision: new Steps(),
      gap: new Steps(),
      info: new Steps(),
    }
    return new Page(number, [], [], [], [], [], [], new Sparse(), new Sparse(), landmarks)
  }

  get first(): number {
    return firstOf(this.number)
  }

  /** The last position it holds; `first - 1` when empty. */
  get last(): number {
    return this.first + this.locations.length - 1
  }

  push(entry: Entry): void {
    let type = this.typeIds.get(entry.type)
    if (type === undefined) {
      type = this.typeNames.length
      this.typeNames.push(entry.type)
      this.typeIds.set(entry.type, type)
    }
    const { pos, run } = entry
    this.locations.push(entry.location)
    this.types.push(type)
    this.flagBits.push(entry.flags)
    if (run.start === pos || this.runs.length === 0) {
      this.runPositions.push(pos)
      this.runs.push(run)
    }
    if (entry.founder !== pos) this.founders.push(pos, entry.founder)
    if (entry.target !== 0) this.targets.push(pos, entry.target)
    for (const name of LANDMARK_NAMES) this.landmarks[name].push(pos, entry.landmarks[name])
  }

  location(pos: number): number {
    return this.locations[pos - this.first]
  }

  type(pos: number): string {
    return this.typeNames[this.types[pos - this.first]]
  }

  flags(pos: number): number {
    return this.flagBits[pos - this.first]
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
    return this.runs[floorIndex(this.runPositions, pos)]
  }

  /** The runs that begin in this page, in order. */
  *runsBegun(): Iterable<Run> {
    for (const run of this.runs) if (run.start >= this.first) yield run
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
    return packr.pack([
      this.number,
      steps(this.locations),
      this.typeNames,
      this.types,
      this.flagBits,
      steps(this.runPositions),
      this.runs.flatMap(({ start, parent, depth }) => [start, parent, depth]),
      [this.founders, this.targets, ...LANDMARK_NAMES.map((name) => this.landmarks[name])].flatMap(
        ({ positions, values }) => [steps(positions), values],
      ),
    ])
  }

  /** The inverse of `encode`, for bytes whose check held. */
  static decode(bytes: Uint8Array): Page {
    const [number, locations, typeNames, types, flagBits, runPositions, flatRuns, columns] = packr.unpack(
      bytes,
    ) as EncodedPage
    const runs: Run[] = []
    for (let i = 0; i < flatRuns.length; i += 3)
      runs.push({ start: flatRuns[i], parent: flatRuns[i + 1], depth: flatRuns[i + 2] })
    const column = (i: number): [number[], number[]] => [sums(columns[2 * i]), columns[2 * i + 1]]
    const landmarks = {
      root: new Steps(...column(2)),
      compaction: new Steps(...column(3)),
      tombstone: new Steps(...column(4)),
      revision: new Steps(...column(5)),
      gap: new Steps(...column(6)),
      info: new Steps(...column(7)),
    }
    const [founders, targets] = [new Sparse(...column(0)), new Sparse(...column(1))]
    return new Page(
      number,
      sums(locations),
      typeNames,
      types,
      flagBits,
      sums(runPositions),
      runs,
      founders,
      targets,
      landmarks,
    )
  }
}

type EncodedPage = [number, number[], string[], number[], number[], number[], number[], number[][]]

const packr = new Packr({ useRecords: false })

/** Rising numbers as the steps between them: most fit one or two bytes. */
function steps(numbers: readonly number[]): number[] {
  return numbers.map((value, i) => (i === 0 ? value : value - numbers[i - 1]))
}

function sums(differences: number[]): number[] {
  let sum = 0
  return differences.map((difference) => (sum += difference))
}
