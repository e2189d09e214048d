/**
 * Taps a stream of JSON-RPC messages, such as the SDK's `Stream`: what passes is observed, and passes as it is.
 */
import type { Direction } from './frames.js'
import type { ConnectionKey, Recorder } from './recorder/api.js'

export interface MessageStream<M> {
  readable: ReadableStream<M>
  writable: WritableStream<M>
}

export interface TapOptions {
  /** who holds this end of the connection; default the client */
  side?: 'client' | 'agent'
  conn?: ConnectionKey
}

/** The stream to use in place of the one given. When it ends or fails, so does the connection. */
export function recordingStream<M>(
  stream: MessageStream<M>,
  recorder: Recorder,
  { side = 'client', conn = nextKey() }: TapOptions = {},
): MessageStream<M> {
  const [incoming, outgoing]: [Direction, Direction] = side === 'client' ? ['a2c', 'c2a'] : ['c2a', 'a2c']
  const tap = (dir: Direction): TransformStream<M, M> =>
    new TransformStream({
      transform(frame, controller) {
        controller.enqueue(frame)
        recorder.observe({ dir, frame, conn })
      },
    })
  const writing = tap(outgoing)
  // A failure of the stream reaches who reads and writes; here it only says that the connection is gone.
  writing.readable.pipeTo(stream.writable).catch(() => recorder.disconnected(conn))
  const reading = tap(incoming)
  const gone = (): void => recorder.disconnected(conn)
  stream.readable.pipeTo(reading.writable).then(gone, gone)
  return { readable: reading.readable, writable: writing.writable }
}

let keys = 0

function nextKey(): string {
  return `stream-${keys++}`
}
