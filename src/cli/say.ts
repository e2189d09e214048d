/**
 * What people are told, on stderr: the one printer there.
 */
import { format } from 'node:util'
import { type AsrError, isAsrError } from '../base/error.js'
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

/** What packages tell by the console goes through the one printer too: they quote what came from outside. */
export function sayConsole(): void {
  const told = (...args: unknown[]): void => say(format(...args))
  Object.assign(console, { error: told, warn: told })
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
