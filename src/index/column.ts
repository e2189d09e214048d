/**
 * Columns of whole numbers, and their bytes: each number as groups of seven bits, the lowest first, all but the last with the
 * eighth bit set. A column is decoded when it is first asked for: most questions need one or two of a page's.
 */

/** Numbers from -1 up to 2^53 - 2, in any order. */
export class Column {
  private numbers: number[] | undefined
  private found = 0

  /**
   * `bytes`: what `encode` made; without them the column is empty, and grows by what is pushed to `values`. `count`: of how many
   * numbers, where that is known; with a byte each, they need no decoding.
   */
  constructor(
    private readonly bytes?: Uint8Array,
    private readonly count?: number,
  ) {}

  get values(): number[] {
    this.numbers ??= this.bytes === undefined ? [] : this.decode(this.bytes)
    return this.numbers
  }

  /** The value at an index, which must be one of it. A few are found without decoding all of them. */
  at(index: number): number {
    const { bytes, numbers } = this
    if (numbers === undefined && bytes !== undefined) {
      if (bytes.length === this.count) return bytes[index] - 1
      if (this.found++ < FOUND_MAX) return this.findIn(bytes, index)
    }
    return this.values[index]
  }

  encode(): Uint8Array {
    return encodeNumbers(this.values)
  }

  protected decode(bytes: Uint8Array): number[] {
    return decodeNumbers(bytes)
  }

  protected findIn(bytes: Uint8Array, index: number): number {
    const reader = new NumberReader(bytes)
    for (let i = 0; i < index; i++) reader.next()
    return reader.next()
  }
}

/** Numbers that never fall, as the steps between them: most fit one or two bytes. */
export class RisingColumn extends Column {
  /** Its numbers are never bytes themselves: it takes no count. */
  constructor(bytes?: Uint8Array) {
    super(bytes)
  }

  override encode(): Uint8Array {
    return encodeNumbers(this.values.map((value, i, values) => (i === 0 ? value : value - values[i - 1])))
  }

  protected override decode(bytes: Uint8Array): number[] {
    const numbers = decodeNumbers(bytes)
    for (let i = 1; i < numbers.length; i++) numbers[i] += numbers[i - 1]
    return numbers
  }

  protected override findIn(bytes: Uint8Array, index: number): number {
    const reader = new NumberReader(bytes)
    let sum = reader.next()
    for (let i = 0; i < index; i++) sum += reader.next()
    return sum
  }
}

/** So many look-ups cost less than to decode a page's column. */
const FOUND_MAX = 2

const BYTES_MAX = 8

/** Written to and copied from, whole in between: a page has two dozen columns, most of them short. */
let scratch = new Uint8Array(0)

function encodeNumbers(numbers: readonly number[]): Uint8Array {
  if (scratch.length < numbers.length * BYTES_MAX) scratch = new Uint8Array(numbers.length * BYTES_MAX)
  const bytes = scratch
  let at = 0
  for (const number of numbers) {
    let rest = number + 1
    while (rest > 0x7f) {
      bytes[at++] = (rest % 0x80) + 0x80
      rest = Math.floor(rest / 0x80)
    }
    bytes[at++] = rest
  }
  return bytes.slice(0, at)
}

function decodeNumbers(bytes: Uint8Array): number[] {
  const numbers: number[] = []
  const reader = new NumberReader(bytes)
  while (!reader.ended) numbers.push(reader.next())
  return numbers
}

class NumberReader {
  private offset = 0

  constructor(private readonly bytes: Uint8Array) {}

  get ended(): boolean {
    return this.offset === this.bytes.length
  }

  next(): number {
    let byte = this.bytes[this.offset++]
    let value = byte & 0x7f
    for (let scale = 0x80; byte > 0x7f; scale *= 0x80) {
      byte = this.bytes[this.offset++]
      value += (byte & 0x7f) * scale
    }
    return value - 1
  }
}

/** Pieces of bytes as one: how many, the length of each, then all of them. Counts are four bytes, little-endian. */
export function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((size, piece) => size + 4 + piece.length, 4))
  const view = new DataView(bytes.buffer)
  view.setUint32(0, pieces.length, true)
  let at = 4 + 4 * pieces.length
  for (const [i, piece] of pieces.entries()) {
    view.setUint32(4 + 4 * i, piece.length, true)
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/** The inverse of `joinPieces`. */
export function splitPieces(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const count = view.getUint32(0, true)
  let end = 4 + 4 * count
  return Array.from({ length: count }, (_, i) => {
    const start = end
    end += view.getUint32(4 + 4 * i, true)
    return bytes.subarray(start, end)
  })
}
