/**
 * What a command gets to work with, and the wrapping that all commands share.
 */
import type { Command } from 'commander'
import { storeLocation } from './open.js'
import { Output } from './output.js'

export interface Cli {
  /** the folder of the store */
  location: string
  out: Output
  /** Ends with wrong usage. */
  misuse(message: string): never
}

interface GlobalOptions {
  store?: string
  json?: boolean
  jsonl?: boolean
}

/** Makes an action of a command: the output is set up before and flushed after, whatever comes of it. */
export function action<Args extends unknown[]>(run: (cli: Cli, ...args: Args) => Promise<void>) {
  return async (...given: unknown[]): Promise<void> => {
    const command = given.pop() as Command
    const options = command.optsWithGlobals<GlobalOptions>()
    const out = Output.toStdout(options.json ? 'json' : options.jsonl ? 'jsonl' : 'text')
    const cli: Cli = {
      location: storeLocation(options.store),
      out,
      misuse: (message) => command.error(`error: ${message}`, { code: 'asr.usage' }),
    }
    try {
      await run(cli, ...(given as Args))
    } finally {
      await out.flush()
    }
  }
}

/** The lines that a command's help ends with. */
export function example(...commands: string[]): string {
  return ['\nExample:', ...commands.map((command) => `  $ ${command}`)].join('\n')
}
