import type { Command } from 'commander'
import { type AtOptions, atOf, sayIfBroken, withAt } from '../at.js'
import { action, example } from '../cli.js'
import { reading } from '../open.js'
import { listBySeq } from '../records.js'

export function pathCommand(program: Command): void {
  withAt(program.command('path'))
    .description('show the active path of a head, or the path to a record')
    .argument('<session>', 'session id')
    .option('--resolved', 'each live entity once, at its place, in force')
    .addHelpText('after', example('asr path my-session', 'asr path my-session --at r12 --resolved'))
    .action(
      action(async (cli, session: string, options: PathOptions) => {
        const { out } = cli
        await reading(cli, async (store) => {
          const stream = await store.stream(session)
          const path = await stream.activePath(atOf(options))
          sayIfBroken(path)
          await listBySeq(out, options.resolved ? path.resolved() : path.records(), stream.length)
        })
      }),
    )
}

interface PathOptions extends AtOptions {
  resolved?: boolean
}
