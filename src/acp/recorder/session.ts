/**
 * The recording of one session: its frames in order, folded, and written as its stream (ASR-701).
 */
import type { AsrRecord, Header } from '../../record/record.js'
import type { Store } from '../../store/api.js'
import type { Stream } from '../../stream/api.js'
import { type JsonObject, objectOf } from '../json.js'
import type { Loss } from '../losses.js'
import { Roots } from '../paths.js'
import type { RecorderOptions, RecorderProblem } from './api.js'
import type { Connection } from './connection.js'
import { agentOf, lineagePatch, lossesOf, lossPatch, newHeader, type Opening, rootsPatch } from './header.js'
import { Line } from './line.js'
import { Mirror } from './mirror.js'
import { nextConnection } from './stored.js'
import type { Times } from './tracked.js'
import type { Window } from './window.js'
import type { WireFile } from './wire.js'
import { StreamWriter } from './writer.js'

export interface SessionSetup {
  sessionId: string
  store: Store
  options: RecorderOptions
  secretFields: ReadonlySet<string>
  report: (problem: RecorderProblem) => void
  openWire: (session: Session) => Promise<WireFile | undefined>
}

export class Session {
  readonly sessionId: string
  readonly line: Line
  readonly writer: StreamWriter
  /** replay windows that are open, by the connection they are on */
  readonly windows = new Map<Connection, Window>()
  /** the connections the session was seen on, with their numbers from 0 */
  readonly connections = new Map<Connection, number>()
  roots = new Roots([])
  wire: WireFile | undefined
  /** the connections that are there */
  readonly live = new Set<Connection>()
  /** what was told while there were several */
  readonly mirror = new Mirror()
  /** requests to the client so far */
  asked = 0
  /** the usage recorded last in this run */
  usage: AsrRecord | undefined
  /** notices that came without an id so far */
  notices = 0
  /** its stream was there before it was new */
  private isLeftAlone = false
  private opening: Opening = { directories: [] }
  private agent: Connection['agent']
  private base: number | undefined
  private readonly declared = new Set<Loss>()

  constructor(readonly setup: SessionSetup) {
    const { sessionId, store, options, secretFields, report } = setup
    this.sessionId = sessionId
    this.writer = new StreamWriter(store, sessionId, () => this.header(), {
      before: async () => this.wire?.flush(),
      holds: (frames) => this.wire?.holds(frames) ?? true,
      report,
    })
    this.line = new Line(() => ({ roots: this.roots, secretFields, clientIsPerson: options.clientIsPerson ?? false }), {
      append: (drafts) => this.writer.append(drafts),
      declare: (losses) => this.declare(losses),
    })
  }

  /** Nothing of it is recorded: it is left alone, or its stream was deleted. */
  get skipped(): boolean {
    return this.isLeftAlone || this.writer.isDeleted
  }

  /** Looks at what the store has of the session. `isNew`: the agent says that it is a new one. */
  async open(opening: Opening, agent: Connection['agent'], isNew: boolean): Promise<void> {
    this.opening = opening
    this.agent = agent
    const stream = await this.stream()
    if (stream === undefined) this.roots = Roots.of(opening.directories)
    else if (isNew && this.setup.options.knownSession === 'skip') this.skip()
    else await this.goOn(stream, isNew)
    if (!this.skipped) this.wire = await this.setup.openWire(this)
  }

  private skip(): void {
    const { sessionId } = this
    this.isLeftAlone = true
    const message = `session ${JSON.stringify(sessionId)} is in the store already, and was left alone`
    this.setup.report({ code: 'session_known', message, sessionId })
  }

  private async goOn(stream: Stream, isNew: boolean): Promise<void> {
    const header = await stream.header()
    this.line.hasLetGo = stream.length > 0
    this.roots = Roots.from(header.workspace)
    for (const loss of lossesOf(header)) this.declared.add(loss as Loss)
    if (isNew) this.widen(this.opening.directories)
    if (this.opening.lineage !== undefined) this.inherit(this.opening.lineage)
  }

  /** The stream as it is, if it is there. A store that fails says so when it is written to. */
  async stream(): Promise<Stream | undefined> {
    try {
      return await this.writer.existing()
    } catch {
      return undefined
    }
  }

  /** The stream with all that was written so far, for looking things up. */
  async storedStream(): Promise<Stream | undefined> {
    await this.writer.settled()
    return this.stream()
  }

  /** Makes the stream, also when there is nothing to write. */
  ensure(): void {
    this.writer.revise((header) => (header.agent === undefined ? { agent: this.header().agent } : {}))
  }

  /** More directories: they become further roots, those that are there keep their ids (M15). */
  widen(directories: readonly string[]): void {
    const roots = this.roots.with(directories)
    if (roots === this.roots) return
    this.roots = roots
    this.writer.revise((header) => rootsPatch(header, roots))
  }

  inherit(lineage: Record<string, unknown>): void {
    this.writer.revise((header) => lineagePatch(header, lineage))
  }

  /** A frame came on a connection. */
  seenOn(connection: Connection): void {
    if (this.connections.has(connection)) return
    this.connections.set(connection, this.connections.size)
    this.live.add(connection)
  }

  /** The number of a connection by ASR-716: a promise only the first time a stream is gone on with. */
  connectionNumber(connection: Connection): number | Promise<number> {
    const index = this.connections.get(connection) ?? 0
    if (this.base !== undefined) return this.base + index
    if (!this.line.hasLetGo) {
      this.base = 0
      return index
    }
    return this.stream().then(async (stream) => {
      this.base ??= stream === undefined ? 0 : await nextConnection(stream)
      return this.base + index
    })
  }

  /** Live updates are of their time of receipt, history only came at that time (ASR-707). */
  times(at: string, live: boolean): Times {
    return live ? { ts: at, tsSource: 'recorder' } : { observedAt: at }
  }

  private header(): Header {
    const { options } = this.setup
    const header = newHeader(this.sessionId, agentOf(this.agent, options.agentName), this.roots, this.opening.lineage)
    return { ...header, ...lossPatch(header, this.declared) }
  }

  private declare(losses: readonly Loss[]): void {
    const news = losses.filter((loss) => !this.declared.has(loss))
    if (news.length === 0) return
    for (const loss of news) this.declared.add(loss)
    this.writer.revise((header) => lossPatch(header, news))
  }
}

/** An update with the trace context of the notification it came in, where it has none of its own (ASR-708). */
export function withTraceContext(update: JsonObject, envelope: unknown, keys: readonly string[]): JsonObject {
  if (typeof envelope !== 'object' || envelope === null || update._meta === null) return update
  const trace = Object.entries(envelope).filter(([key, value]) => keys.includes(key) && value !== null)
  if (trace.length === 0) return update
  return { ...update, _meta: { ...Object.fromEntries(trace), ...objectOf(update._meta) } }
}
