/**
 * The shapes (key lists) that the bodies of one log share. Ids are places in the list and are never reused.
 */

/** More would not fit the codec's two-byte ids without leaving dense arrays. */
export const SHAPES_MAX = 896
const SHAPE_KEYS_MAX = 64
const SHAPE_NAME_BYTES_MAX = 1_024
/** Shapes seen once and not yet shared; past this many the memory starts again. */
const SEEN_MAX = 1_024

export interface DictionaryPart {
  /** id of the first shape of the part */
  from: number
  shapes: string[][]
}

/** Whether a value read from a log is a part of a dictionary. */
function isPart(value: unknown): value is DictionaryPart {
  if (typeof value !== 'object' || value === null) return false
  const { from, shapes } = value as Partial<DictionaryPart>
  if (!Number.isSafeInteger(from) || !Array.isArray(shapes)) return false
  if ((from as number) < 0 || (from as number) + shapes.length > SHAPES_MAX) return false
  return shapes.every((keys) => Array.isArray(keys) && keys.every((key) => typeof key === 'string'))
}

/** What a dictionary frame says; undefined when that is no dictionary, whatever its checks say. */
export function parsePart(body: Uint8Array): DictionaryPart | undefined {
  try {
    const part = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
    return isPart(part) ? part : undefined
  } catch {
    return undefined
  }
}

export class Dictionary {
  readonly shapes: string[][] = []
  /** how many shapes the log's frames hold */
  written = 0
  /** where the last dictionary frame's own news began: the next frame repeats from there */
  private newsFrom = 0
  private readonly seen = new Set<string>()

  /** Whether a shape earns an id: at its second sight, when it is no map in disguise. */
  earnsId(keys: string[]): boolean {
    if (this.shapes.length >= SHAPES_MAX || keys.length > SHAPE_KEYS_MAX) return false
    const name = keys.join('\0')
    if (name.length > SHAPE_NAME_BYTES_MAX) return false
    if (this.seen.delete(name)) return true
    if (this.seen.size >= SEEN_MAX) this.seen.clear()
    this.seen.add(name)
    return false
  }

  /** What the next dictionary frame says: everything not written yet, and the part before it again. */
  nextPart(): DictionaryPart {
    return { from: this.newsFrom, shapes: this.shapes.slice(this.newsFrom) }
  }

  wholePart(): DictionaryPart {
    return { from: 0, shapes: this.shapes }
  }

  markWritten(): void {
    this.newsFrom = this.written
    this.written = this.shapes.length
  }

  /** What is written, to go back to when a write does not come about. */
  mark(): { written: number; newsFrom: number } {
    return { written: this.written, newsFrom: this.newsFrom }
  }

  restore(mark: { written: number; newsFrom: number }): void {
    this.written = mark.written
    this.newsFrom = mark.newsFrom
  }

  /** Takes a part from the log; false when shapes before it are still unknown. */
  adopt(part: DictionaryPart): boolean {
    if (part.from > this.shapes.length) return false
    for (const keys of part.shapes.slice(this.shapes.length - part.from)) this.shapes.push(keys)
    this.newsFrom = Math.max(this.newsFrom, part.from)
    this.written = this.shapes.length
    return true
  }
}
