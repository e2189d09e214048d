/**
 * The frames of a session on their way to its recording: one after the other, in the order of the wire, beside the
 * traffic.
 */
import type { Connection } from './connection.js'
import type { Opening } from './header.js'
import type { Session } from './session.js'

/** What is done with the session when its turn comes. */
export type Task = (session: Session) => void | Promise<void>

export interface Release {
  opening: Opening
  agent: Connection['agent']
  /** whether the agent says that the session is new */
  isNew?: () => boolean
  before?: Task
  after?: Task
}

/** Milliseconds of work after which others get their turn. */
const SLICE_MS = 4

export class Feed {
  private tasks: Task[] = []
  private isReleased = false
  private running: Promise<void> | undefined
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    readonly session: Session,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  get isHeld(): boolean {
    return !this.isReleased
  }

  push(task: Task): void {
    this.tasks.push(task)
    if (this.isReleased) this.start()
  }

  /** Resolves when all that was pushed so far is dealt with. */
  reached(): Promise<void> {
    return new Promise((resolve) => this.push(() => resolve()))
  }

  /** It is known what the session is: it is opened, in front of what waits. */
  release({ opening, agent, isNew, before, after }: Release): void {
    if (this.isReleased) return
    const open: Task = (session) => session.open(opening, agent, isNew?.() ?? false)
    this.tasks.unshift(...[before, open, after].filter((task) => task !== undefined))
    this.isReleased = true
    this.start()
  }

  /** Once nothing is left to do, and all is written or failed. */
  async settled(): Promise<void> {
    while (this.running !== undefined) await this.running
    await this.session.writer.settled()
  }

  private start(): void {
    this.running ??= this.run().finally(() => {
      this.running = undefined
      if (this.tasks.length > 0) this.start()
    })
  }

  private async run(): Promise<void> {
    const { session } = this
    let sliceEnds = performance.now() + SLICE_MS
    for (let next = 0; ; next++) {
      if (next === this.tasks.length) {
        this.tasks = []
        break
      }
      try {
        const done = this.tasks[next](session)
        if (done !== undefined) await done
      } catch (error) {
        this.onFailure(error)
      }
      if (performance.now() < sliceEnds) continue
      this.tasks.splice(0, next + 1)
      next = -1
      await new Promise((resolve) => setTimeout(resolve))
      sliceEnds = performance.now() + SLICE_MS
    }
    this.planSnapshot()
    if (session.line.hasWritten) session.wire?.flushSoon()
  }

  private planSnapshot(): void {
    const every = this.session.setup.options.snapshotEvery
    if (every === undefined || this.timer !== undefined) return
    this.timer = setTimeout(() => {
      this.timer = undefined
      this.push((session) => session.line.writeAll('pause', { snapshot: true }))
    }, every)
    // A process that has nothing else to do may end.
    if (typeof this.timer === 'object') this.timer.unref()
  }

  stop(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }
}
