/**
 * What an agent told of a session, as it stood on the wire (ASR-733): the recorder keeps the frames beside the stream.
 */
import { turns } from '../../record/turn.js'
import type { Store } from '../../store/api.js'
import { messageOf } from '../frames.js'
import { wireFileName, wireStorageOf } from '../record/wire.js'

const PIECE = 256 * 1024
const LF = 0x0a
const FRAME = '"frame":'

/** The captured `session/update` notifications, each as its text on the wire; undefined when no frames were kept. */
export async function capturedUpdates(store: Store, sessionId: string): Promise<AsyncIterable<string> | undefined> {
  const storage = wireStorageOf(store)
  if (storage === undefined) return undefined
  const name = await wireFileName(sessionId)
  const size = (await storage.size(name)) ?? 0
  if (size === 0) return undefined
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < size; at += PIECE) yield await storage!.read(name, at, Math.min(PIECE, size - at))
  }
  return updatesIn(pieces())
}

async function* updatesIn(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const line of linesOf(pieces)) {
    turns.spend(line.length)
    if (turns.isOver()) await turns.next()
    const text = updateText(line)
    if (text !== undefined) yield text
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

/** The frame of a line when it is one that tells an update. */
function updateText(line: string): string | undefined {
  let kept: { dir?: unknown; frame?: unknown }
  try {
    kept = JSON.parse(line)
  } catch {
    return undefined
  }
  const message = kept.dir === 'a2c' ? messageOf(kept.frame) : undefined
  if (message?.kind !== 'notification' || message.method !== 'session/update') return undefined
  return line.slice(line.indexOf(FRAME) + FRAME.length, -1)
}
