import type { Command } from 'commander'
import { action, example } from '../cli.js'
import { reading } from '../open.js'
import { table } from '../table.js'

export function headsCommand(program: Command): void {
  program
    .command('heads')
    .description('list the heads of a stream')
    .argument('<session>', 'session id')
    .addHelpText('after', example('asr heads my-session'))
    .action(
      action(async (cli, session: string) => {
        const { out } = cli
        await reading(cli, async (store) => {
          const heads = await (await store.stream(session)).heads()
          if (out.format !== 'text') return out.list(heads)
          const rows = heads.map((head) => [head.name, String(head.pos), head.recordId])
          await out.lines(rows.length === 0 ? ['no heads'] : table(COLUMNS, rows))
        })
      }),
    )
}

const COLUMNS = [{ name: 'HEAD' }, { name: 'POS', align: 'right' }, { name: 'RECORD' }] as const
