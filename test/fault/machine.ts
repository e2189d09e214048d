/**
 * What this machine allows a test to do with it: tools and rights that are not there everywhere. A test that can't run says so.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { tempFolder } from '../support/temp.js'

function works(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

export const isRoot = process.getuid?.() === 0
export const hasStrace = works('strace', '-f', '-o', '/dev/null', '-e', 'inject=fdatasync:error=EIO', 'true')
export const hasNamespaces = isRoot && works('unshare', '-m', 'true')
export const hasShell = works('sh', '-c', 'ulimit -n 64')
export const hasMounts = hasNamespaces && works('unshare', '-m', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir())

/** Makes tests that need something of the machine: where it is not there they count as skipped, and say why. */
export function testWhere(isAllowed: boolean, why: string): (name: string, run: () => Promise<void>) => void {
  return (name, run) => {
    if (isAllowed) return test(name, run)
    process.stdout.write(`skipped: ${name}: ${why}\n`)
    test.skip(name, run)
  }
}

/** A small disk in memory, mounted. */
export function smallDisk(size: string): { folder: string; unmount(): void } {
  const folder = join(tempFolder(), 'disk')
  mkdirSync(folder)
  assert.ok(works('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder), 'mounting works')
  return { folder, unmount: () => works('umount', '-l', folder) }
}
