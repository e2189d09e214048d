/**
 * Colour, only where the stream it goes to is a terminal that wants it.
 */
import type { WriteStream } from 'node:tty'
import pc from 'picocolors'
import { stderr } from './say.js'

export type Colours = Pick<ReturnType<typeof pc.createColors>, 'dim' | 'cyan' | 'red'>

export const NO_COLOURS: Colours = pc.createColors(false)

function coloursFor(stream: Partial<WriteStream>): Colours {
  const wanted = stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  return pc.createColors(wanted)
}

export function outputColours(): Colours {
  return coloursFor(process.stdout)
}

export function errorColours(): Colours {
  return coloursFor(stderr())
}

const UNCUT_WIDTH = 120

/** Columns that a line of text may take: the terminal's, or $COLUMNS, or enough for a pipe. */
export function outputWidth(): number {
  if (process.stdout.isTTY && process.stdout.columns > 0) return process.stdout.columns
  const columns = Number(process.env.COLUMNS)
  return Number.isSafeInteger(columns) && columns > 0 ? columns : UNCUT_WIDTH
}
