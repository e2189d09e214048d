import { type Command, InvalidArgumentError } from 'commander'
import type { StoredRecord, Stream } from '../../main.js'
import { action, type Cli, example } from '../cli.js'
import { following, reading } from '../open.js'
import type { Output } from '../output.js'
import { numberedRecords } from '../records.js'

export function logCommand(program: Command): void {
  program
    .command('log')
    .description('show the records in log order')
    .argument('<session>', 'session id')
    .option('--from <pos>', 'begin at this position', position, 1)
    .option('--follow', 'go on with records as they come, until Ctrl-C')
    .addHelpText('after', example('asr log my-session --from 100', 'asr log my-session --follow --jsonl'))
    .action(action(show))
}

interface LogOptions {
  from: number
  follow?: boolean
}

function position(text: string): number {
  const pos = /^[0-9]+$/.test(text) ? Number(text) : 0
  if (!Number.isSafeInteger(pos) || pos < 1) throw new InvalidArgumentError('A position is a whole number from 1.')
  return pos
}

interface Placed {
  number: number
  record: StoredRecord
}

async function show(cli: Cli, session: string, { from, follow }: LogOptions): Promise<void> {
  const { location, out } = cli
  if (!follow) {
    return reading(cli, async (store) => {
      const stream = await store.stream(session)
      await out.list(range(stream, from), numberedRecords(stream.length))
    })
  }
  await following(location, async (store, signal) => {
    const stream = await store.stream(session)
    await out.list(followed(stream, from, out, signal), numberedRecords(stream.length))
  })
}

async function* range(stream: Stream, from: number): AsyncIterable<Placed> {
  let number = from
  for await (const record of stream.records({ from })) yield { number: number++, record }
}

/** What comes live is shown at once. Ctrl-C is how following ends, and no failure. */
async function* followed(stream: Stream, from: number, out: Output, signal: AbortSignal): AsyncIterable<Placed> {
  let live = false
  try {
    for await (const item of stream.follow({ after: from - 1, signal })) {
      if ('caughtUp' in item) live = true
      else yield { number: item.pos, record: item.record }
      if (live) await out.flush()
      if (out.closed) return
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
