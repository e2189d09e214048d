import type { Command } from 'commander'
import { action, example } from '../cli.js'
import { writing } from '../open.js'
import { withProgress } from '../progress.js'

export function reindexCommand(program: Command): void {
  program
    .command('reindex')
    .description('build the index again from the log')
    .argument('[session]', 'session id (default: every stream)')
    .addHelpText('after', example('asr reindex', 'asr reindex my-session'))
    .action(
      action(async ({ location, out }, sessionId?: string) => {
        await writing(location, { create: false }, async (store, signal) => {
          await withProgress('index', (onProgress) => store.rebuildIndex({ sessionId, onProgress, signal }))
          await out.value({ sessionId: sessionId ?? null }, () => [
            sessionId === undefined ? 'the index is built again' : `the index of ${sessionId} is built again`,
          ])
        })
      }),
    )
}
