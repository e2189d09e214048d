/**
 * The thread that records: makes frames of the bytes that passed, and streams of the frames.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Direction, Recorder } from '../acp/main.js'
import { createRecorder } from '../acp/recorder/recorder.js'
import type { Store } from '../main.js'
import { openStore } from '../store/open.js'
import { LineSplitter } from './frame-lines.js'
import type { FromThread, Passage, RecordingOptions, ToThread } from './recording.js'
import { failure } from './say.js'

void record(parentPort as MessagePort, workerData as RecordingOptions)

async function record(port: MessagePort, options: RecordingOptions): Promise<void> {
  const answer = (message: FromThread): void => port.postMessage(message)
  const tell = (text: string): void => answer({ kind: 'say', text })
  let store: Store
  try {
    store = await openStore(options.location, { create: true })
  } catch (error) {
    return tell(`nothing is recorded: ${failure(error)}`) // with no one listening to the port, the thread ends
  }
  for (const { code, message } of store.notices) tell(`note: ${code}: ${message}`)
  const onProblem = ({ code, message }: { code: string; message: string }): void => tell(`${code}: ${message}`)
  const recorder = createRecorder(store, { ...options.recorder, onProblem })
  const sides = { c2a: new Side('c2a', recorder), a2c: new Side('a2c', recorder) }
  port.on('message', async ({ passed, isLast }: ToThread) => {
    for (const { dir, ...passage } of passed) sides[dir].take(passage)
    if (!isLast) return
    recorder.disconnected()
    answer({ kind: 'sum', summary: await recorder.stop() })
    await store.close().catch((error: unknown) => tell(failure(error)))
    port.close()
  })
}

/** One direction of the traffic. */
class Side {
  private at = 0
  private readonly lines: LineSplitter

  constructor(dir: Direction, recorder: Recorder) {
    this.lines = new LineSplitter((text) => {
      let frame: unknown
      try {
        frame = JSON.parse(text)
      } catch {
        frame = undefined // no JSON: the recorder counts the text
      }
      recorder.observe({ dir, frame, text, at: this.at })
    })
  }

  take({ bytes, at }: Omit<Passage, 'dir'>): void {
    this.at = at
    if (bytes === undefined) this.lines.end()
    else this.lines.push(bytes)
  }
}
