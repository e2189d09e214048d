/**
 * The frames of a session in a file of their own beside the streams, one a line (ASR-723).
 */
import { NATIVE_FOLDER, nativeFile } from '../../log/segment.js'
import type { LogStorage, MaybePromise } from '../../log/storage.js'
import { name128 } from '../../record/hash.js'
import type { Store } from '../../store/api.js'
import type { StreamStore } from '../../store/store.js'
import { joinedBytes } from '../base64.js'
import type { FrameRange } from './tracked.js'

export type WireStorage = Pick<LogStorage, 'append' | 'read' | 'size'>

/** The file of what belongs to no session. */
export const CONNECTION_FILE = `${NATIVE_FOLDER}/connections.jsonl`

const LF = 0x0a
const FLUSH_BYTES = 64 * 1024
const FLUSH_MS = 100
const encoder = new TextEncoder()

/** The file of a session's frames, as `native.ref` names it: relative to the store. */
export async function wireFileName(sessionId: string): Promise<string> {
  return nativeFile(name128(sessionId))
}

/** Where a store keeps its files; undefined when it is not one of ours. Its class may be that of another bundle. */
export function wireStorageOf(store: Store): WireStorage | undefined {
  return (store as Partial<StreamStore>).environment?.storage
}

export class WireFile {
  private end = 0
  private waiting: Uint8Array[] = []
  private waitingBytes = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  private isOpen = false
  private failed = false
  private writing: Promise<void> = Promise.resolve()

  constructor(
    private readonly storage: WireStorage,
    readonly name: string,
    private readonly onFailure: (cause: unknown) => void,
  ) {}

  /** Goes on behind what is there; a line that a crash cut short is ended first. */
  async open(): Promise<void> {
    await this.trying(async () => {
      this.end = (await this.storage.size(this.name)) ?? 0
      this.isOpen = true
      if (this.end === 0) return
      const [last] = await this.storage.read(this.name, this.end - 1, 1)
      if (last !== LF) this.push(Uint8Array.of(LF))
    })
  }

  /** Adds a line, and says where it will stand. */
  add(line: string): FrameRange | undefined {
    if (this.failed || !this.isOpen) return undefined
    const from = this.end
    this.push(encoder.encode(`${line}\n`))
    return { file: this.name, from, to: this.end }
  }

  /** Writes what was added once there is enough of it, or a while has passed. */
  flushSoon(): void {
    if (this.waitingBytes >= FLUSH_BYTES) void this.flush()
    else if (this.waitingBytes > 0 && this.timer === undefined) {
      this.timer = setTimeout(() => {
        this.timer = undefined
        void this.flush()
      }, FLUSH_MS)
      // A process that has nothing else to do may end: the recorder's own end writes the rest.
      if (typeof this.timer === 'object') this.timer.unref()
    }
  }

  /** Writes what was added, one write behind the other. */
  flush(): Promise<void> {
    if (this.waiting.length > 0) this.writing = this.writing.then(() => this.write())
    return this.writing
  }

  private async write(): Promise<void> {
    if (this.waiting.length === 0 || this.failed) return
    await this.trying(() => {
      const bytes = joinedBytes(this.waiting)
      this.waiting = []
      this.waitingBytes = 0
      return this.storage.append(this.name, bytes)
    })
  }

  private push(bytes: Uint8Array): void {
    this.waiting.push(bytes)
    this.waitingBytes += bytes.length
    this.end += bytes.length
  }

  /** After a failure nobody knows what the file ends with: nothing more is added in this run. */
  private async trying(act: () => MaybePromise<unknown>): Promise<void> {
    try {
      await act()
    } catch (error) {
      this.failed = true
      this.waiting = []
      this.onFailure(error)
    }
  }
}
