/**
 * What this machine allows a test to do with it: tools and rights that are not there everywhere. A test that cannot run says so.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from '../support/temp.js'

function works(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

export const isRoot = process.getuid?.() === 0
export const hasStrace = works('strace', '-f', '-o', '/dev/null', '-e', 'inject=fdatasync:error=EIO', 'true')
export const hasNamespaces = isRoot && works('unshare', '-m', 'true')
export const hasShell = works('sh', '-c', 'ulimit -n 64')

/** Says why a test does not run here; the test is left with what it can do. */
export function skipped(what: string, why: string): void {
  process.stdout.write(`skipped: ${what}: ${why}\n`)
}

/** A small disk in memory, mounted; undefined where that is not allowed. */
export function smallDisk(size: string): { folder: string; unmount(): void } | undefined {
  const folder = join(tempFolder(), 'disk')
  mkdirSync(folder)
  if (!isRoot || !works('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder)) return undefined
  return { folder, unmount: () => works('umount', '-l', folder) }
}
