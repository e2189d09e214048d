import type { Command } from 'commander'
import { isAsrError } from '../../base/error.js'
import { counted } from '../../base/words.js'
import type { Store } from '../../main.js'
import { action, example } from '../cli.js'
import { endBad } from '../exit.js'
import { reading } from '../open.js'
import type { Line } from '../output.js'
import { withProgress } from '../progress.js'
import { failure, say } from '../say.js'
import { type StreamStats, statsOf } from '../stats.js'
import { humanBytes, table } from '../table.js'

export function statsCommand(program: Command): void {
  program
    .command('stats')
    .description('count what a stream holds')
    .argument('[session]', 'session id (default: every stream)')
    .addHelpText('after', example('asr stats my-session', 'asr stats --json'))
    .action(
      action(async (cli, session?: string) => {
        const { out } = cli
        await reading(cli, async (store, signal) => {
          if (session !== undefined) {
            const stats = await streamStats(store, session, signal)
            await out.value(stats, () => inWords(stats))
          } else if (out.format !== 'text') await out.list(everyStream(store, signal))
          else for await (const stats of everyStream(store, signal)) await out.lines([...inWords(stats), ''])
        })
      }),
    )
}

/** Of each stream in turn. One that is deleted meanwhile is left out; one that can not be read is told, and the others go on. */
export async function* everyStream(store: Store, signal: AbortSignal): AsyncIterable<StreamStats> {
  for await (const { sessionId } of store.streams()) {
    const stats = await streamStats(store, sessionId, signal).catch(passedOver)
    if (stats !== undefined) yield stats
  }
}

function passedOver(error: unknown): undefined {
  if (!isAsrError(error)) throw error
  if (isAsrError(error, 'ASR_STREAM_NOT_FOUND')) return
  say(`left out: ${failure(error)}`)
  endBad()
}

async function streamStats(store: Store, sessionId: string, signal: AbortSignal): Promise<StreamStats> {
  const stream = await store.stream(sessionId)
  return withProgress(sessionId, (onProgress) => statsOf(stream, { onProgress, signal }))
}

function inWords(stats: StreamStats): Line[] {
  const facts = [
    stats.sessionId,
    [counted(stats.records, 'record'), humanBytes(stats.bytes), ...span(stats)].join(', '),
    `entities ${stats.entities}, revisions ${stats.revisions}, compactions ${stats.compactions}`,
    `heads ${stats.heads}, branches ${stats.branches}, open calls ${stats.openCalls}`,
  ]
  const types = stats.types.map(({ type, records, bytes }) => [String(records), humanBytes(bytes), type])
  const tools = stats.tools.map(({ name, calls, failures }) => [String(calls), String(failures), name ?? '(no name)'])
  return [
    ...facts,
    ...(types.length > 0 ? ['', ...table(TYPES, types)] : []),
    ...(tools.length > 0 ? ['', ...table(TOOLS, tools)] : []),
  ]
}

/** From when to when, where the records say it. */
function span({ from, to }: StreamStats): string[] {
  if (from === null || to === null) return []
  return [from === to ? `at ${from}` : `${from} to ${to}`]
}

const TYPES = [{ name: 'RECORDS', align: 'right' }, { name: 'BYTES', align: 'right' }, { name: 'TYPE' }] as const
const TOOLS = [{ name: 'CALLS', align: 'right' }, { name: 'FAILED', align: 'right' }, { name: 'TOOL' }] as const
