/**
 * Where the store is, and how a command opens it: to read beside a live writer, or to write under the lock.
 */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { AsrError } from '../base/error.js'
import type { Store, StoreOptions } from '../main.js'
import type { Cli } from './cli.js'
import { interruptible } from './interrupt.js'
import { say } from './say.js'

type ReadOptions = Pick<StoreOptions, 'acceptLoss'>
type Use<T> = (store: Store, signal: AbortSignal) => Promise<T>

/** `--store`, else $ASR_STORE, else the XDG data directory. */
export function storeLocation(given: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  if (given !== undefined) return given
  if (env.ASR_STORE) return env.ASR_STORE
  const data = env.XDG_DATA_HOME
  // The XDG rules: a relative path counts as none.
  return join(data && isAbsolute(data) ? data : join(homedir(), '.local', 'share'), 'asr')
}

/** Opens without a lock; repairs nothing, creates nothing. After Ctrl-C nothing more is printed, and the store is closed. */
export async function reading<T>(cli: Cli, use: Use<T>, options: ReadOptions = {}): Promise<T> {
  return following(
    cli.location,
    (store, signal) => {
      cli.out.stopWith(signal)
      return use(store, signal)
    },
    options,
  )
}

/** The same for what prints until the signal comes, and then ends well. */
export async function following<T>(location: string, use: Use<T>, options: ReadOptions = {}): Promise<T> {
  demandStore(location)
  const how = { ...options, readOnly: true, create: false }
  return interruptible((signal) => opened(location, how, (store) => use(store, signal)))
}

/** Opens under the lock, and stops at Ctrl-C with a closed store. */
export async function writing<T>(location: string, options: { create: boolean }, use: Use<T>): Promise<T> {
  if (!options.create) demandStore(location)
  return interruptible((signal) => opened(location, options, (store) => use(store, signal)))
}

function demandStore(location: string): void {
  if (existsSync(location)) return
  throw new AsrError(
    'ASR_FORMAT',
    `there is no store at ${location}; name one with --store or $ASR_STORE, or import into it`,
  )
}

async function opened<T>(location: string, options: StoreOptions, use: (store: Store) => Promise<T>): Promise<T> {
  const { openStore } = await import('../store/open.js') // not loaded by what needs no store
  const store = await openStore(location, options)
  for (const notice of store.notices) say(`note: ${notice.code}: ${notice.message}`)
  let result: T
  try {
    result = await use(store)
  } catch (error) {
    // The first failure is the one to tell.
    await store.close().catch(() => {})
    throw error
  }
  await store.close()
  return result
}
