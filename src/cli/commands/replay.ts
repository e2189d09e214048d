import { type Command, Option } from 'commander'
import { REPLAY_LOSS } from '../../acp/losses.js'
import type { Replay, WireGap } from '../../acp/replay/main.js'
import { counted } from '../../base/words.js'
import type { Store } from '../../main.js'
import { type AtOptions, atOf, withAt } from '../at.js'
import { action, type Cli, example } from '../cli.js'
import { endBad } from '../exit.js'
import { jsonOf } from '../json.js'
import { reading } from '../open.js'
import { say } from '../say.js'

export function replayCommand(program: Command): void {
  withAt(program.command('replay'))
    .description('print a session as the ACP updates that show it to a client, a line each')
    .argument('<session>', 'session id')
    .option('--frames', 'as JSON-RPC notifications')
    .addOption(
      new Option('--wire', 'the notifications as they stood on the wire, where they were kept').conflicts([
        'frames',
        'head',
        'at',
      ]),
    )
    .addHelpText('after', example('asr replay my-session', 'asr replay my-session --at r12 --frames'))
    .action(action(show))
}

interface ReplayOptions extends AtOptions {
  frames?: boolean
  wire?: boolean
}

/** Of a stream that is damaged, what can be told is told. */
async function show(cli: Cli, session: string, options: ReplayOptions): Promise<void> {
  const use = async (store: Store): Promise<void> => {
    const known = store.notices.length
    await (options.wire ? showWire(cli, store, session) : showReplay(cli, store, session, options))
    // What opening the stream had to say.
    for (const { code, message } of store.notices.slice(known)) {
      say(`note: ${code}: ${message}`)
      if (code === 'loss_accepted') endBad()
    }
  }
  await reading(cli, use, { acceptLoss: true })
}

async function showReplay({ out }: Cli, store: Store, session: string, options: ReplayOptions): Promise<void> {
  const { replay, updateFrame } = await import('../../acp/replay/main.js')
  const replayed = replay(await store.stream(session), atOf(options))
  const json = options.frames ? updateFrame : (params: unknown): unknown => params
  await out.list(replayed, { text: (params) => [jsonOf(json(params))], json })
  if (!out.closed) await sayLosses(replayed)
}

async function sayLosses(replayed: Replay): Promise<void> {
  for (const { loss, count, recordId } of await replayed.losses()) {
    const where = recordId === null ? '' : count === 1 ? `, at ${recordId}` : `, first at ${recordId}`
    say(`not replayed: ${loss} (${count}${where})`)
    if (loss === REPLAY_LOSS.damage) endBad()
  }
}

async function showWire({ out, misuse }: Cli, store: Store, session: string): Promise<void> {
  if (out.format === 'json') misuse('what was on the wire is printed as it was, there is no --json of it')
  await store.stream(session)
  const { capturedUpdates } = await import('../../acp/replay/main.js')
  const updates = await capturedUpdates(store, session, { onGap: sayGap })
  if (updates === undefined) {
    say(`no frames of session ${jsonOf(session)} were kept`)
    endBad()
    return
  }
  for await (const text of updates) {
    const pending = out.jsonLine(text)
    if (pending !== undefined) await pending
    if (out.closed) return
  }
}

function sayGap({ frames, from, until }: WireGap): void {
  say(`not kept: ${counted(frames, 'frame')} from ${from} to ${until}`)
  endBad()
}
