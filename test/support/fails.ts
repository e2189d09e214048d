/**
 * Calls that must fail, and how (the contract: a stable code, a message, within a second where nobody else works).
 */
import * as assert from 'uvu/assert'
import { type AsrError, isAsrError } from '../../src/main.js'

/** Other tests run beside: an idle machine takes a fifth of it. */
const SLOWEST_MS = 5000

/** The error of a call that must fail with this code, soon. */
export async function fails(code: string, call: () => unknown): Promise<AsrError> {
  const start = performance.now()
  let outcome: unknown
  try {
    outcome = await call()
  } catch (error) {
    const took = performance.now() - start
    if (!isAsrError(error)) throw error
    assert.is(error.code, code, error.message)
    assert.ok(error.message.length > 0, 'an error says what happened')
    assert.ok(took < SLOWEST_MS, `${code} took ${took} ms`)
    return error
  }
  return assert.unreachable(`no ${code}, but ${JSON.stringify(outcome)}`) as never
}

/** What a report says of lines: `<line> <code>`, in the order of the lines. */
export function said(diagnostics: readonly { line?: number; code: string }[]): string[] {
  return [...diagnostics]
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.code < b.code ? -1 : 1))
    .map(({ line, code }) => `${line} ${code}`)
}
