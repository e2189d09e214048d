import type { Command } from 'commander'
import type { Store, Stream } from '../../main.js'
import { action, example } from '../cli.js'
import { endBad } from '../exit.js'
import { untilAborted } from '../interrupt.js'
import { reading } from '../open.js'
import { say } from '../say.js'
import { writeWhole } from '../write-file.js'

export function exportCommand(program: Command): void {
  program
    .command('export')
    .description('write a stream as JSONL')
    .argument('<session>', 'session id')
    .option('-o, --output <file>', 'to a file, which is replaced only once all is written (default: stdout)')
    .option('--salvage', 'of a damaged stream what is intact; what is missing is told')
    .addHelpText(
      'after',
      example('asr export my-session -o my-session.jsonl', 'asr export my-session --salvage > rest.jsonl'),
    )
    .action(
      action(async (cli, session: string, options: ExportOptions) => {
        const { out, misuse } = cli
        if (out.format === 'json') misuse('an export is JSONL, there is no --json of it')
        await reading(cli, async (store, signal) => {
          const stream = await store.stream(session)
          const bytes = untilAborted(stream.exportJsonl(options.salvage ? { salvage: true } : {}), signal)
          if (options.output !== undefined && options.output !== '-') await writeWhole(options.output, bytes)
          else {
            for await (const chunk of bytes) {
              await out.bytes(chunk)
              if (out.closed) return
            }
          }
          if (options.salvage) await sayMissing(store, stream, signal)
        })
      }),
    )
}

interface ExportOptions {
  output?: string
  salvage?: boolean
}

async function sayMissing(store: Store, stream: Stream, signal: AbortSignal): Promise<void> {
  const report = await store.verify({ sessionId: stream.sessionId, signal })
  const missing = report.streams.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'damage'))
  for (const { code, message } of missing) say(`missing: ${code}: ${message}`)
  if (missing.length > 0) endBad()
}
