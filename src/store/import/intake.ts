/**
 * Takes the lines of one file into its log, and says what is wrong with them.
 */

import { AsrError, type Diagnostic, isAsrError, type KeptCode } from '../../base/error.js'
import { runFlow } from '../../base/flow.js'
import { turns } from '../../base/turn.js'
import { JudgedEntry } from '../../log/log-entry.js'
import { canonicalText } from '../../record/canonical.js'
import { parseExact } from '../../record/exact.js'
import { revisedHeader } from '../../record/header.js'
import type { AsrRecord, Header, StoredRecord } from '../../record/record.js'
import { badField } from '../../record/validate.js'
import type { StreamCore } from '../../stream/core/stream-core.js'
import { agentOf } from '../../stream/place/catch-up.js'
import { type Staged, Staging, sameButAssigned } from '../../stream/place/staging.js'
import { isBadExtent } from '../../stream/read/path-view.js'
import type { RecordReader } from '../../stream/read/record-reader.js'

/** Where a value stood in the file. */
export interface Origin {
  number: number
  /** the line, when JSON does not give it back */
  text?: string
  /** which number of it is no double, if any */
  rounded?: string
}

const BATCH_RECORDS = 512
const BATCH_BYTES = 1024 * 1024

export class Intake {
  readonly diagnostics: Diagnostic[] = []
  duplicates = 0
  private readonly orphans: { line: number; recordId: string; missing: string }[] = []
  /** of the ids that orphans miss: the last line of a record of that id */
  private readonly lastLines = new Map<string, number>()
  private staging: Staging | undefined
  private batch: { staged: Staged; line: number }[] = []
  private batchBytes = 0

  constructor(
    readonly core: StreamCore,
    /** whether a line was refused since the last record that was taken (CORE-12) */
    private gap: boolean,
    /** the stream that is there: what its records say of themselves, the file may leave out (CORE-21) */
    private readonly known: Pick<RecordReader, 'record'> | undefined,
    private readonly knownLength: number,
  ) {}

  refuse(diagnostic: Diagnostic): void {
    this.diagnostics.push(diagnostic)
    this.gap = true
  }

  keep(code: KeptCode, message: string, line: number, recordId?: string): void {
    this.diagnostics.push({ code, message, line, recordId, severity: 'kept' })
  }

  /** @throws session_mismatch */
  async take(value: { [key: string]: unknown }, origin: Origin): Promise<void> {
    if (value.type === 'header') return this.takeHeader(value, origin)
    const fault = badField(value)
    if (fault !== undefined)
      return this.refuse({ code: 'bad_field', message: fault, line: origin.number, severity: 'refused' })
    try {
      await this.takeRecord(value as AsrRecord, origin)
    } catch (error) {
      const code = error instanceof AsrError ? REFUSALS.get(error.code) : undefined
      if (code === undefined) throw error
      const recordId = typeof value.id === 'string' ? value.id : undefined
      this.refuse({ code, message: (error as AsrError).message, line: origin.number, recordId, severity: 'refused' })
    }
    if (this.batch.length >= BATCH_RECORDS || this.batchBytes >= BATCH_BYTES) await this.flush()
  }

  /** Writes what was taken. */
  async flush(): Promise<void> {
    const { core, batch, staging } = this
    this.staging = undefined
    if (staging === undefined || batch.length === 0) return
    this.batch = []
    this.batchBytes = 0
    const locations = await core.write(batch.map(({ staged }) => [staged.logEntry]))
    staging.publish(core.index, locations, core.log.end)
    for (const { staged, line } of batch) {
      if (staged.record.type !== 'compaction' || !(await isBadExtent(core, staged.pos))) continue
      this.keep('compaction_bad_extent', 'its extent does not lie before it on its path', line, staged.record.id)
    }
    await core.appended()
  }

  /** All lines are in: says which missing parents come later in the file. */
  async finish(): Promise<void> {
    await this.flush()
    for (const { line, recordId, missing } of this.orphans) {
      if (turns.isOver()) await turns.next()
      const comesLater = missing === recordId || (this.lastLines.get(missing) ?? 0) > line
      const message = `its parent ${JSON.stringify(missing)} ${comesLater ? 'does not come before it' : 'is not in the file'}; it is kept as an orphan root`
      this.keep(comesLater ? 'forward_parent' : 'orphan_parent', message, line, recordId)
    }
  }

  private async takeRecord(record: AsrRecord, origin: Origin): Promise<void> {
    if (this.staging === undefined) {
      await runFlow(this.core.index.prepare())
      this.staging = new Staging(this.core.lookup)
    }
    const { staging } = this
    const finding = record.id === undefined ? 0 : runFlow(staging.duplicateOf(record.id, record))
    if ((typeof finding === 'number' ? finding : await finding) > 0) {
      this.duplicates++
      return
    }
    const undo = staging.savepoint()
    let staged: Staged
    try {
      const known = await this.knownAs(record, staging.length + 1)
      const taking = runFlow(staging.take(known ?? record, { text: known ? undefined : origin.text, gap: this.gap }))
      staged = taking instanceof Promise ? await taking : taking
    } catch (error) {
      undo()
      throw error
    }
    this.gap = false
    this.batch.push({ staged, line: origin.number })
    this.batchBytes += staged.logEntry.size
    this.report(staged, origin)
  }

  /** The stream's record at a position, when the file's equals it but for what it leaves out. */
  private async knownAs(record: AsrRecord, pos: number): Promise<StoredRecord | undefined> {
    if (this.known === undefined || pos > this.knownLength) return undefined
    const stored = await this.known.record(pos)
    return sameButAssigned(record, stored) ? stored : undefined
  }

  private report({ record, faults, missingParentId }: Staged, { number: line, rounded }: Origin): void {
    const { id } = record as StoredRecord
    if (this.lastLines.has(id)) this.lastLines.set(id, line)
    if (missingParentId !== undefined) {
      this.orphans.push({ line, recordId: id, missing: missingParentId })
      if (!this.lastLines.has(missingParentId)) this.lastLines.set(missingParentId, 0)
    }
    for (const { code, message } of faults) this.keep(code, message, line, id)
    if (rounded !== undefined) this.keep('number_rounded', rounded, line, id)
  }

  /** A further header line is a revision (CORE-3). */
  private async takeHeader(value: { [key: string]: unknown }, { number: line, text, rounded }: Origin): Promise<void> {
    const { core } = this
    if (typeof value.sessionId === 'string' && value.sessionId !== core.sessionId)
      throw mismatch(core.sessionId, value.sessionId, line)
    await this.flush()
    const { log, index } = core
    // What the line leaves alone stays as it is, to the digit.
    const current = parseExact(log.line(await log.entry(index.state.header.location))) as Header
    let revised: Header | undefined
    try {
      revised = revisedHeader(current, text === undefined ? value : (parseExact(text) as Record<string, unknown>))
    } catch (error) {
      if (!isAsrError(error)) throw error
      return this.refuse({ code: 'bad_field', message: error.message, line, severity: 'refused' })
    }
    if (revised === undefined) return
    if (rounded !== undefined) this.keep('number_rounded', rounded, line)
    const entry = JudgedEntry.header(core.sessionId, revised, core.length)
    const [location] = await core.write([[entry]])
    const header = { location, hash: entry.hash, agent: agentOf(revised) }
    core.index.state = { ...core.index.state, point: log.end, header }
  }
}

/** What append throws for a record, as import names it. */
const REFUSALS = new Map<string, Diagnostic['code']>([
  ['ASR_ID_CONFLICT', 'id_conflict'],
  ['ASR_BAD_RECORD', 'bad_field'],
  ['ASR_TOO_LARGE', 'too_large'],
  ['ASR_TOO_DEEP', 'too_deep'],
])

/** The refusal of a file that holds a second session's header. */
export function mismatch(sessionId: string, other: unknown, line: number): AsrError {
  const message = `line ${line}: a header of session ${JSON.stringify(other)} in a file of session ${JSON.stringify(sessionId)}`
  return new AsrError('session_mismatch', message, { sessionId })
}

export function equalHeaders(a: Header, b: Header): boolean {
  return canonicalText(a) === canonicalText(b)
}
