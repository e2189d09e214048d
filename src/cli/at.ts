/**
 * `--head` and `--at`: where a path ends. And what is to be said of a path that is not whole.
 */
import { type Command, Option } from 'commander'
import type { At, Cut } from '../main.js'
import { say } from './say.js'

export interface AtOptions {
  head?: string
  at?: string
}

export function withAt(command: Command): Command {
  return command
    .addOption(new Option('--head <name>', 'the path of this head (default: primary)').conflicts('at'))
    .option('--at <record>', 'the path that ends at this record')
}

export function atOf(options: AtOptions): At {
  return options.at !== undefined ? { at: options.at } : { head: options.head }
}

/** A path with something missing is never passed off as whole (CORE-12); stdout holds records only, so stderr says it. */
export function sayIfBroken(path: { cut: Cut | null; gaps: string[] }): void {
  if (path.cut) {
    say(
      `note: the path is cut: it begins at ${path.cut.recordId}, whose parent ${path.cut.missingParentId} is not there`,
    )
  }
  if (path.gaps.length > 0) {
    say(`note: something is missing from the path at ${path.gaps.join(', ')}`)
  }
}
