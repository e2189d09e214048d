import type { Command } from 'commander'
import { AsrError } from '../../base/error.js'
import { action, example } from '../cli.js'
import { jsonLines } from '../json.js'
import { reading } from '../open.js'

export function getCommand(program: Command): void {
  program
    .command('get')
    .description('show one record, its position and its content hash')
    .argument('<session>', 'session id')
    .argument('<record>', 'record id')
    .addHelpText('after', example('asr get my-session r12', 'asr get my-session r12 --json'))
    .action(
      action(async (cli, session: string, id: string) => {
        const { out } = cli
        await reading(cli, async (store) => {
          const stream = await store.stream(session)
          const record = await stream.get(id)
          const pos = await stream.position(id)
          if (record === undefined || pos === undefined) {
            throw new AsrError('ASR_NOT_FOUND', `stream "${session}" has no record "${id}"`, {
              sessionId: session,
              recordId: id,
            })
          }
          const hash = await stream.hash(id)
          await out.value({ pos, hash, record }, () => [`pos ${pos}, hash ${hash}`, ...jsonLines(record)])
        })
      }),
    )
}
