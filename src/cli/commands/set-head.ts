import type { Command } from 'commander'
import { action, example } from '../cli.js'
import { writing } from '../open.js'

export function setHeadCommand(program: Command): void {
  program
    .command('set-head')
    .description('move a head to a record, or drop it')
    .argument('<session>', 'session id')
    .argument('<name>', 'the head')
    .argument('[record]', 'record id')
    .option('--drop', 'drop the head')
    .addHelpText('after', example('asr set-head my-session primary r12', 'asr set-head my-session attempt-2 --drop'))
    .action(
      action(async ({ location, out, misuse }, session: string, name: string, record?: string, options?: Options) => {
        if ((record === undefined) !== (options?.drop === true)) misuse('give either a record or --drop')
        await writing(location, { create: false }, async (store) => {
          const stream = await store.stream(session)
          const receipt = await stream.setHead(name, record ?? null)
          await out.value(receipt, () => [record === undefined ? `dropped ${name}` : `${name} is now at ${record}`])
        })
      }),
    )
}

interface Options {
  drop?: boolean
}
