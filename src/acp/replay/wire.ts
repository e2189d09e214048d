/**
 * What an agent told of a session, as it stood on the wire (ASR-733): the recorder keeps the frames beside the stream.
 */
import { turns } from '../../base/turn.js'
import { sideFile } from '../../record/side-file.js'
import type { Store } from '../../store/api.js'
import { messageOf } from '../frames.js'

const PIECE = 256 * 1024
const LF = 0x0a
const FRAME = '"frame":'

/** Frames that were left out where they should stand, since the storage took none: how many, of either side, and when. */
export interface WireGap {
  frames: number
  /** ISO 8601, of the first and of the last */
  from: string
  until: string
}

export interface CapturedOptions {
  /** told of each gap when the updates before it were taken */
  onGap?: (gap: WireGap) => void
}

/** The captured `session/update` notifications, each as its text on the wire; undefined when no frames were kept. */
export async function capturedUpdates(
  store: Store,
  sessionId: string,
  { onGap }: CapturedOptions = {},
): Promise<AsyncIterable<string> | undefined> {
  const { sideFiles } = store
  const name = sideFile(sessionId)
  const size = (await sideFiles.size(name)) ?? 0
  if (size === 0) return undefined
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < size; at += PIECE) yield await sideFiles.read(name, at, Math.min(PIECE, size - at))
  }
  return updatesIn(pieces(), onGap)
}

async function* updatesIn(pieces: AsyncIterable<Uint8Array>, onGap: CapturedOptions['onGap']): AsyncGenerator<string> {
  for await (const line of linesOf(pieces)) {
    turns.spend(line.length)
    if (turns.isOver()) await turns.next()
    const kept = keptLine(line)
    if (kept?.gap !== undefined) onGap?.({ frames: kept.gap.frames, from: kept.at, until: kept.gap.until })
    else if (isUpdate(kept)) yield line.slice(line.indexOf(FRAME) + FRAME.length, -1)
  }
}

/** Lines that were ended: a crash may have cut the last one short. */
async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of pieces) {
    const hasEnd = piece.includes(LF)
    rest += decoder.decode(piece, { stream: true })
    if (!hasEnd) continue
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** A line of the file: a frame and whose it is, or a gap. Of a line that a crash cut short nothing is known. */
interface KeptLine {
  dir?: unknown
  frame?: unknown
  at: string
  gap?: { frames: number; until: string }
}

function keptLine(line: string): KeptLine | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function isUpdate(kept: KeptLine | undefined): boolean {
  const message = kept?.dir === 'a2c' ? messageOf(kept.frame) : undefined
  return message?.kind === 'notification' && message.method === 'session/update'
}
