/**
 * What a command prints: text, one JSON value, or a line an item. Lists are written as they come, with backpressure,
 * so a million records pass in bounded memory. A reader that has seen enough and closes the pipe is no error.
 */
import type { Writable } from 'node:stream'
import { AsrError } from '../base/error.js'
import { escapedJson, jsonOf } from './json.js'
import { type Colours, NO_COLOURS, outputColours } from './style.js'
import { printable } from './text.js'

export type Format = 'text' | 'json' | 'jsonl'

/** A part of a line, with a colour where it shall have one. */
export interface Span {
  text: string
  colour?: keyof Colours
}

/** A line for people. Whatever it holds is made printable when it is printed, and only its colours are not. */
export type Line = string | readonly Span[]

/** How an item of a list is shown. */
export interface Shown<T> {
  text: (item: T) => readonly Line[]
  /** what the JSON of the item is; the item itself when absent */
  json?: (item: T) => unknown
}

const FLUSH_AT = 64 * 1024

type Items<T> = Iterable<T> | AsyncIterable<T>

export class Output {
  readonly format: Format
  readonly #stream: Writable
  readonly #colours: Colours
  #text = ''
  #closed = false
  #signal: AbortSignal | undefined

  constructor(stream: Writable, format: Format, colours: Colours = NO_COLOURS) {
    this.#stream = stream
    this.#colours = colours
    this.format = format
    // The write's own callback tells what failed; without a listener the event would end the process first.
    stream.on('error', () => {})
  }

  /** On this process's stdout, in colour where that is a terminal that wants it. */
  static toStdout(format: Format): Output {
    return new Output(process.stdout, format, outputColours())
  }

  /** Nobody reads any more: a command that only shows things may stop. */
  get closed(): boolean {
    return this.#closed
  }

  /** Once this signal comes nothing more is written, and a list ends with its reason. */
  stopWith(signal: AbortSignal): void {
    this.#signal = signal
  }

  /** Adds lines for people; a promise to wait for only when it is time to let the reader catch up. */
  lines(lines: readonly Line[]): Promise<void> | undefined {
    return this.#write(lines.map((line) => `${this.#printed(line)}\n`).join(''))
  }

  /** Adds a line that is JSON already. */
  jsonLine(json: string): Promise<void> | undefined {
    return this.#write(`${escapedJson(json)}\n`)
  }

  #printed(line: Line): string {
    if (typeof line === 'string') return printable(line)
    return line.map(({ text, colour }) => (colour ? this.#colours[colour](printable(text)) : printable(text))).join('')
  }

  #write(text: string): Promise<void> | undefined {
    this.#text += text
    return this.#text.length < FLUSH_AT ? undefined : this.flush()
  }

  /** Writes bytes as they are: for what has to come out as it came in. */
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
  async value(value: unknown, text: () => readonly Line[] | Promise<readonly Line[]>): Promise<void> {
    await (this.format === 'text' ? this.lines(await text()) : this.#write(`${jsonOf(value)}\n`))
  }

  /** A list, item by item; as text the items themselves, unless it is said how. */
  async list<T>(items: Items<T>, shown: Shown<T> = { text: (item) => [String(item)] }): Promise<void> {
    if (this.format === 'json') await this.#write('[')
    await this.#items(items, shown)
    if (this.format === 'json') await this.#write(']\n')
  }

  /** One JSON object whose last key is a list that is written item by item. */
  async objectWithList<T>(object: object, key: string, items: Items<T>): Promise<void> {
    const members = jsonOf(object).slice(0, -1)
    await this.#write(`${members}${members === '{' ? '' : ','}${jsonOf(key)}:[`)
    await this.#items(items)
    await this.#write(']}\n')
  }

  async #items<T>(items: Items<T>, shown?: Shown<T>): Promise<void> {
    const json = shown?.json ?? ((item: T): unknown => item)
    let separator = ''
    for await (const item of items) {
      this.#signal?.throwIfAborted()
      const pending = this.#item(item, json, separator, shown)
      separator = ',\n'
      if (pending !== undefined) await pending
      if (this.#closed) return
    }
  }

  #item<T>(item: T, json: (item: T) => unknown, separator: string, shown?: Shown<T>): Promise<void> | undefined {
    if (this.format === 'text' && shown !== undefined) return this.lines(shown.text(item))
    return this.#write(this.format === 'json' ? separator + jsonOf(json(item)) : `${jsonOf(json(item))}\n`)
  }
}
