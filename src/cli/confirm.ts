import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { stderr } from './say.js'
import { printable } from './text.js'

/** Asks a question that only `y` or `yes` affirms; the end of the input is a no. */
export async function confirm(
  question: string,
  signal?: AbortSignal,
  { input, output }: { input: Readable; output: Writable } = { input: process.stdin, output: stderr() },
): Promise<boolean> {
  const asked = createInterface({ input, output })
  const ended = new Promise<string>((resolve) => asked.once('close', () => resolve('')))
  // A terminal in readline's hands turns Ctrl-C into this event.
  asked.once('SIGINT', () => process.emit('SIGINT'))
  try {
    const answer = await Promise.race([asked.question(`${printable(question)} [y/N] `, { signal }), ended])
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    asked.close()
  }
}
