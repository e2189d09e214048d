/**
 * What a command prints: text, one JSON value, or a line an item. Lists are written as they come, with backpressure,
 * so a million records pass in bounded memory. A reader that has seen enough and closes the pipe is no error.
 */
import type { Writable } from 'node:stream'
import { AsrError } from '../record/error.js'
import { printable } from './text.js'

export type Format = 'text' | 'json' | 'jsonl'

/** How an item of a list is shown. */
export interface Shown<T> {
  text: (item: T) => string
  /** what the JSON of the item is; the item itself when absent */
  json?: (item: T) => unknown
}

const FLUSH_AT = 64 * 1024

type Items<T> = Iterable<T> | AsyncIterable<T>

export class Output {
  readonly format: Format
  readonly #stream: Writable
  #text = ''
  #closed = false
  #signal: AbortSignal | undefined

  constructor(stream: Writable, format: Format) {
    this.#stream = stream
    this.format = format
    // The write's own callback tells what failed; without a listener the event would end the process first.
    stream.on('error', () => {})
  }

  /** Nobody reads any more: a command that only shows things may stop. */
  get closed(): boolean {
    return this.#closed
  }

  /** Once this signal comes nothing more is written, and a list ends with its reason. */
  stopWith(signal: AbortSignal): void {
    this.#signal = signal
  }

  /** Adds text; a promise to wait for only when it is time to let the reader catch up. */
  write(text: string): Promise<void> | undefined {
    this.#text += text
    return this.#text.length < FLUSH_AT ? undefined : this.flush()
  }

  /** Writes bytes as they are. */
  async bytes(bytes: Uint8Array): Promise<void> {
    await this.flush()
    await this.#push(bytes)
  }

  async flush(): Promise<void> {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    await this.#push(text)
  }

  #push(chunk: string | Uint8Array): Promise<void> {
    if (this.#closed || this.#signal?.aborted) return Promise.resolve()
    return new Promise((resolve, reject) => {
      // A reader that does not read, such as a pager, keeps the write waiting for good.
      const stop = (): void => reject(this.#signal?.reason)
      this.#signal?.addEventListener('abort', stop, { once: true })
      this.#stream.write(chunk, (error) => {
        this.#signal?.removeEventListener('abort', stop)
        // A turn of the event loop, so that a signal is heard between two writes.
        if (!error) return setImmediate(resolve)
        this.#closed = true
        const code = (error as NodeJS.ErrnoException).code
        if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return resolve()
        reject(new AsrError('ASR_IO', `cannot write the output: ${error.message}`, { cause: error }))
      })
    })
  }

  /** One value: as text what `text` says, else its JSON on one line. */
  async value(value: unknown, text: () => string | Promise<string>): Promise<void> {
    await this.write(this.format === 'text' ? await text() : `${JSON.stringify(value)}\n`)
  }

  /** A list, item by item. */
  async list<T>(items: Items<T>, shown: Shown<T>): Promise<void> {
    if (this.format === 'json') await this.write('[')
    await this.#items(items, shown)
    if (this.format === 'json') await this.write(']\n')
  }

  /** One JSON object whose last key is a list that is written item by item. */
  async objectWithList<T>(object: object, key: string, items: Items<T>): Promise<void> {
    const members = JSON.stringify(object).slice(0, -1)
    await this.write(`${members}${members === '{' ? '' : ','}${JSON.stringify(key)}:[`)
    await this.#items(items, { text: String })
    await this.write(']}\n')
  }

  async #items<T>(items: Items<T>, shown: Shown<T>): Promise<void> {
    const { format } = this
    const json = shown.json ?? ((item: T): unknown => item)
    let separator = ''
    for await (const item of items) {
      this.#signal?.throwIfAborted()
      const line = format === 'text' ? shown.text(item) : JSON.stringify(json(item))
      const pending = this.write(format === 'json' ? separator + line : `${line}\n`)
      separator = ',\n'
      if (pending !== undefined) await pending
      if (this.#closed) return
    }
  }
}

/** Printable lines, each ended. */
export function lines(...texts: string[]): string {
  return texts.map((text) => `${printable(text)}\n`).join('')
}
