/**
 * JSONL into a store. A file is first taken into a log of its own that nobody sees; only when all of it was read does
 * that log become the stream, or extend the stream that is there. So a refused file leaves nothing behind.
 */
import { AsrError, type Diagnostic } from '../record/error.js'
import type { Header } from '../record/record.js'
import { badSessionId } from '../record/validate.js'
import { throwIfAborted } from '../store/abort.js'
import type { ImportOptions, ImportReport } from '../store/api.js'
import { RecordReader } from '../store/record-reader.js'
import type { StreamStore } from '../store/store.js'
import { extendStream } from './extend.js'
import { Intake, mismatch } from './intake.js'
import { type Chunks, readLines } from './lines.js'
import { parseLine } from './parse-line.js'

/**
 * Imports one file (CORE-2, CORE-12, CORE-21).
 * @throws no_header, session_mismatch, ASR_DIVERGED, and with `strict` the code of the first diagnostic: nothing is written then
 */
export async function importJsonl(store: StreamStore, chunks: Chunks, options: ImportOptions): Promise<ImportReport> {
  const fault = options.sessionId === undefined ? undefined : badSessionId(options.sessionId)
  if (fault !== undefined) throw new AsrError('ASR_BAD_RECORD', fault)
  const file = new FileReader(store, options)
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
  /** of lines before the header */
  private readonly early: Diagnostic[] = []

  constructor(
    private readonly store: StreamStore,
    private readonly options: ImportOptions,
  ) {}

  async read(chunks: Chunks): Promise<void> {
    const { signal, onProgress } = this.options
    let done = 0
    for await (const lines of readLines(chunks)) {
      throwIfAborted(signal)
      for (const line of lines) {
        const parsed = parseLine(line)
        if ('refused' in parsed)
          this.refuse({ code: parsed.refused, message: parsed.message, line: line.number, severity: 'refused' })
        else if (this.intake === undefined) await this.first(parsed.value, parsed.text, line.number, parsed.rounded)
        else await this.intake.take(parsed.value, { number: line.number, text: parsed.text, rounded: parsed.rounded })
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
      throw new AsrError(code as Diagnostic['code'] & 'bad_json', `line ${line}: ${message}`, {
        sessionId,
        diagnostics,
      })
    }
    const existing = await this.store.existing(sessionId)
    if (existing === undefined) {
      const appended = intake.core.length
      await this.store.adopt(intake.core)
      await intake.core.compact()
      return { sessionId, records: appended, appended, duplicates: intake.duplicates, diagnostics }
    }
    const { appended, matched } = await extendStream(existing, intake, this.options.signal)
    await this.discard()
    return { sessionId, records: existing.length, appended, duplicates: intake.duplicates + matched, diagnostics }
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
  private async first(
    value: { [key: string]: unknown },
    text: string | undefined,
    line: number,
    rounded: boolean,
  ): Promise<void> {
    if (value.type !== 'header') {
      await this.begin()
      await (this.intake as unknown as Intake).take(value, { number: line, text, rounded })
      return
    }
    const fault = badSessionId(value.sessionId)
    if (fault !== undefined) return this.refuse({ code: 'bad_field', message: fault, line, severity: 'refused' })
    const { sessionId } = this.options
    if (sessionId !== undefined && sessionId !== value.sessionId) throw mismatch(sessionId, value.sessionId, line)
    await this.begin(value as unknown as Header, text)
    if (rounded) this.intake?.keep('number_rounded', 'a number is not what a double can hold', line)
  }

  private async begin(header?: Header, text?: string): Promise<void> {
    if (this.intake !== undefined) return
    const { sessionId } = this.options
    if (header === undefined && sessionId === undefined) {
      throw new AsrError('no_header', 'the file does not begin with a header, and no session is given', {
        diagnostics: this.early,
      })
    }
    const core = await this.store.stage(header ?? { type: 'header', asr: '1', sessionId: sessionId as string }, text)
    const existing = (await this.store.existing(core.sessionId))?.core
    const known = existing && new RecordReader(existing)
    this.intake = new Intake(core, this.early.length > 0, known, existing?.length ?? 0)
  }
}
