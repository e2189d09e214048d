/**
 * What tells this process from every other, its threads included: for the lock's files, never to judge who is alive.
 */
import { readFileSync, readlinkSync } from 'node:fs'

export interface ProcessIdentity {
  pid: number
  /** when the process began: two of one pid differ in it */
  start: string
  /** the running of the kernel; empty where the system does not tell */
  boot: string
  /** pids count within it; empty where the system has no such thing */
  pidNamespace: string
}

export function processIdentity(): ProcessIdentity {
  return { pid: process.pid, start: startTime() ?? startByClock(), boot: bootId(), pidNamespace: pidNamespace() }
}

/** In ticks since the boot: field 22, counted from behind the command, which may hold blanks and parentheses. */
function startTime(): string | undefined {
  const stat = readProc('/proc/self/stat')
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

/** In seconds of the clock that is never set: the same in each thread. */
function startByClock(): string {
  return Math.round(Number(process.hrtime.bigint()) / 1e9 - process.uptime()).toString()
}

function bootId(): string {
  return readProc('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
  } catch {
    return ''
  }
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}
