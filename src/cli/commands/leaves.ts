import type { Command } from 'commander'
import { action, example } from '../cli.js'
import { reading } from '../open.js'
import { table } from '../table.js'

export function leavesCommand(program: Command): void {
  program
    .command('leaves')
    .description('list the records without children, with the heads that stand at them')
    .argument('<session>', 'session id')
    .addHelpText('after', example('asr leaves my-session'))
    .action(
      action(async (cli, session: string) => {
        const { out } = cli
        await reading(cli, async (store) => {
          const leaves = await (await store.stream(session)).leaves()
          if (out.format !== 'text') return out.list(leaves)
          const rows = leaves.map((leaf) => [String(leaf.pos), leaf.recordId, leaf.heads.join(', ')])
          await out.lines(rows.length === 0 ? ['no leaves'] : table(COLUMNS, rows))
        })
      }),
    )
}

const COLUMNS = [{ name: 'POS', align: 'right' }, { name: 'RECORD' }, { name: 'HEADS' }] as const
