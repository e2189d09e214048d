/**
 * Exit codes, and how a failure is told: one line on stderr, a stack only when ASR_DEBUG asks for one.
 */
import { CommanderError } from 'commander'
import { type AsrError, isAsrError } from '../record/error.js'
import { errorColours } from './style.js'
import { printable } from './text.js'

export const EXIT = {
  done: 0,
  /** a line refused, damage found, something named that is not there */
  bad: 1,
  usage: 2,
  /** another process writes the store */
  locked: 3,
} as const

/** What was asked for was done, and what came out is bad: the command ends with 1. */
export function endBad(): void {
  process.exitCode = EXIT.bad
}

/** A line for people on stderr. */
export function say(text: string): void {
  process.stderr.write(`asr: ${printable(text)}\n`)
}

/** Says what failed on stderr and answers with the exit code. */
export function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  const colours = errorColours()
  process.stderr.write(`${colours.red('asr:')} ${printable(failure(error))}\n`)
  if (process.env.ASR_DEBUG && error instanceof Error) process.stderr.write(`${stackOf(error)}\n`)
  return isAsrError(error, 'ASR_LOCKED') ? EXIT.locked : EXIT.bad
}

/** `CODE: message` of the engine's errors, the message of others. */
export function failure(error: unknown): string {
  if (isAsrError(error)) return `${(error as AsrError).code}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by: ${stackOf(error.cause)}` : ''
  return `${error.stack ?? error.message}${cause}`
}
