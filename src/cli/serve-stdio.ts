/**
 * An agent on this process's own stdin and stdout.
 */
import { Readable, Writable } from 'node:stream'
import { type AnyMessage, ndJsonStream, type Stream } from '@agentclientprotocol/sdk/experimental/v2/unstable'
import type { ReplayAgent } from '../acp/agent/api.js'
import { asynchronous } from './pipe.js'

/** Serves until stdin ends, the reader of stdout is gone, or the signal comes. */
export async function serveStdio(agent: ReplayAgent, signal: AbortSignal): Promise<void> {
  asynchronous(process.stdout)
  const output = Writable.toWeb(process.stdout) as WritableStream<Uint8Array>
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>
  const connection = agent.connect(answeredBeforeEnd(ndJsonStream(output, input)))
  const stop = (): void => connection.close()
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  await connection.closed
  process.stdin.destroy()
}

/** The stream with its end held back until each request is answered: what is piped in gets all of its answers. */
export function answeredBeforeEnd({ readable, writable }: Stream): Stream {
  const waiting = new Set<unknown>()
  let onAnswered: (() => void) | undefined
  const writer = writable.getWriter()
  const reading = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      for (const one of messagesIn(message)) if ('method' in one && 'id' in one) waiting.add(one.id)
      controller.enqueue(message)
    },
    flush: () =>
      new Promise((resolve) => {
        if (waiting.size === 0) resolve()
        else onAnswered = resolve
      }),
  })
  const writing = new WritableStream<AnyMessage>({
    async write(message) {
      await writer.write(message)
      for (const one of messagesIn(message)) if ('id' in one && !('method' in one)) waiting.delete(one.id)
      if (waiting.size === 0) onAnswered?.()
    },
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  })
  return { readable: readable.pipeThrough(reading), writable: writing }
}

/** The messages of a batch, or the one. */
function messagesIn(message: AnyMessage | AnyMessage[]): AnyMessage[] {
  return [message].flat()
}
