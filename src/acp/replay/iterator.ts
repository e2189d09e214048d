/**
 * The updates of a replay, made ready a few at a time as they are asked for: who reads slowly is not run ahead of.
 */
import { isAsrError } from '../../base/error.js'
import type { StoredRecord } from '../../record/record.js'
import type { Path, Stream } from '../../stream/api.js'
import { REPLAY_LOSS } from '../losses.js'
import type { Roots } from '../paths.js'
import type { ReplayLoss, SessionUpdate, SessionUpdateParams } from './api.js'
import { PathLookup } from './lookup.js'
import { LossReport } from './loss-report.js'
import { Walk } from './walk.js'

/** So many updates are made ready at a time. */
const BATCH = 16

/** The path as it stood when the replay was first asked. */
export interface Opened {
  path: Path
  roots: Roots
  /** the path's last record; undefined: the path is empty */
  end: string | undefined
  /** what is left out of the stream as a whole */
  losses: ReplayLoss[]
}

/** One reading of the path. */
interface Pass {
  source: AsyncIterator<StoredRecord>
  walk: Walk
  opened: Opened
}

const DONE: IteratorResult<SessionUpdateParams> = { done: true, value: undefined }

export class UpdateIterator implements AsyncIterableIterator<SessionUpdateParams> {
  private readonly report = new LossReport()
  private pass: Pass | undefined
  /** records that the path gave, and those it could not give */
  private seen = 0
  private ready: readonly SessionUpdate[] = []
  private at = 0
  /** the path is at its end, or nobody wants more of it */
  private ended = false
  /** why there is no more */
  private failure: { error: unknown } | undefined
  private filling: Promise<unknown> | undefined

  constructor(
    private readonly stream: Stream,
    private readonly opening: Promise<Opened>,
    private readonly onEnd: (losses: ReplayLoss[]) => void,
  ) {}

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<SessionUpdateParams>> {
    // Callers who do not wait for one another are served in turn.
    if (this.filling !== undefined) return this.filling.then(() => this.next())
    if (this.at < this.ready.length) return Promise.resolve(this.told())
    if (this.ended) return this.over()
    const filled = this.fill().catch((error: unknown) => {
      this.ended = true
      this.failure = { error }
    })
    this.filling = filled.then(() => {
      this.filling = undefined
    })
    return filled.then(() => (this.at < this.ready.length ? this.told() : this.over()))
  }

  async return(): Promise<IteratorResult<SessionUpdateParams>> {
    this.ended = true
    await this.filling
    this.ready = []
    this.failure = undefined
    await this.pass?.source.return?.()
    return DONE
  }

  /** A failure is told once, behind what was ready. */
  private async over(): Promise<IteratorResult<SessionUpdateParams>> {
    const { failure } = this
    this.failure = undefined
    if (failure !== undefined) throw failure.error
    return DONE
  }

  private told(): IteratorResult<SessionUpdateParams> {
    const update = this.ready[this.at++]
    return { done: false, value: { sessionId: this.stream.sessionId, update } }
  }

  private async fill(): Promise<void> {
    this.pass ??= await this.begin()
    const { source, walk, opened } = this.pass
    walk.out.length = 0
    this.ready = walk.out
    this.at = 0
    while (walk.out.length < BATCH && !this.ended) {
      let step: IteratorResult<StoredRecord>
      try {
        step = await source.next()
      } catch (error) {
        this.passOver(error, opened.path.length)
        continue
      }
      if (step.done) {
        await this.finish(walk, opened)
        return
      }
      this.seen++
      const taken = walk.take(step.value)
      if (taken !== undefined) await taken
    }
  }

  private async begin(): Promise<Pass> {
    const opened = await this.opening
    const { path, roots, end, losses } = opened
    for (const { loss, recordId, count } of losses) this.report.add(loss, recordId, count)
    const walk = new Walk(roots, new PathLookup(this.stream, end), this.report)
    return { source: path.resolved()[Symbol.asyncIterator](), walk, opened }
  }

  /** A record that can not be read is left out. What fails more often than there are records is no record. */
  private passOver(error: unknown, length: number): void {
    if (!isAsrError(error, 'ASR_CORRUPT') || this.seen >= length) throw error
    this.seen++
    this.report.add(REPLAY_LOSS.damage, error.recordId ?? null)
  }

  private async finish(walk: Walk, { path }: Opened): Promise<void> {
    this.ended = true
    walk.end()
    if (this.seen < path.length) await this.noteTombstones(path)
    this.onEnd(this.report.list())
  }

  /** They are in no view, so they are looked for where one shows less than the path has. */
  private async noteTombstones(path: Path): Promise<void> {
    try {
      const tombstones = new Set<string>()
      for await (const { id } of this.stream.records({ types: ['tombstone'] })) tombstones.add(id)
      if (tombstones.size === 0) return
      const onPath = path.length === this.stream.length ? tombstones : path.ids()
      for await (const id of onPath) if (tombstones.has(id)) this.report.add(REPLAY_LOSS.tombstone, id)
    } catch (error) {
      this.passOver(error, Number.POSITIVE_INFINITY)
    }
  }
}
