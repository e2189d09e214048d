/**
 * The frames of a session in a file of their own beside the streams, one a line (ASR-723).
 */

import { SIDE_FOLDER } from '../../record/side-file.js'
import type { SideFiles } from '../../store/api.js'
import { joinedBytes } from '../base64.js'
import type { FrameRange } from './tracked.js'

/** Frames of a session that is deleted are removed; a storage that can not do that keeps at most what came at that moment. */
export type WireStorage = Pick<SideFiles, 'append' | 'read' | 'size'> & Partial<Pick<SideFiles, 'remove'>>

/** The file of what belongs to no session. */
export const CONNECTION_FILE = `${SIDE_FOLDER}/connections.jsonl`

const LF = 0x0a
const FLUSH_BYTES = 64 * 1024
const FLUSH_MS = 100
const encoder = new TextEncoder()

/** Lines that wait for a storage that takes none, in bytes; beyond that frames are left out, and a line says so. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024

export interface WirePorts {
  /** whether what the file lies beside is there: nothing is written before it is, and nothing stays when it is gone */
  isThere(): Promise<boolean>
  /** the storage takes nothing now, and did before */
  onFailure(cause: unknown): void
}

/**
 * Lines at the end of a file. Where a line will stand is known when it is added. What the storage does not take waits, and is written where it
 * was to stand once there is room; of what came while too much waited, a line says when and how much: `{at, gap: {frames, until}}`.
 */
export class WireFile {
  /** where the next line will stand */
  private end = 0
  /** where the next write will */
  private written = 0
  private waiting: Uint8Array[] = []
  private missing: { frames: number; at: string; until: string } | undefined
  private timer: ReturnType<typeof setTimeout> | undefined
  private isOpen = false
  private isFailing = false
  private writing: Promise<void> = Promise.resolve()

  constructor(
    private readonly storage: WireStorage,
    readonly name: string,
    private readonly ports: WirePorts,
  ) {}

  /** Looks at what is there; what can not be looked at now is looked at when it is written to. */
  async open(): Promise<void> {
    await this.trying(() => this.begin())
  }

  /** Adds the line of a frame, and says where it will stand; undefined when it is left out. */
  add(line: string, at: string): FrameRange | undefined {
    if (!this.isOpen || (this.isFailing && this.end - this.written > WAITING_BYTES_MAX)) {
      this.missing = { frames: (this.missing?.frames ?? 0) + 1, at: this.missing?.at ?? at, until: at }
      return undefined
    }
    this.markGap()
    const from = this.end
    this.push(encoder.encode(`${line}\n`))
    return { file: this.name, from, to: this.end }
  }

  /** Whether the lines of a range are in the file. */
  holds({ to }: FrameRange): boolean {
    return to <= this.written
  }

  /** Writes what was added once there is enough of it, or a while has passed. */
  flushSoon(): void {
    const bytes = this.end - this.written
    if (bytes >= FLUSH_BYTES) void this.flush()
    else if (bytes > 0 && this.timer === undefined) {
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
    this.writing = this.writing.then(() => this.trying(() => this.write()))
    return this.writing
  }

  /** Writes all there is; whether that went well. */
  async finish(): Promise<boolean> {
    clearTimeout(this.timer)
    await this.flush()
    if (this.isFailing) return false
    this.markGap()
    await this.flush()
    return !this.isFailing
  }

  /** Goes on behind what is there; a line that a crash cut short is ended first. */
  private async begin(): Promise<void> {
    this.written = this.end = (await this.storage.size(this.name)) ?? 0
    const [last] = this.end === 0 ? [LF] : await this.storage.read(this.name, this.end - 1, 1)
    this.isOpen = true
    this.isFailing = false
    if (last !== LF) this.push(Uint8Array.of(LF))
  }

  private async write(): Promise<void> {
    if (!this.isOpen) await this.begin()
    if (this.waiting.length === 0 || !(await this.ports.isThere())) return
    if (this.isFailing) await this.goOn()
    const bytes = joinedBytes(this.waiting)
    const count = this.waiting.length
    await this.storage.append(this.name, bytes)
    this.isFailing = false
    this.waiting.splice(0, count)
    this.written += bytes.length
    // What it lies beside may have been deleted in between, and the file with it.
    if (await this.ports.isThere().catch(() => true)) return
    this.waiting = []
    if ((await this.storage.size(this.name)) !== undefined) await this.storage.remove?.(this.name)
  }

  /** Takes off what waits what of it a write that failed has put there. @throws when the file is not as it was left */
  private async goOn(): Promise<void> {
    const waiting = joinedBytes(this.waiting)
    const through = ((await this.storage.size(this.name)) ?? 0) - this.written
    if (through < 0 || through > waiting.length) throw new Error(`${this.name} is not as it was left`)
    this.waiting = [waiting.subarray(through)]
    this.written += through
  }

  private markGap(): void {
    if (this.missing === undefined || !this.isOpen) return
    const { frames, at, until } = this.missing
    this.missing = undefined
    this.push(encoder.encode(`${JSON.stringify({ at, gap: { frames, until } })}\n`))
  }

  private push(bytes: Uint8Array): void {
    this.waiting.push(bytes)
    this.end += bytes.length
  }

  private async trying(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      if (!this.isFailing) this.ports.onFailure(error)
      this.isFailing = true
    }
  }
}
