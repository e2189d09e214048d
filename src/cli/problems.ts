/**
 * What verify found, in plain words, and what the user can do about it.
 */
import type { Diagnostic } from '../main.js'

export function describeProblem(problem: Diagnostic): string {
  const where = problem.recordId === undefined ? '' : ` at record ${problem.recordId}`
  return `${problem.severity}${where}: ${problem.message} (${problem.code})`
}

/** What to do, each advice once. Damage to the index alone loses nothing: it is made from the log. */
export function adviceFor(sessionId: string, problems: readonly Diagnostic[]): string[] {
  const damage = problems.filter(({ severity }) => severity === 'damage')
  const session = shellWord(sessionId)
  if (damage.some(({ code }) => code === 'lost_stream'))
    return ['a copy of the store may have its log, to be put back; to forget the stream:', `asr rm ${session}`]
  const advice: string[] = []
  if (damage.some(isOfIndex)) advice.push(`asr reindex ${session}`)
  if (damage.some((problem) => !isOfIndex(problem))) {
    advice.push(
      'a copy of the store, or an export made before, has the stream whole; to go on with what is intact:',
      `asr export --salvage -o FILE ${session}; asr rm ${session}; asr import FILE`,
    )
  }
  return advice
}

function isOfIndex({ code }: Diagnostic): boolean {
  return code.startsWith('index_')
}

/** As one argument of a shell's command line. */
function shellWord(text: string): string {
  const word = /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
  return text.startsWith('-') ? `-- ${word}` : word
}
