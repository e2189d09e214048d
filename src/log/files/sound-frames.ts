/**
 * Every sound frame of a log, wherever it lies: for what is left of a damaged one. Nothing is asked of order or links.
 */
import { turns } from '../../base/turn.js'
import { bodyHolds, FRAME_HEAD_BYTES, type Frame, findMagic, readFrame } from '../format/frame.js'
import type { LogStorage } from '../storage/storage.js'
import { locate, type Segment } from './segment.js'

const BLOCK_BYTES = 1024 * 1024

export interface SoundFrame {
  at: number
  entry: Frame
}

export async function* soundFrames(
  storage: Pick<LogStorage, 'read'>,
  segments: readonly Segment[],
  salt: bigint,
): AsyncGenerator<SoundFrame> {
  for (const { number, file, size } of segments) {
    for (let offset = 0; offset < size; ) {
      const bytes = await storage.read(file, offset, Math.min(BLOCK_BYTES, size - offset))
      let behind = Math.max(1, bytes.length - FRAME_HEAD_BYTES + 1) // a head may lie across two blocks
      for (let at = findMagic(bytes, 0); at !== -1 && at + FRAME_HEAD_BYTES <= bytes.length; ) {
        turns.spend(FRAME_HEAD_BYTES)
        if (turns.isOver()) await turns.next()
        const frame = await soundAt(storage, file, { offset, bytes, at, size }, salt)
        if (frame !== undefined) yield { at: locate(number, offset + at), entry: frame }
        const next = at + (frame === undefined ? 1 : FRAME_HEAD_BYTES + frame.bodyBytes)
        behind = Math.max(behind, next)
        at = findMagic(bytes, next)
      }
      offset += behind
    }
  }
}

interface Place {
  offset: number
  bytes: Uint8Array
  at: number
  size: number
}

/** The frame at a place in a block, when it is sound; what goes beyond the block is read by itself. */
async function soundAt(
  storage: Pick<LogStorage, 'read'>,
  file: string,
  { offset, bytes, at, size }: Place,
  salt: bigint,
): Promise<Frame | undefined> {
  let frame = readFrame(bytes, at, salt)
  if (frame === undefined || offset + at + FRAME_HEAD_BYTES + frame.bodyBytes > size) return undefined
  if (frame.body.length < frame.bodyBytes)
    frame = readFrame(await storage.read(file, offset + at, FRAME_HEAD_BYTES + frame.bodyBytes), 0, salt)
  return frame !== undefined && bodyHolds(frame) ? frame : undefined
}
