/**
 * Reads frames at given locations, mostly rising: what lies close together comes with one read.
 */

import type { MaybePromise } from '../../base/flow.js'
import { FRAME_HEAD_BYTES, type Frame, readFrame } from '../format/frame.js'
import { offsetOf, segmentOf } from './segment.js'

const WINDOW_BYTES_MIN = 8 * 1024
const WINDOW_BYTES_MAX = 256 * 1024

/** Bytes of a segment from an offset. */
export type ReadSegment = (segment: number, offset: number, length: number) => MaybePromise<Uint8Array>

export class FrameReader {
  private segment = -1
  private start = 0
  private bytes: Uint8Array = new Uint8Array(0)
  private windowBytes = WINDOW_BYTES_MIN

  constructor(
    private readonly read: ReadSegment,
    private readonly salt: bigint,
  ) {}

  /** The frame at a location, from what was read last; undefined when that does not hold it whole. */
  held(location: number): Frame | undefined {
    const at = offsetOf(location) - this.start
    if (segmentOf(location) !== this.segment || at < 0) return undefined
    const frame = readFrame(this.bytes, at, this.salt)
    return frame !== undefined && frame.body.length === frame.bodyBytes ? frame : undefined
  }

  /** The frame at a location, its body not checked; undefined when no sound head is there. */
  async load(location: number): Promise<Frame | undefined> {
    const [segment, offset] = [segmentOf(location), offsetOf(location)]
    // Close behind what was read last: the caller goes forward, so more at once pays.
    const behind = this.start + this.bytes.length
    const goesOn = segment === this.segment && offset >= this.start && offset <= behind + this.windowBytes
    this.windowBytes = goesOn ? Math.min(this.windowBytes * 2, WINDOW_BYTES_MAX) : WINDOW_BYTES_MIN
    await this.fill(segment, offset, this.windowBytes)
    const frame = readFrame(this.bytes, 0, this.salt)
    if (frame === undefined || frame.body.length === frame.bodyBytes) return frame
    await this.fill(segment, offset, FRAME_HEAD_BYTES + frame.bodyBytes)
    return readFrame(this.bytes, 0, this.salt)
  }

  private async fill(segment: number, offset: number, length: number): Promise<void> {
    this.bytes = await this.read(segment, offset, length)
    this.segment = segment
    this.start = offset
  }
}
