/**
 * What people are told, on stderr.
 */
import { type AsrError, isAsrError } from '../record/error.js'
import { printable } from './text.js'

let made = false

/** Made when there is something to tell: most commands do without. */
export function stderr(): NodeJS.WriteStream {
  // A reader that closes the pipe is no error.
  if (!made) process.stderr.on('error', () => {})
  made = true
  return process.stderr
}

/** A line for people on stderr. */
export function say(text: string): void {
  stderr().write(`asr: ${printable(text)}\n`)
}

/** `CODE: message` of the engine's errors, the message of others. */
export function failure(error: unknown): string {
  if (isAsrError(error)) return `${(error as AsrError).code}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}
