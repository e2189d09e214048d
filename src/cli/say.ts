/**
 * What people are told, on stderr: the one printer there.
 */
import { type AsrError, isAsrError } from '../record/error.js'
import { printable, printableLines } from './text.js'

let made = false

/** Made when there is something to tell: most commands do without. For what draws there itself, of printable text alone. */
export function stderr(): NodeJS.WriteStream {
  // A reader that closes the pipe is no error.
  if (!made) process.stderr.on('error', () => {})
  made = true
  return process.stderr
}

/** A line for people on stderr; `mark` colours its beginning. */
export function say(text: string, mark: (text: string) => string = String): void {
  stderr().write(`${mark('asr:')} ${printable(text)}\n`)
}

/** Text of several lines on stderr, as it is but for what is hidden in it. */
export function sayLines(text: string): void {
  stderr().write(printableLines(text))
}

/** `CODE: message` of the engine's errors, the message of others. */
export function failure(error: unknown): string {
  if (isAsrError(error)) return `${(error as AsrError).code}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}
