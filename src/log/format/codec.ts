/**
 * Bodies of records and headers: msgpackr with the log's shapes, JSON text where msgpackr would change the value or
 * JSON the line, deflate where it helps.
 */

import { RECORD_BYTES_MAX } from '../../base/limits.js'
import { exactJson } from '../../record/exact.js'
import type { Decoded } from '../api.js'
import { deflateRaw, inflateRaw } from './deflate.js'
import { Dictionary, SHAPES_MAX } from './dictionary.js'
import { Packr, Unpackr } from './msgpack.js'

export const ENCODING_MSGPACK = 0
export const ENCODING_TEXT = 1
/** Added to the encoding: 4 bytes of size, big-endian, then raw deflate. */
export const ENCODING_DEFLATED = 0x10

const DEFLATE_FROM_BYTES = 4_096
/** The packer remembers each key list it was refused an id for; after this many it starts again. */
const REFUSALS_MAX = 2_000
/** After a body of this size the packer's buffer is let go. */
const LARGE_BODY_BYTES = 1024 * 1024
/** No record's body is larger, whatever its encoding. */
const INFLATED_BYTES_MAX = 4 * RECORD_BYTES_MAX
const SMALL_BYTES = 8 * 1024

type SharedShape = string[] & { isShared?: boolean; highByte?: number }
type SharedShapes = SharedShape[] & { sharedLength?: number }

export interface Body {
  encoding: number
  /** valid until the next `encode` of any codec: copy it */
  bytes: Uint8Array
  shapes: number
}

const textDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const textEncoder = new TextEncoder()
/** all of the memory that the last body lay in */
let block: Uint8Array = new Uint8Array(0)

export class Codec {
  readonly dictionary = new Dictionary()
  private packer?: Packr
  private refusals = 0
  private reader?: { unpackr: Unpackr; shapes: SharedShapes }

  /** `plain`: msgpackr gives the value back; `text`: the line to keep as it is. */
  encode(value: unknown, plain: boolean, text?: string): Body {
    if (text !== undefined) return shrink(ENCODING_TEXT, textEncoder.encode(text), 0)
    if (!plain) return shrink(ENCODING_TEXT, textEncoder.encode(exactJson(value)), 0)
    if (this.refusals > REFUSALS_MAX) this.packer = undefined
    this.packer ??= this.makePacker()
    const bytes = this.packer.pack(value)
    const body = shrink(ENCODING_MSGPACK, bytes, this.learn(this.packer))
    if (bytes.length > LARGE_BODY_BYTES) this.packer.useBuffer(smallLike(bytes))
    return body
  }

  /** The value of a body whose bytes are known to be sound. @throws when the dictionary is too short */
  decode(encoding: number, bytes: Uint8Array, shapes: number): Decoded {
    assertKnown(encoding)
    const raw = inflated(encoding, bytes)
    if (isText(encoding)) return JSON.parse(textDecoder.decode(raw)) as Decoded
    return this.unpacked(raw, shapes) as Decoded
  }

  /** The body as a line of JSON, without its end. */
  line(encoding: number, bytes: Uint8Array, shapes: number): string {
    assertKnown(encoding)
    const raw = inflated(encoding, bytes)
    return isText(encoding) ? textDecoder.decode(raw) : JSON.stringify(this.unpacked(raw, shapes))
  }

  /** Whether the dictionary holds what a body needs. */
  knows(shapes: number): boolean {
    return shapes <= this.dictionary.shapes.length
  }

  /** From the block that the bytes lie in: msgpackr makes a view of what it is given, which costs as much as a short body. */
  private unpacked(raw: Uint8Array, shapes: number): unknown {
    const { buffer, byteOffset, length } = raw
    if (block.buffer !== buffer) block = new Uint8Array(buffer)
    return this.unpacker(shapes).unpack(block, { start: byteOffset, end: byteOffset + length })
  }

  /** Forgets shapes that no frame holds, so that their ids are free for those of frames that come from elsewhere. */
  forgetUnwritten(): void {
    this.dictionary.shapes.length = this.dictionary.written
    this.packer = undefined
    this.reader = undefined
  }

  private makePacker(): Packr {
    this.refusals = 0
    return new Packr({
      getStructures: () => this.dictionary.shapes.map((keys) => [...keys]),
      maxSharedStructures: SHAPES_MAX,
      maxOwnStructures: 0, // an object whose shape is not shared is a map: msgpackr misreads its own two-byte definitions
      shouldShareStructure: (keys) => {
        const earns = this.dictionary.earnsId(keys)
        if (!earns) this.refusals++
        return earns
      },
    })
  }

  /** Takes over the shapes that the last `pack` gave an id; returns how many the body may need. */
  private learn(packer: Packr): number {
    const { structures } = packer as unknown as { structures: SharedShapes }
    const shared = structures.sharedLength ?? 0
    for (let id = this.dictionary.shapes.length; id < shared; id++) this.dictionary.shapes.push([...structures[id]])
    return this.dictionary.shapes.length
  }

  private unpacker(needed: number): Unpackr {
    const { shapes: known } = this.dictionary
    if (known.length < needed) throw new RangeError(`the dictionary has ${known.length} of ${needed} shapes`)
    if (this.reader === undefined) {
      const shapes: SharedShapes = []
      this.reader = { unpackr: new Unpackr({ structures: shapes, mapsAsObjects: true }), shapes }
    }
    const { unpackr, shapes } = this.reader
    for (let id = shapes.sharedLength ?? 0; id < known.length; id++) {
      const shape: SharedShape = [...known[id]]
      shape.isShared = true
      if (id >= 32) shape.highByte = (id - 32) >> 5 // as msgpackr numbers them; without it ids from 32 on do not decode
      shapes[id] = shape
      shapes.sharedLength = id + 1
    }
    return unpackr
  }
}

function assertKnown(encoding: number): void {
  const kind = encoding & ~ENCODING_DEFLATED
  if (kind !== ENCODING_MSGPACK && kind !== ENCODING_TEXT) throw new RangeError(`unknown encoding ${encoding}`)
}

/** A buffer of the kind that msgpackr made itself, which it needs to be; msgpackr keeps one for all of its process. */
function smallLike(bytes: Uint8Array): Uint8Array {
  const { allocUnsafeSlow } = bytes.constructor as { allocUnsafeSlow?: (size: number) => Uint8Array }
  return allocUnsafeSlow?.(SMALL_BYTES) ?? new Uint8Array(SMALL_BYTES)
}

function isText(encoding: number): boolean {
  return (encoding & ~ENCODING_DEFLATED) === ENCODING_TEXT
}

function shrink(encoding: number, bytes: Uint8Array, shapes: number): Body {
  if (bytes.length < DEFLATE_FROM_BYTES) return { encoding, bytes, shapes }
  const deflated = deflateRaw(bytes)
  if (deflated.length + 4 >= bytes.length) return { encoding, bytes, shapes }
  const sized = new Uint8Array(deflated.length + 4)
  new DataView(sized.buffer).setUint32(0, bytes.length)
  sized.set(deflated, 4)
  return { encoding: encoding | ENCODING_DEFLATED, bytes: sized, shapes }
}

function inflated(encoding: number, bytes: Uint8Array): Uint8Array {
  if ((encoding & ENCODING_DEFLATED) === 0) return bytes
  const size = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(0)
  if (size > INFLATED_BYTES_MAX) throw new RangeError(`a body can't be of ${size} bytes`)
  return inflateRaw(bytes.subarray(4), size)
}
