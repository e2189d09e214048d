/**
 * A log is a run of frames: a head of 52 bytes, then the body. `spec/log-format.md` describes every byte.
 */
import { check32 } from '../../base/hash.js'
import { ENTRY_KIND } from '../api.js'

export const FRAME_HEAD_BYTES = 52

/** No UTF-8 text holds these bytes, so that a search for the next frame is not misled by text. */
const MAGIC = [0xf7, 0xa5, 0xff] as const

/** Of frames: entries, and what only the log itself needs. */
export const KIND = { segment: 1, ...ENTRY_KIND, dictionary: 4 } as const
export type FrameKind = (typeof KIND)[keyof typeof KIND]

/** The last frame of an append: recovery and readers stop at the last one. */
export const FLAG_END = 1

export interface FrameHead {
  kind: FrameKind
  flags: number
  encoding: number
  /** how many shapes of the dictionary the body needs */
  shapes: number
  bodyBytes: number
  /** a record's own position; of other kinds the last position before */
  pos: number
  /** position of the resolved parent, 0 for a root */
  parent: number
  hash: bigint
  /** the chain up to and with this frame's record */
  chain: bigint
  /** the head check of the frame before, 0 for the first */
  previous: number
  bodyCheck: number
}

/** A frame as it was read; `head` checks hold, the body's may not. */
export interface Frame extends FrameHead {
  /** this frame's head check */
  check: number
  body: Uint8Array
}

const OFFSET = {
  kind: 3,
  flags: 4,
  encoding: 5,
  shapes: 6,
  bodyBytes: 8,
  pos: 12,
  parent: 18,
  hash: 24,
  chain: 32,
  previous: 40,
  bodyCheck: 44,
  check: 48,
} as const

/** Writes a frame's head at `at` and returns its check. `salt` is the log's own; the segment frame uses 0. */
export function writeHead(bytes: Uint8Array, at: number, head: FrameHead, salt: bigint): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, FRAME_HEAD_BYTES)
  bytes.set(MAGIC, at)
  view.setUint8(OFFSET.kind, head.kind)
  view.setUint8(OFFSET.flags, head.flags)
  view.setUint8(OFFSET.encoding, head.encoding)
  view.setUint16(OFFSET.shapes, head.shapes)
  view.setUint32(OFFSET.bodyBytes, head.bodyBytes)
  setUint48(view, OFFSET.pos, head.pos)
  setUint48(view, OFFSET.parent, head.parent)
  view.setBigUint64(OFFSET.hash, head.hash)
  view.setBigUint64(OFFSET.chain, head.chain)
  view.setUint32(OFFSET.previous, head.previous)
  view.setUint32(OFFSET.bodyCheck, head.bodyCheck)
  const check = headCheck(bytes, at, salt)
  view.setUint32(OFFSET.check, check)
  return check
}

function headCheck(bytes: Uint8Array, at: number, salt: bigint): number {
  return check32(bytes.subarray(at, at + OFFSET.check), salt)
}

/** The frame whose head begins at `at`, with as much of its body as the bytes hold; undefined when no sound head is there. */
export function readFrame(bytes: Uint8Array, at: number, salt: bigint): Frame | undefined {
  if (at + FRAME_HEAD_BYTES > bytes.length) return undefined
  if (bytes[at] !== MAGIC[0] || bytes[at + 1] !== MAGIC[1] || bytes[at + 2] !== MAGIC[2]) return undefined
  const view = viewOf(bytes)
  const kind = view.getUint8(at + OFFSET.kind)
  const check = view.getUint32(at + OFFSET.check)
  if (headCheck(bytes, at, kind === KIND.segment ? 0n : salt) !== check) return undefined
  return new ReadFrame(view, bytes, at, kind as FrameKind, check)
}

/** What was read of a frame; its two hashes are only made when they are looked at, since most readers do not. */
class ReadFrame implements Frame {
  readonly flags: number
  readonly encoding: number
  readonly shapes: number
  readonly bodyBytes: number
  readonly pos: number
  readonly parent: number
  readonly previous: number
  readonly bodyCheck: number
  readonly body: Uint8Array

  constructor(
    private readonly view: DataView,
    bytes: Uint8Array,
    private readonly at: number,
    readonly kind: FrameKind,
    readonly check: number,
  ) {
    this.flags = view.getUint8(at + OFFSET.flags)
    this.encoding = view.getUint8(at + OFFSET.encoding)
    this.shapes = view.getUint16(at + OFFSET.shapes)
    this.bodyBytes = view.getUint32(at + OFFSET.bodyBytes)
    this.pos = getUint48(view, at + OFFSET.pos)
    this.parent = getUint48(view, at + OFFSET.parent)
    this.previous = view.getUint32(at + OFFSET.previous)
    this.bodyCheck = view.getUint32(at + OFFSET.bodyCheck)
    const bodyAt = at + FRAME_HEAD_BYTES
    this.body = bytes.subarray(bodyAt, bodyAt + this.bodyBytes)
  }

  get hash(): bigint {
    return this.view.getBigUint64(this.at + OFFSET.hash)
  }

  get chain(): bigint {
    return this.view.getBigUint64(this.at + OFFSET.chain)
  }
}

let viewedBytes: Uint8Array = new Uint8Array(0)
let viewed = new DataView(viewedBytes.buffer)

/** A view of bytes. That of the block looked at last is at hand: frames come by the thousand from one block. */
function viewOf(bytes: Uint8Array): DataView {
  if (viewedBytes !== bytes) {
    viewedBytes = bytes
    viewed = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }
  return viewed
}

/** Whether the body is all there and is what was written. */
export function bodyHolds(frame: Frame): boolean {
  return frame.body.length === frame.bodyBytes && check32(frame.body) === frame.bodyCheck
}

/** Where the next magic begins at or after `from`, or -1. */
export function findMagic(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(MAGIC[0], from); at !== -1; at = bytes.indexOf(MAGIC[0], at + 1)) {
    if (bytes[at + 1] === MAGIC[1] && bytes[at + 2] === MAGIC[2]) return at
  }
  return -1
}

function setUint48(view: DataView, at: number, value: number): void {
  view.setUint16(at, Math.floor(value / 0x1_0000_0000))
  view.setUint32(at + 2, value % 0x1_0000_0000)
}

function getUint48(view: DataView, at: number): number {
  return view.getUint16(at) * 0x1_0000_0000 + view.getUint32(at + 2)
}
