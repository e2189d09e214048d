import { type Command, InvalidArgumentError } from 'commander'
import type { Store } from '../../main.js'
import { action, type Cli, example } from '../cli.js'
import { following, writing } from '../open.js'
import { say, sayConsole } from '../say.js'
import type { Address } from '../serve-socket.js'
import { VERSION } from '../version.js'

export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('serve the recorded sessions to ACP v2 clients, over stdio or WebSocket')
    .option('--listen <[host:]port>', 'over WebSocket, on this machine only; 0 is any free port', listenAddress)
    .option('--allow-remote', 'let --listen name an address that other machines can reach; there is no password')
    .option('--allow-origin <url>', 'let web pages of this origin connect; may be given again', collected, [])
    .option('--allow-fork', 'let clients fork a session into a new stream; takes the write lock')
    .option('--allow-delete', 'let clients delete sessions; takes the write lock')
    .addHelpText('after', example('asr serve', 'asr serve --listen 7100'))
    .action(action(serve))
}

interface ServeOptions {
  listen?: Address
  allowRemote?: boolean
  allowOrigin: string[]
  allowFork?: boolean
  allowDelete?: boolean
}

function collected(origin: string, origins: string[]): string[] {
  return [...origins, origin]
}

function listenAddress(text: string): Address {
  const match = /^(?:(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) throw new InvalidArgumentError('It is a port, or host:port.')
  return { host: match[1] ?? match[2] ?? '127.0.0.1', port }
}

async function serve(cli: Cli, options: ServeOptions): Promise<void> {
  const { listen, allowRemote, allowFork = false, allowDelete = false } = options
  if (listen !== undefined && !allowRemote && !isLoopback(listen.host)) {
    cli.misuse(`${listen.host} can be reached from other machines; that needs --allow-remote`)
  }
  if (listen === undefined && (allowRemote || options.allowOrigin.length > 0)) {
    cli.misuse('--allow-remote and --allow-origin go with --listen')
  }
  let stopped = false
  const use = async (store: Store, signal: AbortSignal): Promise<void> => {
    await serveStore(store, options, signal)
    stopped = signal.aborted
  }
  if (allowFork || allowDelete) await writing(cli.location, { create: false }, use)
  else await following(cli.location, use, { acceptLoss: true })
  // What a client does not read any more would hold the process.
  if (stopped) process.exit()
}

async function serveStore(store: Store, options: ServeOptions, signal: AbortSignal): Promise<void> {
  sayConsole()
  const { createReplayAgent } = await import('../../acp/agent/agent.js')
  const { listen, allowFork = false, allowDelete = false } = options
  const info = { name: 'asr-store', title: 'Recorded sessions', version: VERSION }
  const agent = createReplayAgent(store, { info, allowFork, allowDelete })
  if (listen === undefined) {
    const { serveStdio } = await import('../serve-stdio.js')
    return serveStdio(agent, signal)
  }
  const { serveSocket } = await import('../serve-socket.js')
  const onListening = (url: string): void => say(`listening on ${url}`)
  await serveSocket(agent, { ...listen, origins: options.allowOrigin, onListening }, signal)
}

/** Whether only this machine can reach an address. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}
