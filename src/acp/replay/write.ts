/**
 * A replay as JSON-RPC notifications, written no faster than the other side takes them.
 */
import type { SessionUpdateParams } from './api.js'

/** The notification that tells an update. */
export interface UpdateFrame {
  jsonrpc: '2.0'
  method: 'session/update'
  params: SessionUpdateParams
}

export function updateFrame(params: SessionUpdateParams): UpdateFrame {
  return { jsonrpc: '2.0', method: 'session/update', params }
}

/** Writes all updates of a replay, and waits for the last; the stream stays open. Says how many there were. */
export async function writeReplay(
  updates: AsyncIterable<SessionUpdateParams>,
  writable: WritableStream<UpdateFrame>,
  { signal }: { signal?: AbortSignal } = {},
): Promise<number> {
  const writer = writable.getWriter()
  let count = 0
  let last: Promise<void> | undefined
  try {
    for await (const params of updates) {
      await writer.ready
      signal?.throwIfAborted()
      last = writer.write(updateFrame(params))
      // What fails is told by the next wait.
      last.catch(() => undefined)
      count++
    }
    await last
  } finally {
    writer.releaseLock()
  }
  return count
}
