/**
 * What verify found, in plain words, and what the user can do about it.
 */
import type { Diagnostic } from '../main.js'

export function describeProblem(problem: Diagnostic): string {
  const where = problem.recordId === undefined ? '' : ` at record ${problem.recordId}`
  return `${problem.severity}${where}: ${problem.message} (${problem.code})`
}

/** What to do, each advice once. */
export function adviceFor(sessionId: string, problems: Diagnostic[]): string[] {
  const session = shellWord(sessionId)
  if (!problems.some((problem) => problem.severity === 'damage')) return []
  return [
    `asr export ${session} --salvage -o FILE saves the records that are intact; a copy of the store or an earlier export has the rest`,
  ]
}

/** As one word of a shell's command line. */
export function shellWord(text: string): string {
  const word = /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
  return text.startsWith('-') ? `-- ${word}` : word
}
