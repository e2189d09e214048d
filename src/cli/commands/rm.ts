import type { Command } from 'commander'
import { counted } from '../../base/words.js'
import { isAsrError, type Store } from '../../main.js'
import { action, example } from '../cli.js'
import { confirm } from '../confirm.js'
import { writing } from '../open.js'

export function rmCommand(program: Command): void {
  program
    .command('rm')
    .description('delete a stream')
    .argument('<session>', 'session id')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('asr rm my-session', 'asr rm my-session --yes'))
    .action(
      action(async ({ location, out, misuse }, session: string, options: { yes?: boolean }) => {
        if (!options.yes && !process.stdin.isTTY) misuse('nobody can be asked here: say --yes to delete')
        await writing(location, { create: false }, async (store, signal) => {
          const deleted = options.yes === true || (await confirm(await question(store, session), signal))
          if (deleted) await store.deleteStream(session)
          await out.value({ sessionId: session, deleted }, () => [deleted ? `deleted ${session}` : 'nothing deleted'])
        })
      }),
    )
}

/** What can't be opened, for damage or lack of room, can be deleted all the same. */
async function question(store: Store, session: string): Promise<string> {
  const records = await store.stream(session).then(
    ({ length }) => ` with its ${counted(length, 'record')}`,
    (error: unknown) => {
      if (isAsrError(error, 'ASR_STREAM_NOT_FOUND')) throw error
      return ''
    },
  )
  return `Delete ${session}${records}?`
}
