import type { Command } from 'commander'
import type { StreamInfo } from '../../main.js'
import { action, example } from '../cli.js'
import { endBad } from '../exit.js'
import { reading } from '../open.js'
import { say } from '../say.js'
import { humanBytes, table } from '../table.js'
import { oneLine } from '../text.js'

export function lsCommand(program: Command): void {
  program
    .command('ls')
    .description('list the streams')
    .addHelpText('after', example('asr ls', 'asr ls --jsonl | head'))
    .action(
      action(async (cli) => {
        const { out } = cli
        await reading(cli, async (store) => {
          const streams = sayingDamage(store.streams())
          if (out.format !== 'text') return out.list(streams)
          const rows: string[][] = []
          for await (const info of streams) rows.push(row(info))
          await out.lines(rows.length === 0 ? ['no streams'] : table(COLUMNS, rows))
        })
      }),
    )
}

/** Passes the streams on; one that does not open whole is told on stderr, and makes the command end with 1. */
async function* sayingDamage(streams: AsyncIterable<StreamInfo>): AsyncIterable<StreamInfo> {
  for await (const info of streams) {
    yield info
    if (info.damage === undefined) continue
    say(`damaged: ${info.damage.code}: ${info.damage.message}`)
    endBad()
  }
}

const COLUMNS = [
  { name: 'SESSION' },
  { name: 'RECORDS', align: 'right' },
  { name: 'SIZE', align: 'right' },
  { name: 'UPDATED' },
  { name: 'AGENT' },
  { name: 'TITLE' },
] as const

function row(info: StreamInfo): string[] {
  return [
    info.sessionId,
    String(info.records),
    humanBytes(info.bytes),
    info.updatedAt ?? '-',
    info.agent ? `${info.agent.name} ${info.agent.version}`.trim() : '-',
    oneLine(info.title ?? '-'),
  ]
}
