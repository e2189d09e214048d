/**
 * The one who writes to a session's stream: in order, beside the traffic, and again when the store failed.
 */

import { type AsrError, isAsrError } from '../../base/error.js'
import { counted } from '../../base/words.js'
import { parseExact } from '../../record/exact.js'
import type { AsrRecord, Header } from '../../record/record.js'
import type { Store } from '../../store/api.js'
import type { Stream } from '../../stream/api.js'
import type { RecorderProblem } from './api.js'
import { gapOf } from './gap.js'
import { type Draft, type FrameRange, idUnder, type Ref } from './tracked.js'

type Job = { drafts: Draft[] } | { revise: (header: Header) => Record<string, unknown> }

/** Records on their way: bound to ids, so that offering them twice writes them once (CORE-21). */
interface Batch {
  drafts: Draft[]
  records: AsrRecord[]
  expected: number
}

const BATCH_RECORDS = 256

/** Records that wait for a store that takes none; beyond that the session is given up. */
const WAITING_MAX = 100_000

/** The record is at fault, not the store. */
const REFUSED: ReadonlySet<string> = new Set([
  'ASR_BAD_RECORD',
  'ASR_BAD_VALUE',
  'ASR_TOO_LARGE',
  'ASR_TOO_DEEP',
  'ASR_SUPERSEDES_UNKNOWN',
  'ASR_SUPERSEDES_MISMATCH',
  'ASR_TARGET_UNKNOWN',
])

/** No later try can do better. */
const HOPELESS: ReadonlySet<string> = new Set([
  'ASR_CLOSED',
  'ASR_READ_ONLY',
  'ASR_FENCED',
  'ASR_CORRUPT',
  'ASR_LOST_TAIL',
  'ASR_ID_CONFLICT',
])

export interface WriterPorts {
  /** runs before each write */
  before(): Promise<void>
  /** whether the frames that a record names are where it says */
  holds(frames: FrameRange): boolean
  report(problem: RecorderProblem): void
}

export class StreamWriter {
  /** records written by this writer */
  written = 0
  /** the stream is there, as far as this writer made or found it */
  exists = false
  /** it was there, and is no more */
  isDeleted = false
  /** the stream was seen */
  private isKnown = false
  /** the last record that was written, where, and in which stream */
  private last: { stream: Stream; id: string; pos: number; type: string; ts: unknown } | undefined
  private jobs: Job[] = []
  /** records in jobs */
  private queued = 0
  private batch: Batch | undefined
  private single = false
  private running: Promise<void> | undefined
  private lost = false
  private failing = false

  constructor(
    private readonly store: Store,
    private readonly sessionId: string,
    /** the header of a stream that is not there yet */
    private readonly header: () => Header,
    private readonly ports: WriterPorts,
  ) {}

  /**
   * The stream, when it is there. One that was there and is no more was deleted: it is not made again without its beginning, and
   * nothing more is recorded of its session.
   */
  async existing(): Promise<Stream | undefined> {
    const wasThere = this.isKnown
    const stream = this.isDeleted ? undefined : await this.found()
    if (stream === undefined) {
      if (wasThere) this.gone('its stream was deleted')
      return undefined
    }
    if (!(await this.isOurs(stream))) this.gone('another stream stands in the place of its own')
    this.isKnown = !this.isDeleted
    return this.isKnown ? stream : undefined
  }

  private async found(): Promise<Stream | undefined> {
    try {
      return await this.store.stream(this.sessionId)
    } catch (error) {
      if (isAsrError(error, 'ASR_STREAM_NOT_FOUND')) return undefined
      throw error
    }
  }

  /** Whether it is the stream that was written to, and not one that somebody put in its place. */
  private async isOurs(stream: Stream): Promise<boolean> {
    const { last } = this
    if (last === undefined || last.stream === stream) return true
    const record = await stream.get(last.id)
    const isSame = record?.ts === last.ts && record?.type === last.type && (await stream.position(last.id)) === last.pos
    if (isSame) last.stream = stream
    return isSame
  }

  private gone(reason: string): void {
    this.giveUp(reason)
    this.isDeleted = true
    this.exists = this.isKnown = false
  }

  append(drafts: Draft[]): void {
    if (this.lost) return
    const last = this.jobs.at(-1)
    // Few jobs: taking the first of a long list moves all the others.
    if (last !== undefined && 'drafts' in last && last.drafts.length + drafts.length <= BATCH_RECORDS) {
      for (const draft of drafts) last.drafts.push(draft)
    } else this.jobs.push({ drafts })
    this.queued += drafts.length
    // A store that takes them is waited for: a turn may have any number of records.
    if (this.failing && this.waiting() > WAITING_MAX) this.giveUp('too many records wait for it')
    else this.start()
  }

  /** A header revision, behind the records so far; `revise` sees the header then in force. */
  revise(revise: (header: Header) => Record<string, unknown>): void {
    if (this.lost) return
    this.jobs.push({ revise })
    this.start()
  }

  /** Once nothing is under way. */
  async settled(): Promise<void> {
    while (this.running !== undefined) await this.running
  }

  /** The last try for what waits; what then still waits is said to be lost. */
  async finish(): Promise<void> {
    this.start()
    await this.settled()
    if (this.waiting() > 0) this.giveUp(`${counted(this.waiting(), 'record')} could not be written`)
  }

  private waiting(): number {
    return this.queued + (this.batch?.drafts.length ?? 0)
  }

  private start(): void {
    this.running ??= this.run()
  }

  private async run(): Promise<void> {
    // What is asked for in one go is written in one go.
    await undefined
    let goesOn = true
    while (goesOn && !this.lost && (this.batch !== undefined || this.jobs.length > 0)) {
      try {
        const stream = await this.open()
        if (stream === undefined) break
        await this.ports.before()
        await this.step(stream)
        this.failing = false
      } catch (error) {
        goesOn = this.isToleratedBatch(error)
        if (!goesOn) await this.fail(error)
      }
    }
    if (goesOn) this.single = false
    this.running = undefined // at once: what comes now has to start anew
  }

  /** The stream, made when it is not there yet; undefined when it was deleted. */
  private async open(): Promise<Stream | undefined> {
    const stream = await this.existing()
    if (this.isDeleted) return undefined
    const there = stream ?? (await this.store.createStream(this.header()))
    this.exists = this.isKnown = true
    return there
  }

  private async step(stream: Stream): Promise<void> {
    const [job] = this.jobs
    if (this.batch === undefined && 'revise' in job) {
      await stream.reviseHeader(job.revise(parseExact((await stream.text()) as string) as Header))
      this.jobs.shift()
      return
    }
    this.batch ??= this.nextBatch(stream.length)
    const { records, expected } = this.batch
    const receipt = await stream.append(records, { expected })
    this.written += receipt.appended
    this.batch = undefined
    const last = records.at(-1)
    if (last !== undefined)
      this.last = { stream, id: last.id as string, pos: receipt.last, type: last.type, ts: last.ts }
  }

  private nextBatch(length: number): Batch {
    const drafts: Draft[] = []
    const room = this.single ? 1 : BATCH_RECORDS
    while (drafts.length < room && this.jobs.length > 0) {
      const [job] = this.jobs
      if ('revise' in job) break
      drafts.push(...job.drafts.splice(0, room - drafts.length))
      if (job.drafts.length === 0) this.jobs.shift()
    }
    this.queued -= drafts.length
    return bound(
      drafts.map((draft) => this.pointing(draft)),
      length,
    )
  }

  /** A record names its frames where they are kept, and not where something else may stand one day. */
  private pointing(draft: Draft): Draft {
    const { native, ...record } = draft.record
    if (native?.ref === undefined || this.ports.holds(native.ref)) return draft
    const { ref, ...rest } = native
    return {
      ...draft,
      record: Object.keys(rest).length === 0 ? (record as AsrRecord) : { ...draft.record, native: rest },
    }
  }

  /** Whether the batch can be offered again at once, in another form. */
  private isToleratedBatch(error: unknown): boolean {
    const { batch } = this
    if (batch === undefined || !isAsrError(error)) return false
    if (error.code === 'ASR_CONFLICT' && error.actual !== undefined) {
      this.batch = bound(batch.drafts, error.actual)
      return true
    }
    if (error.code === 'ASR_ID_CONFLICT') {
      this.batch = bound(batch.drafts, batch.expected, '.acp')
      return batch.records.every(({ id }) => !id?.endsWith('.acp'))
    }
    if (!REFUSED.has(error.code)) return false
    return this.withoutRefused(batch, error)
  }

  /** Finds the record that is refused by offering them one by one, and puts a gap in its place. */
  private withoutRefused(batch: Batch, error: AsrError): boolean {
    const [draft] = batch.drafts
    if (batch.drafts.length > 1) {
      this.batch = undefined
      this.jobs.unshift({ drafts: batch.drafts })
      this.queued += batch.drafts.length
      this.single = true
      return true
    }
    if (draft.record.type === 'gap') return false
    const { type } = draft.record
    this.ports.report({
      code: 'record_refused',
      message: `a ${String(type).slice(0, 80)} of session ${JSON.stringify(this.sessionId)} is refused: ${error.message}`,
      sessionId: this.sessionId,
      cause: error,
    })
    const { ref } = draft
    ref.refused = { before: accepted(draft.supersedes) }
    const record = gapOf('refused', draft.record, error.code)
    this.batch = bound([{ ref, record }], batch.expected)
    return true
  }

  private async fail(error: unknown): Promise<void> {
    // A stream that is deleted meanwhile refuses as one that is closed does.
    await this.existing().catch(() => undefined)
    const reason = error instanceof Error ? error.message : String(error)
    const code = isAsrError(error) ? error.code : ''
    if (HOPELESS.has(code) || (this.batch === undefined && REFUSED.has(code))) {
      this.giveUp(reason, error)
      return
    }
    if (this.failing || this.lost) return
    this.failing = true
    const message = `session ${JSON.stringify(this.sessionId)} can not be written now: ${reason}`
    this.ports.report({ code: 'store_failed', message, sessionId: this.sessionId, cause: error })
  }

  private giveUp(reason: string, cause?: unknown): void {
    if (this.lost) return
    this.lost = true
    this.jobs = []
    this.queued = 0
    this.batch = undefined
    const message = `session ${JSON.stringify(this.sessionId)} is not recorded any further: ${reason}`
    this.ports.report({ code: 'session_lost', message, sessionId: this.sessionId, cause })
  }
}

/** Records with their ids, `r<position>` as the store would give them, and what they point at by id. */
function bound(drafts: Draft[], length: number, suffix = ''): Batch {
  const records = drafts.map((draft, index) => {
    const { ref, record, through, under, copiedFrom } = draft
    const supersedes = accepted(draft.supersedes)
    const target = accepted(draft.target) ?? draft.target
    ref.id = `${under === undefined ? `r${length + index + 1}` : idUnder(under)}${suffix}`
    const { type, ...fields } = record
    return {
      type,
      id: ref.id,
      ...(supersedes && { supersedes: supersedes.id }),
      ...(target && { targetId: target.id }),
      ...fields,
      ...(through && { replaces: { throughId: through.id } }),
      ...(copiedFrom && { copiedFrom }),
    }
  })
  return { drafts, records, expected: length }
}

/** The last record of a chain that was not refused. */
function accepted(ref: Ref | undefined): Ref | undefined {
  let last = ref
  while (last?.refused !== undefined) last = last.refused.before
  return last
}
