/**
 * A recorder: takes the frames of connections and writes a stream a session (ASR-701).
 */
import { exactJson, hasExactNumbers, parseExact } from '../../record/exact.js'
import { sideFile } from '../../record/side-file.js'
import type { Store } from '../../store/api.js'
import type {
  ConnectionKey,
  ObservedFrame,
  Recorder,
  RecorderOptions,
  RecorderProblem,
  RecorderSummary,
} from './api.js'
import { finish } from './apply.js'
import { Connection } from './connection.js'
import { Feed } from './feed.js'
import { Router, type Sighting, wireLine } from './router.js'
import { isStateText, withoutDepth, withoutStates } from './secrets.js'
import { Session } from './session.js'
import { readTime } from './time.js'
import { CONNECTION_FILE, WireFile, type WireStorage } from './wire.js'

/** Records ACP v2 connections into a store (ASR-700 to ASR-723, ASR-734, ASR-735). */
export function createRecorder(store: Store, options: RecorderOptions = {}): Recorder {
  return new AcpRecorder(store, options)
}

/** What a text says, to the digit; what was made of it elsewhere is as good where no number was rounded. */
function frameOf(text: string, parsed: unknown): unknown {
  if (parsed !== undefined && !hasExactNumbers(text)) return parsed
  try {
    return parseExact(text)
  } catch {
    return parsed // no JSON: it is counted
  }
}

class AcpRecorder implements Recorder {
  private readonly feeds = new Map<string, Feed>()
  private readonly connections = new Map<ConnectionKey, Connection>()
  private readonly secretFields: ReadonlySet<string>
  private readonly wireStorage: WireStorage | undefined
  private readonly router: Router
  private readonly timesTold = new Set<string>()
  private readonly counts = { frames: 0, notJsonRpc: 0, problems: 0 }
  private asideFile: Promise<WireFile | undefined> | undefined
  private stopped: Promise<RecorderSummary> | undefined

  constructor(
    private readonly store: Store,
    private readonly options: RecorderOptions,
  ) {
    this.secretFields = new Set(options.secretFields)
    this.wireStorage = options.keepWire === 'none' ? undefined : (options.wireStorage ?? store.sideFiles)
    this.router = new Router({
      feed: (sessionId) => this.feed(sessionId),
      secretFields: this.secretFields,
      keepsAll: options.keepWire === 'verbatim',
      aside: (sighting, kept) => this.aside(wireLine(sighting, kept), sighting.at),
      notJsonRpc: (sighting) => this.notJsonRpc(sighting),
      otherVersion: (connection) => this.otherVersion(connection),
    })
  }

  get summary(): RecorderSummary {
    const feeds = [...this.feeds.values()].filter(({ session }) => session.writer.exists)
    const records = feeds.reduce((sum, { session }) => sum + session.writer.written, 0)
    return { ...this.counts, records, sessions: feeds.map(({ session }) => session.sessionId) }
  }

  observe(observed: ObservedFrame): void {
    if (this.stopped !== undefined) return
    this.counts.frames++
    try {
      const { dir, text } = observed
      const frame = text === undefined ? observed.frame : frameOf(text, observed.frame)
      const connection = this.connection(observed.conn ?? 0)
      this.router.route({ connection, dir, frame, text, at: this.time(observed.at) })
    } catch (error) {
      this.failed(error)
    }
  }

  disconnected(conn: ConnectionKey = 0): void {
    const connection = this.connections.get(conn)
    if (connection === undefined || this.stopped !== undefined) return
    this.connections.delete(conn)
    this.router.lost(connection)
  }

  async settled(): Promise<void> {
    await Promise.all([...this.feeds.values()].map((feed) => feed.settled()))
    await (await this.asideFile)?.flush()
  }

  stop(): Promise<RecorderSummary> {
    this.stopped ??= this.end()
    return this.stopped
  }

  private async end(): Promise<RecorderSummary> {
    for (const connection of this.connections.values()) this.router.releaseHeld(connection)
    for (const feed of this.feeds.values()) feed.push(finish)
    await this.settled()
    for (const feed of this.feeds.values()) {
      feed.stop()
      await feed.session.writer.finish()
      if (feed.session.line.hasWritten) await this.finish(feed.session.wire, feed.session.sessionId)
    }
    await this.finish(await this.asideFile)
    return this.summary
  }

  private feed(sessionId: string): Feed {
    let feed = this.feeds.get(sessionId)
    if (feed === undefined) {
      const session = new Session({
        sessionId,
        store: this.store,
        options: this.options,
        secretFields: this.secretFields,
        report: (problem) => this.report(problem),
        openWire: async ({ writer }) =>
          this.openWire(sideFile(sessionId), async () => (await writer.existing()) !== undefined, sessionId),
      })
      feed = new Feed(session, (error) => this.failed(error, sessionId))
      this.feeds.set(sessionId, feed)
    }
    return feed
  }

  private connection(key: ConnectionKey): Connection {
    const known = this.connections.get(key) ?? new Connection(key)
    this.connections.set(key, known)
    return known
  }

  private async openWire(
    name: string,
    isThere: () => Promise<boolean>,
    sessionId?: string,
  ): Promise<WireFile | undefined> {
    if (this.wireStorage === undefined) return undefined
    const onFailure = (cause: unknown): void => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      this.report({
        code: 'wire_failed',
        message: `frames can not be kept now in ${name}: ${reason}`,
        sessionId,
        cause,
      })
    }
    const file = new WireFile(this.wireStorage, name, { isThere, onFailure })
    await file.open()
    return file
  }

  private async finish(file: WireFile | undefined, sessionId?: string): Promise<void> {
    if (file === undefined || (await file.finish())) return
    this.report({ code: 'wire_failed', message: `frames were not kept to the end in ${file.name}`, sessionId })
  }

  /** Keeps what belongs to no session. */
  private aside(line: string, at: string): void {
    this.asideFile = (this.asideFile ?? this.openWire(CONNECTION_FILE, async () => true)).then(async (file) => {
      file?.add(line, at)
      await file?.flush()
      return file
    })
  }

  /** Counted, and kept when all is kept; else how long it is. */
  private notJsonRpc({ at, connection, dir, frame, text }: Sighting): void {
    this.counts.notJsonRpc++
    const keepsAll = this.options.keepWire === 'verbatim'
    if (this.wireStorage === undefined || (connection.isForeign && !keepsAll)) return
    const bounded = withoutDepth(frame)
    const said = frame === undefined ? text : withoutStates(bounded)
    const isKept = keepsAll && !(frame === undefined && isStateText(text))
    const { length } = text ?? exactJson(bounded)
    const shown = isKept ? { [frame === undefined ? 'text' : 'frame']: said } : {}
    this.aside(exactJson({ at, conn: connection.key, dir, ...shown, length }), at)
  }

  private otherVersion({ key, protocolVersion }: Connection): void {
    const message = `connection ${JSON.stringify(key)} speaks version ${JSON.stringify(protocolVersion)} and is not recorded`
    this.report({ code: 'protocol_version', message })
  }

  /** A time that can not be read is that of receipt. */
  private time(at: unknown): string {
    return this.timeIn(at) ?? this.timeIn(this.options.now?.()) ?? new Date().toISOString()
  }

  /** The time that is given, if one is. Of each kind that is not what was asked for the first is told. */
  private timeIn(given: unknown): string | undefined {
    if (given === undefined || given === null) return undefined
    const read = readTime(given)
    if (read === undefined) this.tellTime('', `a time can not be read (${shown(given)}): it is that of its receipt`)
    else if (read.readAs !== undefined) this.tellTime(read.readAs, `times of frames are read as ${read.readAs}`)
    return read?.time
  }

  private tellTime(kind: string, message: string): void {
    if (this.timesTold.has(kind)) return
    this.timesTold.add(kind)
    this.report({ code: 'time_read', message })
  }

  private failed(cause: unknown, sessionId?: string): void {
    const reason = cause instanceof Error ? cause.message : String(cause)
    this.report({ code: 'frame_failed', message: `a frame could not be dealt with: ${reason}`, sessionId, cause })
  }

  private report(problem: RecorderProblem): void {
    this.counts.problems++
    try {
      this.options.onProblem?.(problem)
    } catch {
      // What the caller makes of it does not concern the frames.
    }
  }
}

/** What was given for a time, for people. */
function shown(given: unknown): string {
  return typeof given === 'string' || typeof given === 'number' ? String(given).slice(0, 40) : typeof given
}
