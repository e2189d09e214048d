/**
 * Where the frames of one write are put together. One buffer is kept for reuse; streams that write at the same time
 * get their own.
 */
import { FRAME_HEAD_BYTES, type FrameHead, writeHead } from './frame.js'

const INITIAL_BYTES = 64 * 1024
/** A buffer grown beyond this by a large record is let go. */
const KEPT_BYTES = 1024 * 1024

let spare: Uint8Array | undefined

export class BatchBuffer {
  private length = 0

  private constructor(private buffer: Uint8Array) {}

  static take(): BatchBuffer {
    const buffer = spare ?? new Uint8Array(INITIAL_BYTES)
    spare = undefined
    return new BatchBuffer(buffer)
  }

  /** Adds a frame and returns its head's check. */
  addFrame(head: FrameHead, body: Uint8Array, salt: bigint): number {
    const at = this.length
    const end = at + FRAME_HEAD_BYTES + body.length
    if (end > this.buffer.length) this.grow(end)
    const check = writeHead(this.buffer, at, head, salt)
    this.buffer.set(body, at + FRAME_HEAD_BYTES)
    this.length = end
    return check
  }

  /** What was added; valid until `release`. */
  bytes(): Uint8Array {
    return this.buffer.subarray(0, this.length)
  }

  release(): void {
    if (this.buffer.length <= KEPT_BYTES) spare = this.buffer
  }

  private grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, this.buffer.length * 2))
    grown.set(this.buffer.subarray(0, this.length))
    this.buffer = grown
  }
}
