/**
 * Exit codes, and what is told of the failure that ends a command: one line, a stack only when ASR_DEBUG asks for one.
 */
import { CommanderError } from 'commander'
import { isAsrError } from '../base/error.js'
import { failure, say, sayLines } from './say.js'
import { errorColours } from './style.js'

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

/** Says what failed on stderr and answers with the exit code. */
export function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  say(failure(error), errorColours().red)
  if (process.env.ASR_DEBUG && error instanceof Error) sayLines(`${stackOf(error)}\n`)
  return isAsrError(error, 'ASR_LOCKED') ? EXIT.locked : EXIT.bad
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by: ${stackOf(error.cause)}` : ''
  return `${error.stack ?? error.message}${cause}`
}
