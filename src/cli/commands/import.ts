import type { Command } from 'commander'
import { isAsrError } from '../../base/error.js'
import { counted } from '../../base/words.js'
import type { Diagnostic, ImportReport, Store } from '../../main.js'
import { action, type Cli, example } from '../cli.js'
import { endBad } from '../exit.js'
import { openInput } from '../input.js'
import { writing } from '../open.js'
import type { Line } from '../output.js'
import { withProgress } from '../progress.js'
import { failure, say } from '../say.js'

export function importCommand(program: Command): void {
  program
    .command('import')
    .description('import JSONL files, plain or gzip')
    .argument('<file...>', 'files; - is stdin')
    .option('--strict', 'refuse a file at any diagnostic')
    .option('--session <id>', 'the session of a file without a header')
    .addHelpText('after', example('asr import session.jsonl', 'asr import --strict - < session.jsonl.gz'))
    .action(action(importFiles))
}

interface ImportCommandOptions {
  strict?: boolean
  session?: string
}

type FileReport = { file: string } & ImportReport

/** Nothing of the file was stored. */
interface RefusedFile extends Omit<FileReport, 'sessionId'> {
  error: { code: string; message: string }
  sessionId: string | null
}

async function importFiles({ location, out }: Cli, files: string[], options: ImportCommandOptions): Promise<void> {
  const reports: (FileReport | RefusedFile)[] = []
  await writing(location, { create: true }, async (store, signal) => {
    for (const file of files) {
      const report = await importFile(store, file, options, signal)
      if (isBad(report)) endBad()
      if (out.format === 'json') reports.push(report)
      else await out.value(report, () => inWords(report))
      await out.flush()
    }
  })
  if (out.format === 'json') await out.value({ files: reports }, () => [])
}

async function importFile(
  store: Store,
  file: string,
  options: ImportCommandOptions,
  signal: AbortSignal,
): Promise<FileReport | RefusedFile> {
  try {
    const report = await withProgress(file === '-' ? 'stdin' : file, async (update) => {
      const onRead = (done: number): void => update({ done, total: input.size, unit: 'bytes' })
      const input = await openInput(file, { signal, onRead })
      return store.importJsonl(input.chunks, { sessionId: options.session, strict: options.strict, signal })
    })
    return { file, ...report }
  } catch (error) {
    if (signal.aborted || !isAsrError(error)) throw error
    say(`${file} is refused: ${failure(error)}`)
    const { code, message, diagnostics = [] } = error
    const sessionId = error.sessionId ?? options.session ?? null
    return { file, error: { code, message }, sessionId, records: 0, appended: 0, duplicates: 0, diagnostics }
  }
}

function isBad(report: FileReport | RefusedFile): boolean {
  return 'error' in report || report.diagnostics.some(({ severity }) => severity === 'refused')
}

function inWords(report: FileReport | RefusedFile): Line[] {
  const { file, sessionId, records, appended, duplicates, diagnostics } = report
  const counts =
    'error' in report
      ? `${file}: refused, nothing is stored of it`
      : `${file}: ${sessionId}: ${appended} new, ${duplicates} there already, ${counted(records, 'record')} now`
  return [counts, ...diagnostics.map((found) => diagnosticInWords(file, found))]
}

function diagnosticInWords(file: string, { line, code, message }: Diagnostic): string {
  return `${file}${line === undefined ? '' : `:${line}`} ${code} ${message}`
}
