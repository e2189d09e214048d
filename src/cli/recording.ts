/**
 * The recorder of traffic that passes: it has a thread of its own, so that nothing that passes waits for what it does.
 */
import { Worker } from 'node:worker_threads'
import type { Direction, RecorderOptions, RecorderSummary } from '../acp/main.js'
import { failure, say } from './say.js'

/** What the thread is started with. */
export interface RecordingOptions {
  /** the store's folder; it is made when it is not there */
  location: string
  /** all but functions */
  recorder: RecorderOptions
}

/** What the thread is told: what passed since it was last told, in order, and whether that was all. */
export interface ToThread {
  passed: Passage[]
  isLast: boolean
}

/** Bytes of one side with their time in milliseconds of the epoch, or, without bytes, its end. */
export interface Passage {
  dir: Direction
  at: number
  bytes?: Uint8Array<ArrayBuffer>
}

/** What it answers: lines for people, and at the end what was recorded. */
export type FromThread = { kind: 'say'; text: string } | { kind: 'sum'; summary: RecorderSummary }

/** How long the thread is left alone, in milliseconds: each time that it wakes may delay what passes on a busy machine. */
const REST_MS = 20

export interface Recording {
  /** Bytes of one side, each as it went on. */
  passed(dir: Direction, bytes: Uint8Array): void
  /** The side has ended: what it said last may have no line end. */
  ended(dir: Direction): void
  /** Has all of it written, and the store closed. Undefined when nothing was recorded, and why has been said. */
  stop(): Promise<RecorderSummary | undefined>
}

/** Starts a thread that opens the store and records. A failure there is said on stderr, and is no failure here. */
export function startRecording(options: RecordingOptions): Recording {
  const worker = new Worker(new URL('./recording-worker.js', import.meta.url), { workerData: options })
  let summary: RecorderSummary | undefined
  worker.on('message', (message: FromThread) => {
    if (message.kind === 'say') say(message.text)
    else summary = message.summary
  })
  worker.on('error', (error) => say(`the recorder has failed, and nothing more is recorded: ${failure(error)}`))
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  let passed: Passage[] = []
  const post = (isLast: boolean): void => {
    const message: ToThread = { passed, isLast }
    worker.postMessage(
      message,
      passed.flatMap(({ bytes }) => bytes?.buffer ?? []),
    )
    passed = []
  }
  const add = (passage: Passage): void => {
    if (passed.push(passage) === 1) setTimeout(() => passed.length > 0 && post(false), REST_MS)
  }
  return {
    // The chunk is a part of a larger buffer, all of which would be sent: it is copied.
    passed: (dir, bytes) => add({ dir, at: Date.now(), bytes: Uint8Array.from(bytes) }),
    ended: (dir) => add({ dir, at: Date.now() }),
    stop: async () => {
      post(true)
      await exited
      return summary
    },
  }
}
