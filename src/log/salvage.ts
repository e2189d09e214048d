/**
 * Every sound frame of a log, wherever it lies: for what is left of a damaged one. Nothing is asked of order or links.
 */
import { bodyHolds, FRAME_HEAD_BYTES, type Frame, findMagic, readFrame } from './frame.js'
import { locate, type Segment } from './segment.js'
import type { LogStorage } from './storage.js'

const BLOCK_BYTES = 1024 * 1024

export interface SoundFrame {
  at: number
  frame: Frame
}

export async function* soundFrames(
  storage: LogStorage,
  segments: readonly Segment[],
  salt: bigint,
): AsyncGenerator<SoundFrame> {
  for (const { number, file, size } of segments) {
    let offset = 0
    while (offset < size) {
      const bytes = await storage.read(file, offset, Math.min(BLOCK_BYTES, size - offset))
      const start = findMagic(bytes, 0)
      if (start === -1 || bytes.length < FRAME_HEAD_BYTES) {
        offset += Math.max(1, bytes.length - FRAME_HEAD_BYTES + 1) // a head may lie across two blocks
        continue
      }
      offset += start
      const frame = await soundAt(storage, file, offset, size, salt)
      if (frame !== undefined) yield { at: locate(number, offset), frame }
      offset += frame === undefined ? 1 : FRAME_HEAD_BYTES + frame.bodyBytes
    }
  }
}

async function soundAt(
  storage: LogStorage,
  file: string,
  offset: number,
  size: number,
  salt: bigint,
): Promise<Frame | undefined> {
  const head = readFrame(await storage.read(file, offset, FRAME_HEAD_BYTES), 0, salt)
  if (head === undefined || offset + FRAME_HEAD_BYTES + head.bodyBytes > size) return undefined
  const frame = readFrame(await storage.read(file, offset, FRAME_HEAD_BYTES + head.bodyBytes), 0, salt)
  return frame !== undefined && bodyHolds(frame) ? frame : undefined
}
