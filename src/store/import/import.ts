/**
 * JSONL into a store. A file is first taken into a log of its own that nobody sees; only when all of it was read does
 * that log become the stream, or extend the stream that is there. So a refused file leaves nothing behind.
 */

import { throwIfAborted } from '../../base/abort.js'
import { AsrError, type Diagnostic, type LineCode } from '../../base/error.js'
import { turns } from '../../base/turn.js'
import { type Chunks, readLines } from '../../jsonl/lines.js'
import { parseLine } from '../../jsonl/parse-line.js'
import type { Header } from '../../record/record.js'
import { badSessionId, otherVersion } from '../../record/validate.js'
import type { StreamCore } from '../../stream/core/stream-core.js'
import { RecordReader } from '../../stream/read/record-reader.js'
import type { StoredStream } from '../../stream/stream.js'
import type { ImportOptions, ImportReport } from '../api.js'
import { extendStream } from './extend.js'
import { Intake, mismatch, type Origin } from './intake.js'

/** So many records of an extension are written at once; up to so many need no segment of their own. */
const EXTENSION_BATCH_RECORDS = 512

/** What an import needs of the store that it goes into. */
export interface ImportPort {
  existing(sessionId: string): Promise<StoredStream | undefined>
  stage(header: Header, text?: string): Promise<StreamCore>
  adopt(core: StreamCore): Promise<{ stream: StoredStream; isAdopted: boolean }>
  discard(core: StreamCore): Promise<void>
}

/**
 * Imports one file (CORE-2, CORE-12, CORE-21).
 * @throws no_header, session_mismatch, ASR_DIVERGED, and with `strict` the code of the first diagnostic: nothing is written then
 */
export async function importJsonl(
  store: ImportPort,
  chunks: Chunks,
  options: ImportOptions,
  extensionBatch = EXTENSION_BATCH_RECORDS,
): Promise<ImportReport> {
  const fault = options.sessionId === undefined ? undefined : badSessionId(options.sessionId)
  if (fault !== undefined) throw new AsrError('ASR_BAD_RECORD', fault)
  const file = new FileReader(store, options, extensionBatch)
  try {
    await file.read(chunks)
    return await file.settle()
  } catch (error) {
    await file.discard()
    throw error
  }
}

class FileReader {
  private intake: Intake | undefined
  /** no line yet that says anything */
  private isEmpty = true
  /** records of the stream when the import began */
  private begun = 0
  /** of lines before the header */
  private readonly early: Diagnostic[] = []

  constructor(
    private readonly store: ImportPort,
    private readonly options: ImportOptions,
    private readonly extensionBatch: number,
  ) {}

  async read(chunks: Chunks): Promise<void> {
    const { signal, onProgress } = this.options
    let done = 0
    for await (const lines of readLines(chunks)) {
      this.isEmpty = false
      for (const line of lines) {
        if (turns.isOver()) await turns.next()
        if ('bytes' in line) turns.spend(line.bytes)
        throwIfAborted(signal)
        const parsed = parseLine(line)
        if ('refused' in parsed)
          this.refuse({ code: parsed.refused, message: parsed.message, line: line.number, severity: 'refused' })
        else {
          const origin = { number: line.number, text: parsed.text, rounded: parsed.rounded }
          if (this.intake === undefined) await this.first(parsed.value, origin)
          else await this.intake.take(parsed.value, origin)
        }
        done = line.number
      }
      await this.intake?.flush()
      onProgress?.({ done, unit: 'lines' })
    }
    await this.begin()
    await this.intake?.finish()
  }

  /** The report, once the file's log has become the stream or extended it. */
  async settle(): Promise<ImportReport> {
    const intake = this.intake as Intake
    const { sessionId } = intake.core
    const diagnostics = [...this.early, ...intake.diagnostics].sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
    if (this.options.strict && diagnostics.length > 0) {
      const [{ code, message, line }] = diagnostics
      throw new AsrError(code as LineCode, `line ${line}: ${message}`, {
        sessionId,
        diagnostics,
      })
    }
    const { stream, appended, matched } = await this.put(intake)
    return { sessionId, records: stream.length, appended, duplicates: intake.duplicates + matched, diagnostics }
  }

  /** Makes the file's log the stream, or extends the one that is there, whoever made it. */
  private async put({ core }: Intake): Promise<{ stream: StoredStream; appended: number; matched: number }> {
    throwIfAborted(this.options.signal)
    const { stream, isAdopted } = await this.store.adopt(core)
    if (isAdopted) {
      this.intake = undefined // it is the stream's log now, whatever comes
      await core.compact()
      return { stream, appended: core.length, matched: 0 }
    }
    const { begun, extensionBatch } = this
    const extended = await extendStream(stream, core, { begun, extensionBatch, signal: this.options.signal })
    await this.discard()
    return { stream, ...extended }
  }

  async discard(): Promise<void> {
    const { intake } = this
    this.intake = undefined
    if (intake !== undefined) await this.store.discard(intake.core)
  }

  private refuse(diagnostic: Diagnostic): void {
    if (this.intake === undefined) this.early.push(diagnostic)
    else this.intake.refuse(diagnostic)
  }

  /** The first object of the file: its header, unless the session was given. */
  private async first(value: { [key: string]: unknown }, origin: Origin): Promise<void> {
    const { number: line, text, rounded } = origin
    if (value.type !== 'header') {
      await this.begin()
      await (this.intake as unknown as Intake).take(value, origin)
      return
    }
    const fault = badSessionId(value.sessionId)
    if (fault !== undefined) return this.refuse({ code: 'bad_field', message: fault, line, severity: 'refused' })
    const { sessionId } = this.options
    if (sessionId !== undefined && sessionId !== value.sessionId) throw mismatch(sessionId, value.sessionId, line)
    await this.begin(value as unknown as Header, text)
    const version = otherVersion(value)
    if (version !== undefined)
      this.intake?.keep('asr_version', `${version}; its records are read as those of "1"`, line)
    if (rounded !== undefined) this.intake?.keep('number_rounded', rounded, line)
  }

  private async begin(header?: Header, text?: string): Promise<void> {
    if (this.intake !== undefined) return
    const { sessionId } = this.options
    if (header === undefined && sessionId === undefined) {
      const message = this.isEmpty
        ? 'the file is empty'
        : 'the file does not begin with a header, and no session is given'
      throw new AsrError('no_header', message, { diagnostics: this.early })
    }
    const first = header ?? { type: 'header', asr: '1', sessionId: sessionId as string }
    const existing = (await this.store.existing(first.sessionId))?.core
    this.begun = existing?.length ?? 0
    const core = await this.store.stage(first, text)
    const known = existing && new RecordReader(existing)
    this.intake = new Intake(core, this.early.length > 0, known, this.begun)
  }
}
