/**
 * The packages that the benchmarks compare with. They live in bench/, and are installed by the benchmark command.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { env, execPath, stdout } from 'node:process'
import { pathToFileURL } from 'node:url'
import { projectRoot } from '../figure.js'
import { PeerMissing } from '../row.js'

const folder = join(projectRoot, 'bench')
const modules = join(folder, 'node_modules')

/** Installs what bench/package-lock.json names, unless that was done; without them the figures stand alone. */
export function installPeers(): void {
  const lock = join(folder, 'package-lock.json')
  const done = join(modules, '.package-lock.json')
  if (existsSync(done) && statSync(done).mtimeMs >= statSync(lock).mtimeMs) return
  stdout.write('Installing the peers into bench/ (better-sqlite3 is compiled: some minutes)\n')
  const npm = env.npm_execpath
  const [program, first] = npm === undefined ? ['npm', []] : [execPath, [npm]]
  const args = [...first, 'ci', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync(program, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) stdout.write('The peers did not install; the figures stand without them\n')
}

/** A package by its name, for its `require` condition. @throws PeerMissing */
export function requirePeer(name: string): unknown {
  try {
    return createRequire(join(folder, 'package.json'))(name)
  } catch (error) {
    throw missing(name, error)
  }
}

/** A module inside a package, also one that the package does not export. @throws PeerMissing */
export async function importPeer(name: string, file: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(join(modules, name, file)).href)
  } catch (error) {
    throw missing(name, error)
  }
}

/** The installed version, or undefined. */
export function peerVersion(name: string): string | undefined {
  const file = join(modules, name, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version : undefined
}

function missing(name: string, error: unknown): PeerMissing {
  return new PeerMissing(`${name} does not load: ${(error as Error).message.split('\n')[0]}`)
}
