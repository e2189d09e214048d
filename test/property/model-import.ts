/**
 * The naive model of the core, last part: what an import makes of a file (CORE-2, CORE-7, CORE-12, CORE-21).
 */
import { canonical, finite, has, isObject, type Json, type Rec, roundsANumber, text } from './json.js'
import { type Fault, isFault, isRepeat, ModelStream, revised, wrongKind } from './model.js'
import { pathTo, type Row } from './rows.js'
import { extentOf } from './view.js'

export interface LineDiagnostic {
  code: string
  line: number
}
export interface ModelImport {
  stream: ModelStream
  appended: number
  duplicates: number
  /** what is said of the file: the same whether its records are new to the stream or not */
  diagnostics: LineDiagnostic[]
}

interface Line {
  number: number
  source: string
  value: Rec
}

const REPORTS: Record<string, string> = {
  HEAD_TARGET: 'head_target',
  TARGET_UNKNOWN: 'target_unknown',
  SUPERSEDES_UNKNOWN: 'supersedes_unknown',
  SUPERSEDES_MISMATCH: 'supersedes_mismatch',
}

/** `existing` is a stream of the store, which the file extends if it is of its session; it is left as it is. */
export function importFile(bytes: Uint8Array, existing?: ModelStream, sessionId?: string): Fault | ModelImport {
  const lines = readLines(bytes)
  const first = lines.find((line): line is Line => 'value' in line)
  const headed = first !== undefined && first.value.type === 'header'
  if (!headed && sessionId === undefined) return { code: 'no_header' }
  const session = headed ? text(first.value, 'sessionId') : sessionId
  if (session === undefined) return { code: 'no_header' }
  const named = lines.map((line) =>
    'value' in line && line.value.type === 'header' ? text(line.value, 'sessionId') : undefined,
  )
  if (named.some((other) => other !== undefined && other !== session)) return { code: 'session_mismatch' }
  const starting: Rec = headed ? first.value : { type: 'header', asr: '1', sessionId: session }
  const before = existing?.header.sessionId === session ? existing : undefined
  const run = new Run(before, new ModelStream(starting, headed ? unfaithful(first.source) : null))
  for (const line of lines) {
    if ('code' in line) run.refuse(line)
    else if (line === first && headed) run.sayRounded(line)
    else if (line.value.type === 'header') run.revise(line)
    else if (!run.take(line)) return { code: 'ASR_DIVERGED' }
  }
  const outcome = run.end()
  const alone = before === undefined ? outcome : importFile(bytes, undefined, sessionId)
  return isFault(alone) ? alone : { ...outcome, diagnostics: alone.diagnostics }
}

class Run {
  readonly #before: ModelStream | undefined
  readonly #file: ModelStream
  /** the stream with the file's new records */
  readonly #stream: ModelStream
  readonly #accepted: { row: Row; line: number }[] = []
  readonly #diagnostics: LineDiagnostic[] = []
  #duplicates = 0
  #behindRefused = false

  constructor(before: ModelStream | undefined, file: ModelStream) {
    this.#before = before
    this.#file = file
    this.#stream = before?.copy() ?? file
  }

  refuse(refused: LineDiagnostic): void {
    this.#diagnostics.push(refused)
    this.#behindRefused = true
  }

  revise(line: Line): void {
    const next = revised(this.#file.header, line.value)
    if (next === null) this.refuse({ code: 'bad_field', line: line.number })
    else if (canonical(next) !== canonical(this.#file.header)) {
      this.#file.putHeader(next, line.value, line.source)
      this.sayRounded(line)
    }
  }

  sayRounded({ source, number }: { source: string; number: number }): void {
    if (roundsANumber(source)) this.#diagnostics.push({ code: 'number_rounded', line: number })
  }

  /** False: the file and the stream diverge. */
  take({ value, source, number }: Line): boolean {
    if (wrongKind(value) !== null) this.refuse({ code: 'bad_field', line: number })
    else {
      const twin = has(value, 'id') ? this.#accepted.find(({ row }) => row.id === value.id) : undefined
      const known = this.#before?.rows[this.#accepted.length]
      if (twin !== undefined) this.#repeat(twin.row, value, number)
      else if (known === undefined) this.#add(value, source, number)
      else if (isRepeat(value, known.record, ['seq', 'head', 'id'])) this.#recognise(known, number)
      else return false
    }
    return true
  }

  #repeat(twin: Row, value: Rec, line: number): void {
    if (isRepeat(value, twin.record, ['seq', 'head'])) {
      this.#duplicates++
    } else this.refuse({ code: 'id_conflict', line })
  }

  #recognise(row: Row, line: number): void {
    this.#accepted.push({ row, line })
    this.#duplicates++
    this.#behindRefused = false
  }

  #add(value: Rec, source: string, line: number): void {
    const stream = this.#stream
    const record = stream.complete(value)
    const kept = unfaithful(source)
    const before = stream.rows.at(-1)
    const { row, faults } = stream.enter(record, kept && withAssigned(kept, value, record), this.#behindRefused)
    this.#accepted.push({ row, line })
    this.#behindRefused = false
    const say = (code: string) => this.#diagnostics.push({ code, line })
    for (const fault of faults) if (fault in REPORTS) say(REPORTS[fault])
    if (before !== undefined && row.seq <= before.seq) say('seq_not_rising')
    this.sayRounded({ source, number: line })
    if (record.type === 'compaction') {
      const path = pathTo(row)
      const position = path.findIndex((other) => other.founder === row.founder)
      if (extentOf(path, position, row) === 'bad') say('compaction_bad_extent')
    }
  }

  end(): ModelImport {
    this.#accepted.forEach(({ row, line }, i) => {
      if (row.missing === null) return
      const forward = this.#accepted.slice(i).some((other) => other.row.id === row.missing)
      this.#diagnostics.push({ code: forward ? 'forward_parent' : 'orphan_parent', line })
    })
    const stream = this.#stream
    const appended = stream.rows.length - (this.#before?.rows.length ?? 0)
    if (appended > 0 && canonical(stream.header) !== canonical(this.#file.header)) {
      stream.header = this.#file.header
      stream.headerLine = this.#file.headerLine
    }
    return {
      stream,
      appended,
      duplicates: this.#duplicates,
      diagnostics: this.#diagnostics,
    }
  }
}

/** CORE-7: the line, when its value does not say all of it. */
function unfaithful(source: string): string | null {
  return JSON.stringify(JSON.parse(source)) === source ? null : source
}

function withAssigned(line: string, given: Rec, completed: Rec): string {
  const assigned = ['seq', 'id'].filter((key) => !has(given, key))
  const brace = line.lastIndexOf('}')
  return (
    line.slice(0, brace) +
    assigned.map((key) => `,${JSON.stringify(key)}:${JSON.stringify(completed[key])}`).join('') +
    line.slice(brace)
  )
}

/** CORE-2: the lines that hold an object, and those that are refused for their text. */
function readLines(bytes: Uint8Array): (Line | LineDiagnostic)[] {
  const pieces = split(bytes)
  const lines: (Line | LineDiagnostic)[] = []
  pieces.forEach((piece, i) => {
    const number = i + 1
    const read = readLine(piece, i === pieces.length - 1)
    if (typeof read === 'string') lines.push({ code: read, line: number })
    else if (read !== null) lines.push({ number, ...read })
  })
  return lines
}

/** The last piece is what stands behind the last LF: often nothing. */
function split(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let from = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
    pieces.push(bytes.subarray(from, at))
    from = at + 1
  }
  return [...pieces, bytes.subarray(from)]
}

function readLine(bytes: Uint8Array, unended: boolean): string | null | { source: string; value: Rec } {
  let source: string
  try {
    source = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return unended ? 'torn_tail' : 'bad_utf8'
  }
  source = source.replace(/\r$/, '').replace(/^\ufeff/, '')
  if (/^[ \t\r]*$/.test(source)) return null
  let value: Json
  try {
    value = JSON.parse(source)
  } catch {
    return unended ? 'torn_tail' : 'bad_json'
  }
  if (!isObject(value)) return 'not_object'
  return finite(value) ? { source, value } : 'bad_json'
}
