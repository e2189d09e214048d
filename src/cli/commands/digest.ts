import { createHash } from 'node:crypto'
import type { Command } from 'commander'
import { counted } from '../../base/words.js'
import type { Stream } from '../../main.js'
import { action, example } from '../cli.js'
import { untilAborted } from '../interrupt.js'
import { reading } from '../open.js'

export function digestCommand(program: Command): void {
  program
    .command('digest')
    .description('print what tells two streams apart: equal digests mean equal streams')
    .argument('<session>', 'session id')
    .option('--sha256', 'also the SHA-256 of the exported JSONL, which holds against forgery too')
    .addHelpText('after', example('asr digest my-session', 'asr digest my-session --sha256 --json'))
    .action(
      action(async (cli, session: string, options: { sha256?: boolean }) => {
        const { out } = cli
        await reading(cli, async (store, signal) => {
          const stream = await store.stream(session)
          const digest = await stream.digest()
          const sha256 = options.sha256 ? await sha256Of(stream, signal) : undefined
          await out.value({ sessionId: session, records: stream.length, digest, sha256 }, () => [
            `${digest}  ${counted(stream.length, 'record')}`,
            ...(sha256 ? [`sha256 ${sha256}`] : []),
          ])
        })
      }),
    )
}

async function sha256Of(stream: Stream, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of untilAborted(stream.exportJsonl(), signal)) hash.update(bytes)
  return hash.digest('hex')
}
